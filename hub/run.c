/* What follows from how the run is configured and how far it has come: its
 * time, its policy, what a chunk is, who is how far behind. And what a step
 * appends most often: jobs, and words to members. */
#include <assert.h>
#include <stdio.h>

#include "hub/state.h"

enum { LEAST = 50 /* iterations of a tournament */ };

unsigned hub_slots(const struct hub *hub)
{
    const struct policy *policy = &hub->config.policy;

    return policy->merge->slots ? policy->merge->slots(&policy->numbers) : 0;
}

uint64_t hub_chunk_bytes(const struct hub *hub)
{
    return (uint64_t)hub->config.chunk_elements * sizeof(float);
}

nanos hub_time(const struct hub *hub)
{
    return hub->run.former + (hub->running ? hub->now - hub->started_at : 0);
}

struct policy_context hub_policy_context(const struct hub *hub, unsigned live)
{
    return (struct policy_context){.numbers = &hub->policy->numbers,
                                   .live = live,
                                   .score = hub->memory.score,
                                   .error = hub->memory.error,
                                   .staleness = hub->config.staleness,
                                   .round = hub->rounds.done,
                                   .seed = hub->config.seed,
                                   .pinned = hub->run.pinned};
}

/* Once all have been here, the first round is one as any other: a node that has
 * diverged at once, or is gone again, keeps nobody from it. */
unsigned gate_nodes(const struct hub *hub)
{
    if (hub->rounds.here || hub->roll.tally.arrived >= hub->config.nodes)
        return 1;
    return hub->config.nodes;
}

bool gate_gathers(const struct hub *hub)
{
    return hub->policy->gate->batch;
}

uint64_t tournament_every(const struct hub *hub)
{
    uint64_t whole = hub->config.tournament;

    if (!whole)
        whole = hub->config.iterations / 100;
    if (!hub->config.tournament && whole < LEAST)
        whole = LEAST;
    return hub->rounds.halving_round < HALVING_ROUNDS - 1 ? (whole + 3) / 4
                                                          : (whole + 1) / 2;
}

uint32_t offers_fragments(const struct hub *hub)
{
    uint32_t fragments = hub->config.fragments;

    if (tournament_goes_on(hub) || hub->policy->exchange == EXCHANGE_GRADIENT ||
        fragments < 2)
        return 1;
    return hub->centre.count && hub->centre.count < fragments
               ? hub->centre.count
               : fragments;
}

bool centre_is_apart(const struct hub *hub)
{
    return hub->config.init == INIT_POPULATION ||
           hub->config.init == INIT_ELASTIC;
}

static struct extent extent_in(const struct hub *hub, uint32_t chunk_elements,
                               uint32_t chunk)
{
    struct extent extent =
        extent_of(hub->centre.exempt, hub->centre.schema->elements,
                  chunk_elements, chunk);

    extent.scale = hub->config.scale;
    return extent;
}

struct extent centre_extent(const struct hub *hub, uint32_t chunk)
{
    return extent_in(hub, hub->config.chunk_elements, chunk);
}

struct extent state_transfer_extent(const struct hub *hub, uint32_t chunk)
{
    return extent_in(hub, hub->centre.transfer.chunk_elements, chunk);
}

uint64_t members_lag(const struct hub *hub, uint64_t base)
{
    uint64_t behind =
        hub->centre.version > base ? hub->centre.version - base : 0;
    unsigned live = members_live(hub);

    if (base < hub->memory.back.turned)
        return UINT64_MAX;
    return live && !hub->policy->gate->batch ? behind / live : behind;
}

/* Progress that comes later than that is worth less, and is damped: what a node
 * has learnt alone must not be lost. Gradients and whole sets are of use only
 * where they are of now. */
bool members_may_lag(const struct hub *hub, uint64_t base)
{
    uint64_t lag = members_lag(hub, base), bound = hub->config.staleness;

    return lag <= bound || (lag < UINT64_MAX && bound &&
                            hub->config.policy.exchange == EXCHANGE_DELTA);
}

/* What a node that has just come must do first. One whose parameters are not
 * finite any more names no lineage: it needs others. */
enum start member_first_thing(const struct hub *hub,
                              const struct member *member)
{
    bool same = member->run == hub->config.run && member->run != 0;

    if (hub->run.phase == PHASE_RECOVERING)
        return START_HOLD;
    if (member->doubt.asked)
        return START_GIVE;
    if (tournament_goes_on(hub))
        return member->lineage ? START_GO : START_HOLD;
    if (!centre_is_founded(hub))
        return START_HOLD;
    if (centre_is_apart(hub))
        return member->lineage ? START_GO : START_TAKE;
    if (member->lineage != hub->centre.lineage)
        return START_TAKE;
    if (same && members_may_lag(hub, member->base_version))
        return START_GO;
    return hub->centre.version == 0 ? START_GO : START_TAKE;
}

bool run_is_ending(const struct hub *hub)
{
    return hub->run.phase >= PHASE_CALLED && hub->run.phase != PHASE_STOPPING &&
           hub->run.phase < PHASE_STOPPED;
}

bool run_is_stopping(const struct hub *hub)
{
    return hub->run.phase == PHASE_STOPPING || hub->run.phase == PHASE_STOPPED;
}

void hub_job(struct hub *hub, struct job *job)
{
    assert(hub->out);
    job->id = hub->next_job++;
    hub->jobs++;
    effects_job(hub->out, job);
}

void member_send(struct hub *hub, struct member *member, const struct msg *msg)
{
    if (member_is_here(member))
        effects_send(hub->out, member->control, msg, NULL);
}

void bye_to(struct hub *hub, peer_id peer, enum farewell farewell,
            const char *text)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = farewell;
    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%s", text);
    effects_send(hub->out, peer, &bye, NULL);
}

void verdict_send(struct hub *hub, struct member *member, uint64_t exchange,
                  uint32_t first, uint32_t count, enum verdict verdict)
{
    struct msg msg = {.kind = MSG_VERDICT};

    msg.verdict.exchange = exchange;
    msg.verdict.first = first;
    msg.verdict.chunks = count;
    msg.verdict.verdict = verdict;
    msg.verdict.version = hub->centre.version;
    member_send(hub, member, &msg);
}

void member_call(struct hub *hub, struct member *member, const char *reason)
{
    struct msg msg = {.kind = MSG_STOP};

    (void)snprintf(msg.stop.reason, sizeof msg.stop.reason, "%s", reason);
    member_send(hub, member, &msg);
}
