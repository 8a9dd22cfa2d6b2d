#include "hub/page/feed.h"

#include <stdlib.h>
#include <string.h>

enum { FEED_FRESH = 4, FEED_SLOT = 3 };

void feed_init(struct feed *feed)
{
    memset(feed, 0, sizeof *feed);
    feed->writes = 0;
    feed->reads = 1;
    atomic_init(&feed->between, 2);
}

void feed_free(struct feed *feed)
{
    for (unsigned i = 0; i < 3; i++) {
        free(feed->slots[i].nodes);
        feed->slots[i].nodes = NULL;
        feed->slots[i].room = 0;
    }
}

/* Room for the nodes, with some to spare. */
static bool grow(struct snapshot *slot, unsigned count)
{
    unsigned room = count + count / 4 + 8;
    struct hub_node_view *nodes;

    if (slot->room >= count && slot->nodes)
        return true;
    nodes = realloc(slot->nodes, room * sizeof *nodes);
    if (!nodes)
        return false;
    slot->nodes = nodes;
    slot->room = room;
    return true;
}

bool feed_publish(struct feed *feed, const struct snapshot *snapshot)
{
    struct snapshot *slot = &feed->slots[feed->writes];
    const struct hub_view *view = &snapshot->view;
    struct hub_node_view *nodes;
    unsigned room;

    if (!grow(slot, view->count))
        return false;
    nodes = slot->nodes;
    room = slot->room;
    *slot = *snapshot;
    slot->nodes = slot->view.nodes = nodes;
    slot->room = room;
    if (view->count)
        memcpy(nodes, view->nodes, view->count * sizeof *nodes);
    if (view->unsaved) {
        size_t length = strnlen(view->unsaved, sizeof slot->unsaved - 1);

        memcpy(slot->unsaved, view->unsaved, length);
        slot->unsaved[length] = '\0';
        slot->view.unsaved = slot->unsaved;
    }
    feed->writes = FEED_SLOT & atomic_exchange_explicit(
                                   &feed->between, feed->writes | FEED_FRESH,
                                   memory_order_acq_rel);
    return true;
}

const struct snapshot *feed_look(struct feed *feed, bool *fresh)
{
    const struct snapshot *slot;

    *fresh = (atomic_load_explicit(&feed->between, memory_order_relaxed) &
              FEED_FRESH) != 0;
    if (*fresh)
        feed->reads =
            FEED_SLOT & atomic_exchange_explicit(&feed->between, feed->reads,
                                                 memory_order_acq_rel);
    slot = &feed->slots[feed->reads];
    return slot->nodes ? slot : NULL;
}

/* ---- queues of one writer and one reader ---- */

void feed_note(struct feed *feed, nanos elapsed, nanos wall,
               const struct note *note)
{
    uint64_t in = atomic_load_explicit(&feed->notes_in, memory_order_relaxed);
    uint64_t out = atomic_load_explicit(&feed->notes_out, memory_order_acquire);
    uint64_t lost =
        atomic_load_explicit(&feed->notes_lost, memory_order_relaxed);

    if (in - out == FEED_NOTES) {
        atomic_store_explicit(&feed->notes_lost, lost + 1,
                              memory_order_relaxed);
        return;
    }
    feed->notes[in % FEED_NOTES] =
        (struct told_note){in + lost + 1, elapsed, wall, *note};
    atomic_store_explicit(&feed->notes_in, in + 1, memory_order_release);
}

bool feed_next_note(struct feed *feed, struct told_note *out)
{
    uint64_t at = atomic_load_explicit(&feed->notes_out, memory_order_relaxed);

    if (at == atomic_load_explicit(&feed->notes_in, memory_order_acquire))
        return false;
    *out = feed->notes[at % FEED_NOTES];
    atomic_store_explicit(&feed->notes_out, at + 1, memory_order_release);
    return true;
}

uint64_t feed_lost(const struct feed *feed)
{
    return atomic_load_explicit(&feed->notes_lost, memory_order_relaxed);
}

void feed_answer(struct feed *feed, const struct msg_answer *answer)
{
    uint64_t in = atomic_load_explicit(&feed->answers_in, memory_order_relaxed);
    uint64_t out =
        atomic_load_explicit(&feed->answers_out, memory_order_acquire);

    if (in - out == FEED_ANSWERS)
        return;
    feed->answers[in % FEED_ANSWERS] = *answer;
    atomic_store_explicit(&feed->answers_in, in + 1, memory_order_release);
}

bool feed_next_answer(struct feed *feed, struct msg_answer *out)
{
    uint64_t at =
        atomic_load_explicit(&feed->answers_out, memory_order_relaxed);

    if (at == atomic_load_explicit(&feed->answers_in, memory_order_acquire))
        return false;
    *out = feed->answers[at % FEED_ANSWERS];
    atomic_store_explicit(&feed->answers_out, at + 1, memory_order_release);
    return true;
}
