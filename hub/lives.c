/* Which life of the run the hub is in: a later one than its disk, what nodes
 * have proved, and what they merely say, tell of. An epoch that one node makes
 * up must not use up the lives that there are: a word counts within bounds. */
#include "hub/state.h"

/* Lives above the one that the hub began in that are believed without proof:
 * more than any hub has, where a start takes 128 on the average, and few of all
 * that there are. */
#define CLAIM_MOST UINT64_C(1000000)
/* Lives that may have come after the one that a node keeps a centre of. */
#define LOST_MOST UINT64_C(4096)

/* After the last life comes that one again: nodes follow an equal life, but
 * none that is lower. */
void life_after(struct hub *hub, uint64_t epoch)
{
    uint64_t life = epoch_life(epoch);
    uint64_t next = (life < UINT32_MAX ? life + 1 : UINT32_MAX) << 32;

    if (hub->epoch < next)
        hub->epoch = next;
}

/* How many lives there were went with the disk, and nodes that were in one of
 * the last ones keep nothing of it that proves it: what this hub goes on with
 * is beyond all of them. Two that lost one disk do not come to the same. */
void life_after_loss(struct hub *hub, uint64_t epoch)
{
    uint64_t life = epoch_life(epoch) + LOST_MOST +
                    hub->config.life % LOST_MOST;

    life_after(hub, (life < UINT32_MAX ? life : UINT32_MAX) << 32);
}

bool life_is_near(const struct hub *hub, uint64_t epoch)
{
    return epoch_life(epoch) <= hub->recovery.life + CLAIM_MOST;
}

void life_claimed(struct hub *hub, const struct msg_hello *hello)
{
    uint64_t life = epoch_life(hello->epoch), first = hub->recovery.life;

    if (life < epoch_life(hub->epoch))
        return;
    if (life_is_near(hub, hello->epoch))
        life_after(hub, hello->epoch);
    else
        effects_note(hub->out, NOTE_REFUSED, hello->name,
                     "it knows life %llu of this run, the hub began in life "
                     "%llu: that is not believed without proof",
                     (unsigned long long)life, (unsigned long long)first);
}
