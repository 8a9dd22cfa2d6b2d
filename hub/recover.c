/* A hub that starts again, or has only just begun, finds the newest centre
 * there is: on its disk, or with a node, whose HELLO says what it keeps. */
#include <stdio.h>
#include <string.h>

#include "codec/manifest.h"
#include "hub/saved.h"
#include "hub/state.h"

/* A node that is to give what it keeps, and sends no proof of it for so long,
 * does not. */
#define GIVE_PATIENCE (10 * SECOND)

/* After so long only those are asked who have proved what they say. */
#define SEARCH_MOST (60 * SECOND)

/* ---- what nodes say that they keep ---- */

/* Who keeps the newest version and has no bulk connection is waited for so much
 * longer, from when it came: the loss of that one is noticed later than that of
 * the other. */
#define BULK_PATIENCE (5 * SECOND)

/* Whether what a node of this run keeps may be of use: a hub with nothing takes
 * any run, and who says it has one must prove it. */
static bool looks_for(const struct hub *hub, uint64_t run)
{
    return run &&
           (!hub->memory.recovery.resumed || run == hub->memory.recovery.run);
}

/* Whether a version that was told of in that life is newer than what the hub
 * has. Lives come one after the other, and each begins with a version of the
 * one before: what that had beyond it was given again since, and would count
 * twice. So an earlier life's higher version is not newer. */
static bool outdoes(const struct hub *hub, uint64_t run, uint64_t life,
                    uint64_t version)
{
    uint64_t has = epoch_life(hub->memory.recovery.epoch);

    return run != hub->config.run || life > has ||
           (life == has && version > hub->centre.version);
}

/* A run is cut for good: who keeps a centre of this hub's keeps it cut as that
 * is. */
static bool is_cut_well(const struct hub *hub, uint32_t chunk_elements)
{
    return hub->memory.recovery.resumed
               ? chunk_elements == hub->config.chunk_elements
               : chunks_fit(hub->centre.schema->elements, chunk_elements);
}

/* Silence is no reason yet: it may be the hub that has slept. */
static bool claims(const struct hub *hub, const struct member *member)
{
    return member_is_here(member) && !member->mistrusted &&
           !member->doubt.unattached && member->keeps &&
           is_cut_well(hub, member->keeps_chunk) &&
           looks_for(hub, member->run) &&
           outdoes(hub, member->run, member->keeps_life, member->keeps - 1);
}

/* Whether one keeps what is newer than what the other does, of one run. */
static bool is_newer(const struct member *one, const struct member *other)
{
    return one->keeps_life > other->keeps_life ||
           (one->keeps_life == other->keeps_life && one->keeps > other->keeps);
}

/* The run of which there is the highest version, 0: none. Nothing else tells
 * runs apart. */
static uint64_t longest_run(const struct hub *hub)
{
    uint64_t run = 0, most = 0;

    EACH_MEMBER(hub, member) {
        if (member->keeps > most && claims(hub, member)) {
            run = member->run;
            most = member->keeps;
        }
    }
    return run;
}

/* Who says that it keeps the newest that is newer than what the hub has: of the
 * latest life, and in that the highest version; of several runs that of the
 * highest version. NULL: nobody. */
static struct member *newest(const struct hub *hub)
{
    struct member *best = NULL;
    uint64_t run = longest_run(hub);

    for (int i = 0; run && i < hub->roll.count; i++) {
        struct member *member = hub->roll.members[i];

        if (member->run == run && claims(hub, member) &&
            (!best || is_newer(member, best)))
            best = member;
    }
    return best;
}

void recover_heard(struct hub *hub, struct member *member)
{
    if (hub->run.phase == PHASE_RECOVERING && member->bulk == PEER_NONE)
        member->doubt.since = hub->now;
}

/* Whether its bulk connection may still come: it has come late itself, was
 * silent, or that has broken since it was asked. */
static bool may_attach(const struct hub *hub, const struct member *member)
{
    nanos since = hub->memory.recovery.until;

    if (member->doubt.since > since)
        since = member->doubt.since;
    return hub->now < since + BULK_PATIENCE;
}

void recover_slept(struct hub *hub, nanos time)
{
    hub->memory.recovery.until += time;
    hub->memory.recovery.progress += time;
    EACH_MEMBER(hub, member)
        member->doubt.since += time;
}

/* ---- the search ---- */

void recover_begin(struct hub *hub)
{
    struct recovery *recovery = &hub->memory.recovery;

    recovery->life = epoch_life(hub->roll.epoch);
    if (hub->config.recovery > 0)
        hub->run.phase = PHASE_RECOVERING;
    recovery->until =
        hub->now + (recovery->resumed ? HUB_RECOVERY : hub->config.recovery);
}

/* ---- who gives ---- */

static bool everybody_here(const struct hub *hub)
{
    if (!hub->memory.recovery.resumed)
        return false;
    EACH_MEMBER(hub, member)
        if (member->state == MEMBER_AWAY && !member->drained)
            return false;
    return true;
}

static void forget_transfer(struct hub *hub)
{
    hub->centre.state_source = -1;
    state_transfer_drop(hub);
    blob_unref(&hub->memory.recovery.manifest);
    blob_unref(&hub->memory.recovery.state);
}

/* While one is asked for its centre all others are to prove what they say, so
 * that those who cannot take the time of one. */
static void ask_others(struct hub *hub)
{
    EACH_MEMBER(hub, member) {
        if (member->place == hub->centre.state_source || member->doubt.asked ||
            !claims(hub, member) || member->bulk == PEER_NONE)
            continue;
        member->doubt = (struct doubt){.asked = true, .since = hub->now};
        member_start(hub, member, START_GIVE);
    }
}

static void ask(struct hub *hub, struct member *member)
{
    forget_transfer(hub);
    hub->memory.recovery.run = member->run;
    hub->memory.recovery.progress = hub->now;
    state_transfer_ask(hub, member, START_GIVE);
    ask_others(hub);
}

/* All is well: everybody is told what to do with what the hub has. */
static void finish(struct hub *hub)
{
    forget_transfer(hub);
    hub->memory.recovery.told = 1 + epoch_life(hub->roll.epoch);
    hub->run.phase = PHASE_RUNNING;
    hub->rounds.here = 0; /* if any, they were of a run that is given up */
    hub->memory.next_save = hub->now + hub->config.save_interval;
    EACH_MEMBER(hub, member) {
        member->took = 0; /* it may have been of another centre */
        if (!member_is_here(member))
            continue;
        member->doubt = (struct doubt){0};
        rounds_recall(hub, member); /* before it is told what is merged */
        member_start(hub, member, member_first_thing(hub, member));
    }
    if (hub->run.ledger.parts)
        tasks_await(hub);
    hub->dirty |= DIRTY_PHASE | DIRTY_ROUNDS;
}

static void mistrust(struct hub *hub, struct member *member, const char *why)
{
    effects_note(hub->out, NOTE_RESTORED, member->name, "not from it: %s", why);
    member->mistrusted = true;
    forget_transfer(hub);
}

/* It has done nothing wrong: once it has attached it is asked. */
static void pass_over(struct hub *hub, struct member *member)
{
    effects_note(hub->out, NOTE_RESTORED, member->name,
                 "not from it: it has no bulk connection");
    member->doubt.unattached = true;
}

/* Who has not proved what it says in time cannot. */
static void mistrust_byzantine(struct hub *hub)
{
    EACH_MEMBER(hub, member) {
        if (member->place == hub->centre.state_source || !claims(hub, member) ||
            !member->doubt.asked || member->doubt.answered ||
            hub->now - member->doubt.since < GIVE_PATIENCE)
            continue;
        member->mistrusted = true;
        effects_note(hub->out, NOTE_RESTORED, member->name,
                     "not from it: no proof of what it keeps came");
    }
}

static bool is_giving(struct hub *hub)
{
    if (hub->centre.state_source < 0)
        return false;
    if (hub->now - hub->memory.recovery.progress <
        (hub->memory.recovery.manifest ? STUCK : GIVE_PATIENCE))
        return true;
    mistrust(hub, hub->roll.members[hub->centre.state_source],
             "it sends nothing");
    return false;
}

/* What nodes were told before of what this centre has of theirs is true no
 * more, also for those that are away: to them it is another life's. */
static void begin_life(struct hub *hub)
{
    if (hub->memory.recovery.told == 1 + epoch_life(hub->roll.epoch))
        life_after(hub, hub->roll.epoch);
}

/* What has become of what the merge rule keeps. */
static const char *rule_state(const struct hub *hub)
{
    if (!hub_slots(hub))
        return "";
    return hub->centre.chunk->slot[0]
               ? "; the merge rule's state is of the last save"
               : "; the merge rule's state is lost";
}

/* Takes the centre that is all here. */
static void take(struct hub *hub)
{
    struct member *giver = hub->roll.members[hub->centre.state_source];
    const struct blob *proof = hub->memory.recovery.manifest;
    const struct blob *state = hub->memory.recovery.state;
    bool cuts =
        hub->centre.transfer.chunk_elements != hub->config.chunk_elements;
    uint64_t before = hub->centre.version;
    struct manifest manifest;
    struct why why = {""};
    char instead[64] = "", cut[96] = "";

    if (hub->memory.recovery.resumed)
        (void)snprintf(instead, sizeof instead,
                       " instead of version %llu from the disk",
                       (unsigned long long)before);
    if (!manifest_read(&manifest, proof->bytes, proof->size) ||
        restore_transfer(hub, &manifest, (const char *)state->bytes, &why) !=
            STATUS_OK) {
        mistrust(hub, giver, why.text);
        return;
    }
    if (cuts)
        (void)snprintf(cut, sizeof cut,
                       "; the run has chunks of %llu bytes, --chunk is for "
                       "new runs",
                       (unsigned long long)hub_chunk_bytes(hub));
    effects_note(hub->out, NOTE_RESTORED, giver->name, "version %llu%s%s%s",
                 (unsigned long long)hub->centre.version, instead, cut,
                 rule_state(hub));
    begin_life(hub);
    hub->memory.want_save = hub->config.save != NULL;
    finish(hub);
}

/* Somebody with a newer version has come meanwhile. */
static bool is_outdone(const struct hub *hub)
{
    const struct member *giver = hub->roll.members[hub->centre.state_source];
    const struct member *other = newest(hub);

    return other && (other->run != giver->run || is_newer(other, giver));
}

/* All that it was asked for is here. */
static void complete(struct hub *hub)
{
    const struct recovery *recovery = &hub->memory.recovery;

    if (!recovery->state || hub->rounds.first || hub->centre.state_source < 0 ||
        hub->centre.transfer.here < hub->centre.transfer.count)
        return;
    if (is_outdone(hub)) {
        member_start(hub, hub->roll.members[hub->centre.state_source],
                     START_HOLD);
        forget_transfer(hub);
    } else {
        take(hub);
    }
}

/* Nodes may need longer than that to notice a hub that is back, and while
 * nobody is there nothing is merged. */
static void wait_for_the_first(struct hub *hub)
{
    struct recovery *recovery = &hub->memory.recovery;

    if (hub->run.phase == PHASE_RECOVERING && recovery->resumed &&
        !hub->roll.tally.present && !finish_is_due(hub))
        recovery->until = hub->now + HUB_RECOVERY;
}

/* Asks the next one, once there has been time for all to come; nobody is left:
 * the hub goes on with what it has. */
static void search(struct hub *hub)
{
    const struct recovery *recovery = &hub->memory.recovery;
    struct member *next;

    if (hub->now < recovery->until && !everybody_here(hub))
        return;
    mistrust_byzantine(hub);
    while ((next = newest(hub)) != NULL) {
        if (hub->now >= recovery->until + SEARCH_MOST &&
            !next->doubt.answered) {
            mistrust(hub, next, "it came too late with it");
            continue;
        }
        if (next->bulk != PEER_NONE) {
            ask(hub, next);
            return;
        }
        if (may_attach(hub, next))
            return;
        pass_over(hub, next);
    }
    if (!hub->rounds.first)
        finish(hub);
}

bool recover_settle(struct hub *hub)
{
    if (hub->run.phase != PHASE_RECOVERING)
        return false;
    if (hub->centre.transfer.spoiled)
        mistrust(hub, hub->roll.members[hub->centre.state_source],
                 "a chunk is not as the hub had sent it");
    complete(hub);
    wait_for_the_first(hub);
    if (hub->run.phase != PHASE_RECOVERING)
        return true;
    if (is_giving(hub))
        ask_others(hub);
    else
        search(hub);
    return hub->run.phase != PHASE_RECOVERING;
}

/* ---- who comes late ---- */

/* So often who comes late has the hub look again. */
enum { SEARCHES_MOST = 8 };

/* Something else is merged already, or somebody was told that it is: what a
 * node keeps is of no use. */
static bool is_too_late(const struct hub *hub)
{
    EACH_ROUND(hub, round)
        if (round->told)
            return true;
    if (hub->rounds.here || hub->rounds.merging ||
        (hub->centre.version && !hub->memory.recovery.resumed))
        return true;
    for (uint32_t i = 0; i < hub->centre.count; i++)
        if (hub->centre.chunk[i].busy)
            return true;
    return false;
}

/* Of the run that is given up nothing is merged, and nobody is sent a result.
 * Who stays in its session is told of all it has offered: what it has in flight
 * would else be waited for. */
static void hold_all(struct hub *hub)
{
    rounds_discard(hub);
    EACH_ROUND(hub, round)
        round->discarded = round->empty = true;
    EACH_HERE(hub, member) {
        offers_withdraw_all(hub, member, VERDICT_SUPERSEDED);
        delivery_clear(&member->delivery);
        member->takes = false;
        member_start(hub, member, START_HOLD);
        offers_forget(hub, member, VERDICT_SUPERSEDED, true);
        member_changes(hub, member, CHANGE_SILENT);
    }
}

/* A node of a former run comes to a hub that has merged nothing yet. */
static void look_around(struct hub *hub)
{
    struct recovery *recovery = &hub->memory.recovery;

    hub->run.phase = PHASE_RECOVERING;
    recovery->until = hub->now + HUB_RECOVERY;
    hub->centre.state_source = -1;
    state_transfer_drop(hub);
    hold_all(hub);
}

bool recover_doubts(const struct hub *hub, const struct msg_hello *hello)
{
    return hello->run && hello->run == hub->config.run &&
           epoch_life(hello->epoch) > epoch_life(hub->roll.epoch) &&
           hub->run.phase != PHASE_RECOVERING &&
           (hub->memory.recovery.resumed || is_too_late(hub));
}

/* Whether the node keeps what this hub lacks: another run, or, of its own, what
 * is newer than what it has gone on from. */
static bool has_more(const struct hub *hub, const struct msg_hello *hello)
{
    if (!hello->run || !hello->kept)
        return false;
    if (hello->run != hub->config.run)
        return true;
    return epoch_life(hello->epoch) > epoch_life(hub->roll.epoch) ||
           (hello->kept_life != epoch_life(hub->roll.epoch) &&
            outdoes(hub, hello->run, hello->kept_life, hello->kept - 1));
}

/* A node comes after the hub has begun. */
static void meet_late(struct hub *hub, const struct msg_hello *hello)
{
    const struct member *known =
        member_named(hub, hello->node_high, hello->node_low);

    if (hub->run.phase < PHASE_STOPPING && !is_too_late(hub) &&
        looks_for(hub, hello->run) && !(known && known->mistrusted) &&
        hub->memory.recovery.searches++ < SEARCHES_MOST)
        look_around(hub);
    else
        effects_note(hub->out, NOTE_REFUSED, hello->name,
                     "it keeps version %llu of run %016llx, but this hub has "
                     "gone on from another",
                     (unsigned long long)hello->kept - 1,
                     (unsigned long long)hello->run);
}

bool recover_meets(struct hub *hub, peer_id peer, const struct msg_hello *hello)
{
    if (recover_doubts(hub, hello))
        return superseded_meets(hub, peer, hello);
    if (hub->run.phase != PHASE_RECOVERING && has_more(hub, hello))
        meet_late(hub, hello);
    if (hub->run.phase == PHASE_RECOVERING && looks_for(hub, hello->run))
        life_claimed(hub, hello);
    return true;
}

/* ---- what it gives ---- */

/* Whether the member was asked for it, and has not sent it before. */
static bool is_awaited(struct hub *hub, struct member *member,
                       struct blob *payload)
{
    struct recovery *recovery = &hub->memory.recovery;

    if (hub->run.phase != PHASE_RECOVERING ||
        hub->centre.state_source != member->place) {
        bool awaited = member->doubt.asked && !member->doubt.answered;

        member->doubt.answered = member->doubt.asked;
        return awaited;
    }
    if (recovery->manifest)
        return false;
    recovery->manifest = blob_ref(payload);
    recovery->progress = hub->now;
    return true;
}

/* Why the hub does not take what is in the manifest, which is its own; NULL:
 * nothing is wrong. */
static const char *fault_of(const struct hub *hub,
                            const struct manifest *manifest,
                            const struct saved *saved,
                            const struct member *giver)
{
    if (saved->run != hub->memory.recovery.run ||
        saved->version != giver->keeps - 1 ||
        epoch_life(saved->epoch) != giver->keeps_life)
        return "what it keeps is not what it said";
    if (manifest->chunks != hub->centre.transfer.count ||
        saved->chunk_elements != hub->centre.transfer.chunk_elements)
        return "what it keeps is cut otherwise than it said";
    return NULL;
}

/* Why the hub does not take what another has sealed; NULL: it does, as it has
 * no keys and nothing of its own, so that it would take the first parameters
 * from anybody, too. */
static const char *fault_of_other(const struct hub *hub, const struct job *job,
                                  const struct saved *saved)
{
    if (job->status == STATUS_OK)
        return NULL;
    if (hub->memory.recovery.resumed)
        return "it is of a hub with another --directory: to go on from that, "
               "start this one with an empty one";
    return life_is_near(hub, saved->epoch) ? NULL
                                           : "no hub has had so many lives";
}

/* The proof of one that is not asked for its centre yet. */
static void other_proved(struct hub *hub, const struct proof_job *proof)
{
    struct member *member = hub->roll.members[proof->member];

    if (!member_is_here(member) || member->session != proof->session ||
        proof->job.status == STATUS_OK || proof->job.status == STATUS_CONFIG)
        return;
    member->mistrusted = true;
    member_offends(hub, member, "what it keeps is not this hub's");
}

static void proved(void *machine, struct job *job)
{
    struct hub *hub = machine;
    const struct proof_job *proof = (struct proof_job *)job;
    struct recovery *recovery = &hub->memory.recovery;
    struct member *giver = hub->centre.state_source < 0
                               ? NULL
                               : hub->roll.members[hub->centre.state_source];
    struct manifest manifest;
    struct saved saved;
    const char *fault;

    if (hub->run.phase != PHASE_RECOVERING) {
        superseded_proved(hub, proof);
        return;
    }
    if (!giver || giver->place != proof->member) {
        other_proved(hub, proof);
        return;
    }
    if (giver->session != proof->session ||
        recovery->manifest != job->in[0].blob)
        return;
    if (job->status != STATUS_OK && job->status != STATUS_CONFIG) {
        mistrust(hub, giver, "what it keeps is not this hub's");
        member_gone(hub, giver, "cut for an offence", false);
        return;
    }
    if (!manifest_read(&manifest, job->in[0].blob->bytes,
                       job->in[0].blob->size) ||
        saved_read(&saved, (const char *)job->out[0]->bytes, NULL) !=
            STATUS_OK) {
        mistrust(hub, giver, "what it keeps makes no sense");
        return;
    }
    fault = fault_of(hub, &manifest, &saved, giver);
    fault = fault ? fault : fault_of_other(hub, job, &saved);
    if (fault) {
        mistrust(hub, giver, fault);
        return;
    }
    if (recovery->resumed)
        life_after(hub, saved.epoch);
    else
        life_after_loss(hub, saved.epoch);
    recovery->state = blob_ref(job->out[0]);
}

const struct work work_proof = {"proof", prove_manifest, proved};

void hub_on_kept(struct hub *hub, const struct incoming *in)
{
    struct member *member = in->member;
    struct proof_job *proof;

    if (!is_awaited(hub, member, in->payload))
        return;
    proof = job_make(&work_proof, sizeof *proof, hub->pool, 1);
    proof->job.in[0].blob = blob_ref(in->payload);
    proof->job.context = &hub->config.seal;
    proof->member = member->place;
    proof->session = member->session;
    hub_job(hub, &proof->job);
}
