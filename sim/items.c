/* What will happen: items, and what waits where. */
#include <stdlib.h>
#include <string.h>

#include "sim/world_inside.h"

struct item *item_new(struct world *world, enum item_kind kind, unsigned place)
{
    struct item *item = world->spare;

    if (item)
        world->spare = item->next;
    else
        item = malloc(sizeof *item);
    if (!item)
        abort();
    memset(item, 0, offsetof(struct item, msg));
    item->kind = kind;
    item->place = place;
    item->life = world->places[place].life;
    return item;
}

void item_free(struct world *world, struct item *item)
{
    blob_unref(&item->payload);
    job_destroy(&item->job);
    connection_release(world, item->connection);
    item->next = world->spare;
    world->spare = item;
}

void item_put(struct world *world, nanos at, struct item *item)
{
    queue_put(&world->queue, at > world->now ? at : world->now, item);
}

void waiting_add(struct waiting *waiting, struct item *item)
{
    if (!waiting->first)
        waiting->end = &waiting->first;
    item->next = NULL;
    *waiting->end = item;
    waiting->end = &item->next;
}

void waiting_drop(struct world *world, struct waiting *waiting)
{
    while (waiting->first) {
        struct item *item = waiting->first;

        waiting->first = item->next;
        item_free(world, item);
    }
}
