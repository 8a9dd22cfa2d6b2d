/* The shim: a TCP proxy between a node and its hub that lets bytes through as a
 * delay line does (sim/shim/line.h).
 *
 * Whoever connects to its port, or to the one behind it for bulk data, is
 * connected to the hub's port or the one behind that, each way through a line
 * of its own. Ends of a stream, resets and a hub that is not there pass
 * through the lines as well. Its buffers in the kernel are small, so that who
 * sends feels the link. One thread waits for sockets and, to the microsecond,
 * for its lines.
 *
 *     status = shim_open(&config, &shim, &why);
 *     shim_run(shim);                             until config.stop is readable
 *     shim_figures(shim);
 *     shim_close(&shim);
 *
 * The time of its trace begins with the first connection. */
#ifndef SIM_SHIM_LOOP_H
#define SIM_SHIM_LOOP_H

#include "core/endpoint.h"
#include "core/status.h"
#include "sim/shim/fault.h"
#include "sim/shim/line.h"

/* At a time; who comes then is closed at once. */
enum { SHIM_CONNECTIONS = 64 };

struct shim_config {
    struct endpoint listen, hub; /* looked up when it is opened */
    struct shim_link link;
    struct shim_faults faults;
    uint64_t seed; /* of jitter, losses and faults */
    int stop;      /* a descriptor; the shim ends when it is readable */
};

struct shim_figures {
    uint64_t connections;
    uint64_t up, down; /* bytes that have come out, towards the hub and back */
    struct shim_fault_figures faults;
    unsigned blind; /* connections whose messages cannot be seen */
    nanos late;     /* the longest that it woke up after its time */
};

struct shim;

/* Listens. UNAVAILABLE: an address is not known or not free. `config` is
 * copied, its trace borrowed. */
enum status shim_open(const struct shim_config *config, struct shim **out,
                      struct why *why) MUST_CHECK;
void shim_run(struct shim *shim);
struct shim_figures shim_figures(const struct shim *shim);
/* Resets the connections that are left. */
void shim_close(struct shim **shim);

#endif
