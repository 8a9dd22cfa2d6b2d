/* Whom the end of a run waits for: last offers, and gradients under way; and
 * what is said of rounds that bring nothing. */
#include <math.h>

#include "hub/state.h"

/* Of a last offer that was granted something comes in so long, or it is not
 * waited for. */
#define FIRST_BYTES LAST_CALL
/* And of one of which something has come this long at least: links are away for
 * some seconds now and then. */
#define NEXT_BYTES (5 * SECOND)
/* All of it may take so long, or three times as long as its node's link has
 * been seen to need for all parameters as they are; but nobody holds up the end
 * of a run for longer than that. */
#define LAST_UPLOAD (120 * SECOND)
#define LAST_MOST (1800 * SECOND)

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

/* How long all of it may take, by what its node, or else others, or else it
 * itself has needed. */
static nanos most_of(const struct hub *hub, const struct contribution *one)
{
    const struct member *member = hub->members[one->member];
    double most = waits_own(hub, member);

    if (most >= HUGE_VAL)
        most = waits_whole(hub, member);
    if (most >= HUGE_VAL && one->loan.came)
        most = SLOWER * patience_seconds(one->progress - one->began) *
               hub->chunks / one->loan.came;
    if (!(most < patience_seconds(LAST_MOST)))
        return LAST_MOST;
    return most > patience_seconds(LAST_UPLOAD)
               ? (nanos)(most * (double)SECOND)
               : LAST_UPLOAD;
}

static bool still_comes(const struct hub *hub, const struct contribution *one)
{
    return brings(hub, one) && hub->now - one->began < most_of(hub, one);
}

bool waits_last(const struct hub *hub, const struct contribution *one)
{
    return one->offer.last && still_comes(hub, one);
}

bool waits_bring(const struct hub *hub)
{
    for (const struct round *round = hub->rounds; round; round = round->next)
        for (unsigned i = 0; i < round->count; i++)
            if (waits_uploads(hub, round->list[i]) &&
                still_comes(hub, round->list[i]))
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

/* The link was too slow for it, or broke. */
static bool is_late(enum verdict verdict)
{
    return verdict == VERDICT_EXPIRED || verdict == VERDICT_LOST;
}

void waits_barren(struct hub *hub, const struct round *round, bool merged)
{
    bool late = false;

    for (unsigned i = 0; i < round->count; i++)
        for (uint32_t j = 0; j < hub->chunks; j++)
            late |= is_late(contribution_fate(round->list[i], j));
    if (merged)
        hub->barren = 0;
    else if (late && ++hub->barren % BARREN_ROUNDS == 0)
        effects_note(hub->out, NOTE_BARREN, "",
                     "%u rounds in a row have brought nothing in time: links "
                     "are too slow or break too often. Start the hub with a "
                     "larger --every, --codec-up int4 and --fragments 8%s",
                     hub->barren, hub->contest ? ", and --init hub" : "");
}
