/* A link's recording: what its machine was told and did, with the times of the
 * network's thread. */
#include <stdio.h>

#include "node/api_link.h"

static void complain(void *self, const char *sentence)
{
    const struct star_link *link = self;

    if (link->options.log)
        link->options.log(link->options.context, STAR_ERROR, "record_failed",
                          sentence);
    else
        (void)fprintf(stderr, "starswitch %s: %s\n", link->name, sentence);
}

enum status link_record(struct star_link *link, struct why *why)
{
    const char *path = link->options.record;

    if (!path || !path[0])
        return STATUS_OK;
    return record_open_node(path, link->name,
                            (struct spool_complaint){complain, link},
                            &link->record, why);
}

void link_watch(void *self, const struct event *event,
                const struct effects *effects)
{
    const struct star_link *link = self;

    record_step(link->record, event, effects);
}
