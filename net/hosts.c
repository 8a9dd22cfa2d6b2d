#include "net/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"

void hosts_init(struct hosts *hosts)
{
    memset(hosts, 0, sizeof *hosts);
    hosts->others.tokens = HOST_BURST;
}

void hosts_free(struct hosts *hosts)
{
    while (hosts->all) {
        struct host *host = hosts->all;

        hosts->all = host->next;
        free(host);
    }
    index_free(&hosts->index);
}

struct host *hosts_find(struct hosts *hosts, const struct origin *origin,
                        nanos now)
{
    uint64_t name = origin_host(origin);
    struct host *host = index_find(&hosts->index, name, 0);

    if (host)
        return host;
    if (hosts->count == HOSTS_MAX)
        return &hosts->others;
    host = need_memory(1, sizeof *host);
    *host = (struct host){
        .name = name, .next = hosts->all, .tokens = HOST_BURST, .at = now};
    hosts->all = host;
    hosts->count++;
    index_put(&hosts->index, name, 0, host);
    return host;
}

static void refill(struct host *host, nanos now)
{
    host->tokens += (double)(now - host->at) / (double)SECOND * HOST_PER_SECOND;
    if (host->tokens > HOST_BURST)
        host->tokens = HOST_BURST;
    host->at = now;
}

bool host_may_come(struct host *host, nanos now)
{
    refill(host, now);
    if (host->tokens < 1)
        return false;
    host->tokens -= 1;
    return true;
}

void hosts_tidy(struct hosts *hosts, nanos now)
{
    struct host **place = &hosts->all;

    while (*place) {
        struct host *host = *place;

        refill(host, now);
        if (host->links || host->tokens < HOST_BURST) {
            place = &host->next;
            continue;
        }
        *place = host->next;
        index_remove(&hosts->index, host->name, 0);
        hosts->count--;
        free(host);
    }
}
