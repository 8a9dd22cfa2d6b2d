/* A node leaves: its trainer makes a last offer, or has none to make.
 *
 * The last offer holds all that nobody has merged, so it is made once each one
 * before it has its verdict; a hub that has called for it gives back at once
 * what is in no round that has closed. Whoever leaves without one waits for the
 * verdicts as well: else a round would go on without what it has given. */
#include "core/text.h"
#include "node/state.h"

/* So long from the loss of its hub, or from leaving while that is in reach. A
 * hub that ends its run waits as long for who is lost. */
#define RETURN_WAIT (10 * SECOND)

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
static void hurry(struct node *node)
{
    bool cut = node->welcome.miss == MISS_CUT;
    struct flight *flight = NULL;

    while ((flight = newest_before(node, flight)) != NULL) {
        if (cut && flight->offer.kind == EXCHANGE_DELTA) {
            if (!flight->cut)
                flight->cut = CUT_SENDING;
            flight_close(node, flight);
        }
        flight_waive(node, flight);
    }
}

void parting_begins(struct node *node, const struct msg_local_offer *offer,
                    struct blob *values)
{
    size_t whole = node->config.schema->elements * sizeof(float);

    node->leave = LEAVE_WANTED;
    hurry(node);
    node->return_until =
        (node->control_up ? node->now : node->away) + RETURN_WAIT;
    node->parting = *offer;
    if (values && values->size == whole && offer->kind != EXCHANGE_GRADIENT)
        node->last = blob_ref(values);
}

/* What no centre has is not gone in silence. */
static void say_lost(struct node *node, const char *why)
{
    uint64_t now = node->progress.iteration, then = node->merged_iteration;

    if (node->run && now > then)
        effects_note(node->out, NOTE_LAST_LOST, node->name,
                     "%s: what it has learnt in its last %llu iteration%s is "
                     "in no centre",
                     why, (unsigned long long)(now - then), plural(now - then));
}

/* A last offer that was not given: its time was over, or there was no memory
 * for a copy. */
static void say_not_given(struct node *node, const char *why)
{
    if (node->leave != LEAVE_GIVEN &&
        node->welcome.exchange != EXCHANGE_GRADIENT)
        say_lost(node, why);
}

void parting_at_once(struct node *node)
{
    struct msg bye = {.kind = MSG_BYE};

    if (node->hub == HUB_OVER)
        return;
    bye.bye.farewell = FAREWELL_LEAVING;
    if (node->hub == HUB_MEMBER)
        node_to_hub(node, &bye, NULL);
    say_not_given(node, "its last offer could not be made");
    node_end(node, false, FAREWELL_LEAVING,
             node->leave == LEAVE_GIVEN && node->stopping
                 ? "left the run; its hub was lost before it had said that the "
                   "run is saved"
                 : "left the run");
}

/* A hub that ends its run says goodbye once it has saved that; until then it
 * may be lost, and the next one needs the offer again. */
static void judged(struct node *node, const struct flight *flight)
{
    node->leave = LEAVE_GIVEN;
    if (flight->kept)
        say_lost(node, "its last offer was not merged");
    if (!node->stopping)
        parting_at_once(node);
}

/* Whether nothing more can come of it: judged, and the trainer is through. The
 * last one ends the node's part, and so waits for all verdicts. */
static bool is_over(const struct node *node, const struct flight *flight)
{
    return flight->stage == FLIGHT_JUDGED &&
           (flight->offer.last ? flights_have_verdicts(node)
                               : flight->result >= RESULT_SKIPPED);
}

void flights_sweep(struct node *node)
{
    struct flight **link = &node->flights;

    tasks_sweep(node);
    while (*link) {
        struct flight *flight = *link;
        bool last = flight->offer.last && !flight->adrift;

        if (!is_over(node, flight)) {
            link = &flight->next;
            continue;
        }
        *link = flight->next;
        if (last)
            judged(node, flight);
        flight_destroy(node, &flight);
    }
}

void parting_detached(struct node *node, const char *why)
{
    if (!node->superseded || !node->leave) {
        node->away = node->now;
        node->return_until = node->now + RETURN_WAIT;
    }
    if (!node->leave || node->last || node->hub == HUB_OVER)
        return;
    say_not_given(node, "its last offer could not be made");
    node_end(node, false, FAREWELL_LEAVING, why);
}

/* Whether it is on its way, or through and the hub's to save. */
static bool is_made(const struct node *node)
{
    if (node->leave == LEAVE_GIVEN && node->stopping)
        return true;
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        if (flight->offer.last && !flight->adrift)
            return true;
    return false;
}

static void offer_kept(struct node *node)
{
    struct msg_local_offer *offer = &node->parting;

    if (offer->exchange <= node->newest)
        offer->exchange = ++node->newest;
    offer->kind = node->welcome.exchange;
    offer->fragments = node_fragments(node, offer->kind);
    offer->fragment = offer->fragments > 1 ? FRAGMENT_ALL : 0;
    flights_start(node, offer, node->last);
}

/* A hub that was lost some seconds ago may be back at once: what was learnt
 * since the last exchange is worth a short wait. */
static void wait_or_go(struct node *node)
{
    bool trains = node->hub == HUB_MEMBER && node->start == START_GO;

    if (trains && node->leave != LEAVE_GIVEN)
        offer_kept(node);
    else if (trains || !node->run || node->now >= node->return_until)
        parting_at_once(node);
}

/* Whether the hub has said goodbye and nothing more comes. */
static bool is_through(const struct node *node)
{
    return flights_have_verdicts(node) || !node->bulk_up ||
           node->now >= node->part_at;
}

void parting_settle(struct node *node)
{
    if (node->part_at && node->hub != HUB_OVER && is_through(node)) {
        say_not_given(node, "the run ended before its last offer was taken");
        node_end(node, false, FAREWELL_DONE, node->goodbye);
    }
    if (!node->leave || node->hub == HUB_OVER || node->part_at)
        return;
    if (node->welcome.exchange == EXCHANGE_GRADIENT)
        blob_unref(&node->last);
    if (node->last && (node->hub != HUB_MEMBER || !is_made(node)))
        wait_or_go(node);
    else if (!node->last &&
             (flights_have_verdicts(node) || node->hub != HUB_MEMBER))
        parting_at_once(node);
}
