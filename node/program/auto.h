/* starswitch-node auto: under an engine that starts the same command on many
 * hosts, the first of its processes becomes the hub and the others run a
 * command with STARSWITCH_HUB and STARSWITCH_NAME set. */
#ifndef NODE_PROGRAM_AUTO_H
#define NODE_PROGRAM_AUTO_H

/* words[0] is "auto". The exit code; does not come back where this process is
 * the hub from then on. */
int auto_run(int count, char **words);

#endif
