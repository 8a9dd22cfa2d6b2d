/* A node leaves: its trainer makes a last offer, or has none to make.
 *
 * The last offer holds all that nobody has merged, so it is made once each one
 * before it has its verdict; a hub that has called for it gives back at once
 * what is in no round that has closed. Whoever leaves without one waits for the
 * verdicts as well: else a round would go on without what it has given. */
#include "node/state.h"

static struct flight *newest_before(const struct node *node,
                                    const struct flight *later)
{
    struct flight *flight = node->flights;

    while (flight && flight != later && flight->next != later)
        flight = flight->next;
    return flight == later ? NULL : flight;
}

/* Nothing is applied any more, and on a slow link a verdict is sooner here than
 * a result. Where exchanges are cut, their time is up. The newest first: a
 * result that a later one is a change of goes to the node for as long as that
 * one does. */
void parting_begins(struct node *node)
{
    bool cut = node->welcome.miss == MISS_CUT;
    struct flight *flight = NULL;

    while ((flight = newest_before(node, flight)) != NULL) {
        if (cut && flight->snapshot.kind == EXCHANGE_DELTA) {
            flight->closing = true;
            flight_close(node, flight);
        }
        flight_waive(node, flight);
    }
}

void parting_at_once(struct node *node)
{
    struct msg bye = {.kind = MSG_BYE};

    if (node->ended)
        return;
    bye.bye.farewell = FAREWELL_LEAVING;
    if (node->hub == HUB_MEMBER)
        node_to_hub(node, &bye, NULL);
    node_end(node, false, FAREWELL_LEAVING, "left the run");
}

void parting_advance(struct node *node)
{
    if (!node->leaving)
        return;
    flights_begin(node);
    if (node->empty_handed && flights_judged(node))
        parting_at_once(node);
}
