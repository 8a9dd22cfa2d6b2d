/* The protocol of sd_notify: lines in a datagram to the socket whose address
 * the manager has left in NOTIFY_SOCKET. Written here, as systemd advises for
 * what is this small: its library brings eight others along. */
#ifndef PROGRAM_NOTIFY_H
#define PROGRAM_NOTIFY_H

#include "core/status.h"
#include "core/time.h"

/* Tells the manager, if there is one, that listens. */
void notify(const char *format, ...) FORMAT(1, 2);
/* How often it wants a sign of life of this process; 0: it does not. */
nanos notify_watchdog(void);

#endif
