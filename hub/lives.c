/* Which life of the run the hub is in: a later one than its disk, what nodes
 * have proved, and what they merely say, tell of. An epoch that one node makes
 * up must not use up the lives that there are: a word counts within bounds.
 *
 * Once the hub serves, a node that says that another hub has taken the run over
 * is to prove that: by a manifest of a later life of the run, which nobody but
 * a hub of the run can have made. */
#include "hub/saved.h"
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

    if (hub->roll.epoch < next)
        hub->roll.epoch = next;
}

/* How many lives there were went with the disk, and nodes that were in one of
 * the last ones keep nothing of it that proves it: what this hub goes on with
 * is beyond all of them. Two that lost one disk do not come to the same: their
 * runs are random. */
void life_after_loss(struct hub *hub, uint64_t epoch)
{
    uint64_t life = epoch_life(epoch) + LOST_MOST + hub->config.run % LOST_MOST;

    life_after(hub, (life < UINT32_MAX ? life : UINT32_MAX) << 32);
}

bool life_is_near(const struct hub *hub, uint64_t epoch)
{
    return epoch_life(epoch) <= hub->memory.recovery.life + CLAIM_MOST;
}

void life_claimed(struct hub *hub, const struct msg_hello *hello)
{
    uint64_t life = epoch_life(hello->epoch), first = hub->memory.recovery.life;

    if (life < epoch_life(hub->roll.epoch))
        return;
    if (life_is_near(hub, hello->epoch))
        life_after(hub, hello->epoch);
    else
        effects_note(hub->out, NOTE_REFUSED, hello->name,
                     "it knows life %llu of this run, the hub began in life "
                     "%llu: that is not believed without proof",
                     (unsigned long long)life, (unsigned long long)first);
}

/* ---- another hub has taken over ---- */

/* A manifest is not larger than a chunk, and may be so long on its way. */
#define PROOF_PATIENCE (10 * SECOND)

/* A hub that starts again counts more lives than any that a node knows, within
 * the bounds above. */
static void note_unproved(struct hub *hub, const char *name)
{
    effects_note(hub->out, NOTE_REFUSED, name,
                 "it knows a later life of this run, and keeps nothing that "
                 "proves it: it looks for that hub, and comes in without it "
                 "where there is none");
}

/* It may be right: it is to find the other hub, and comes again without that
 * life where there is none. */
static void send_on(struct hub *hub, peer_id peer)
{
    bye_to(hub, peer, FAREWELL_SUPERSEDED,
           "a later life of this run is known, and not proved");
}

bool superseded_meets(struct hub *hub, peer_id peer,
                      const struct msg_hello *hello)
{
    if (hello->kept)
        return true;
    note_unproved(hub, hello->name);
    send_on(hub, peer);
    effects_drop(hub->out, peer);
    return false;
}

void superseded_tick(struct hub *hub)
{
    if (hub->run.phase == PHASE_RECOVERING)
        return;
    EACH_HERE(hub, member)
        if (member->doubt.asked && !member->doubt.answered &&
            hub->now - member->doubt.since >= PROOF_PATIENCE)
            member_gone(hub, member, "no proof of another hub came within 10 s",
                        false);
}

/* Drops everybody: whoever is told BYE ends, but the nodes are to find the hub
 * that goes on. */
static void step_down(struct hub *hub, const struct member *witness,
                      uint64_t epoch)
{
    effects_note(hub->out, NOTE_SUPERSEDED, witness->name,
                 "it proves epoch %llu of this run, this hub is at %llu: "
                 "another hub has taken over",
                 (unsigned long long)epoch,
                 (unsigned long long)hub->roll.epoch);
    hub->run.phase = PHASE_SUPERSEDED;
    EACH_HERE(hub, member) {
        effects_drop(hub->out, member->control);
        if (member->bulk != PEER_NONE)
            effects_drop(hub->out, member->bulk);
    }
}

/* What is of the run's key, but of no later life, is no offence: a node knows
 * of a life before it keeps anything of it. Without keys another hub of the run
 * may have a seal of its own, which proves nothing here. */
void superseded_proved(struct hub *hub, const struct proof_job *proof)
{
    struct member *member = hub->roll.members[proof->member];
    const struct job *job = &proof->job;
    struct saved saved;

    if (!member_is_here(member) || !member->doubt.answered ||
        hub->run.phase >= PHASE_ENDED || member->session != proof->session)
        return;
    if (job->status != STATUS_OK && job->status != STATUS_CONFIG) {
        member_offends(hub, member, "what it keeps is not this run's");
    } else if (job->status == STATUS_OK &&
               saved_read(&saved, (const char *)job->out[0]->bytes, NULL) ==
                   STATUS_OK &&
               saved.run == hub->config.run &&
               epoch_life(saved.epoch) > epoch_life(hub->roll.epoch)) {
        step_down(hub, member, saved.epoch);
    } else {
        note_unproved(hub, member->name);
        send_on(hub, member->control);
        member_gone(hub, member, "its proof is none", false);
    }
}
