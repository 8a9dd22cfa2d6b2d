/* How much each host asks of a station: a few numbers per address, for as long
 * as they matter. */
#ifndef NET_HOSTS_H
#define NET_HOSTS_H

#include "core/index.h"
#include "core/time.h"
#include "net/origin.h"

enum {
    HOSTS_MAX = 16384,    /* addresses at a time; more share one place */
    HOST_SILENT_MAX = 64, /* strangers; then the oldest makes room */
    HOST_BURST = 512,     /* connections at once */
    HOST_PER_SECOND = 200 /* and from then on */
};

struct host {
    uint64_t name;
    struct host *next;
    unsigned links, silent;
    double tokens; /* connections that it may make now */
    nanos at;      /* when that was so */
};

struct hosts {
    struct index index;
    struct host *all;
    struct host others; /* for whom there was no place */
    unsigned count;
};

void hosts_init(struct hosts *hosts);
void hosts_free(struct hosts *hosts);
/* Its place; stays while it has links, and until hosts_tidy. */
struct host *hosts_find(struct hosts *hosts, const struct origin *origin,
                        nanos now);
/* Whether it may make one more connection now. */
bool host_may_come(struct host *host, nanos now);
/* Forgets those that are as if they had never been here. */
void hosts_tidy(struct hosts *hosts, nanos now);

#endif
