/* Whom the end of a run waits for: last offers, and gradients under way. */
#include "hub/state.h"

/* Of a last offer that was granted something comes in so long, or it is not
 * waited for. */
#define FIRST_BYTES LAST_CALL
/* And of one of which something has come this long at least: a packet that is
 * lost is sent again. */
#define NEXT_BYTES (2 * SECOND)

void waits_end(struct hub *hub)
{
    for (int i = 0; i < hub->member_count; i++) {
        hub->members[i]->patience.used = 0;
        hub->members[i]->patience.spent = false;
        member_recount(hub, hub->members[i]);
    }
}

/* Something has come of it, and more may be on its way: three times as long as
 * its chunks have taken so far has not passed. */
static bool brings(const struct hub *hub, const struct contribution *one)
{
    nanos taken = one->progress - one->began;
    nanos still = flow_still(hub, one);

    if (!one->loan.came)
        return still < (taken ? STUCK : FIRST_BYTES);
    return still <= NEXT_BYTES || still <= 3 * taken / (nanos)one->loan.came;
}

bool waits_bring(const struct hub *hub)
{
    for (const struct round *round = hub->rounds; round; round = round->next)
        for (unsigned i = 0; i < round->count; i++)
            if (waits_uploads(hub, round->list[i]) &&
                !hub->members[round->list[i]->member]->silent &&
                brings(hub, round->list[i]))
                return true;
    return false;
}

bool waits_free(struct hub *hub)
{
    bool any = false;

    for (struct round *round = hub->rounds; round; round = round->next)
        for (unsigned i = 0; i < round->count; i++) {
            struct contribution *one = round->list[i];

            if (one->offer.last || !waits_uploads(hub, one) ||
                (one->offer.kind == EXCHANGE_GRADIENT && brings(hub, one)))
                continue;
            contribution_cut(hub, one, VERDICT_EXPIRED, false);
            any = true;
        }
    rounds_settle(hub);
    merge_try_all(hub);
    rounds_advance(hub);
    return any;
}
