/* A program as a service: what it tells the manager that started it (the
 * protocol of sd_notify), and how it looks after itself as a process.
 *
 * Without a manager the calls do nothing. For programs only; one thread. */
#ifndef PROGRAM_SERVICE_H
#define PROGRAM_SERVICE_H

#include <stdbool.h>

#include "core/time.h"

struct service {
    nanos pulse; /* between two signs of life; 0: nobody looks for them */
    nanos next_pulse, next_status, next_wish;
};

/* First of all: SIGPIPE is ignored, and what is closed of standard input,
 * output and error becomes /dev/null, so that no file or socket gets its
 * number. */
void service_begin(struct service *service);
/* Lets malloc keep what is freed: fresh pages cost more than copying what goes
 * into them. */
void service_keep_memory(void);
/* From now on no core and no debugger shows this process's memory. For
 * programs that hold a key; others stay easy to debug. */
void service_hide(void);

/* It does what it was started for. */
void service_ready(void);
/* Whether it is time for a line about how it goes; said with service_say. */
bool service_wants_status(struct service *service, nanos now);
void service_say(const char *line);
/* A sign of life, when one is due; to be called while all makes progress. */
void service_alive(struct service *service, nanos now);
/* It reads its settings again; service_ready tells the end of that. */
void service_reloading(nanos now);
/* It ends. To be called again now and then, so that it is given the time it
 * needs. */
void service_stopping(struct service *service, nanos now);

#endif
