/* --supervise: a hub that crashes is there again by itself.
 *
 * The process that was started only watches; the hub is its child. When a crash
 * ends the child, by a signal such as SIGSEGV or SIGABRT, another goes on from
 * the directory, at once at first and after at most a second. Signals that the
 * watching process is sent go to the child; when it is killed, so is the child.
 */
#ifndef HUB_PROGRAM_WATCH_H
#define HUB_PROGRAM_WATCH_H

/* Returns in the child, which is to be the hub. The watching process ends as
 * the last child does. Before anything else is opened or started. */
void watch_over(void);

#endif
