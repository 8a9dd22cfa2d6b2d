/* A node says that another hub has taken the run over. It is to prove that: by
 * a manifest of a later life of the run, which nobody but a hub of the run can
 * have made. */
#include "hub/saved.h"
#include "hub/state.h"

/* A manifest is not larger than a chunk, and may be so long on its way. */
#define PROOF_PATIENCE (10 * SECOND)

/* A hub that starts again counts more lives than any that a node knows, within
 * the bounds of lives.c. */
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
    if (hub->phase == PHASE_RECOVERING)
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
                 (unsigned long long)epoch, (unsigned long long)hub->epoch);
    hub->phase = PHASE_SUPERSEDED;
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
    struct member *member = hub->members[proof->member];
    const struct job *job = &proof->job;
    struct saved saved;

    if (!member_is_here(member) || !member->doubt.answered ||
        hub->phase >= PHASE_ENDED || member->session != proof->session)
        return;
    if (job->status != STATUS_OK && job->status != STATUS_CONFIG) {
        member_offends(hub, member, "what it keeps is not this run's");
    } else if (job->status == STATUS_OK &&
               saved_read(&saved, (const char *)job->out[0]->bytes, NULL) ==
                   STATUS_OK &&
               saved.run == hub->config.run &&
               epoch_life(saved.epoch) > epoch_life(hub->epoch)) {
        step_down(hub, member, saved.epoch);
    } else {
        note_unproved(hub, member->name);
        send_on(hub, member->control);
        member_gone(hub, member, "its proof is none", false);
    }
}
