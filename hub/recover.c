/* A hub that starts again finds the newest centre there is: on its disk, or
 * with a node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/manifest.h"
#include "hub/saved.h"
#include "hub/state.h"

/* A node that is to give what it keeps, and sends no proof of it for so long,
 * does not. */
#define GIVE_PATIENCE (10 * SECOND)

/* After so long only those are asked who have proved what they say. */
#define SEARCH_MOST (60 * SECOND)

void recover_resume(struct hub *hub, uint64_t epoch)
{
    struct recovery *recovery = &hub->recovery;

    recovery->on = recovery->resumed = true;
    recovery->run = hub->config.run;
    recovery->epoch = epoch;
    recovery->version = hub->version;
    hub->epoch = 0;
    life_after(hub, epoch);
    life_after(hub, hub->config.life << 32);
}

void recover_begin(struct hub *hub)
{
    struct recovery *recovery = &hub->recovery;

    recovery->life = epoch_life(hub->epoch);
    recovery->on |= hub->config.recovery > 0;
    recovery->until =
        hub->now +
        (recovery->resumed ? HUB_RECOVERY : hub->config.recovery);
}

/* ---- who gives ---- */

static bool everybody_here(const struct hub *hub)
{
    if (!hub->recovery.resumed)
        return false;
    for (int i = 0; i < hub->member_count; i++)
        if (hub->members[i]->used && !hub->members[i]->present &&
            !hub->members[i]->drained)
            return false;
    return true;
}

static void forget_gift(struct hub *hub)
{
    hub->founder = -1;
    gift_drop(hub);
    blob_unref(&hub->recovery.manifest);
    blob_unref(&hub->recovery.state);
}

/* While one is asked for its centre all others are to prove what they say, so
 * that those who cannot take the time of one. */
static void ask_others(struct hub *hub)
{
    for (int i = 0; i < hub->member_count; i++) {
        struct member *member = hub->members[i];

        if (i == hub->founder || member->doubt.asked ||
            !recover_claims(hub, member) || member->bulk == PEER_NONE)
            continue;
        member->doubt = (struct doubt){.asked = true, .since = hub->now};
        member_start(hub, member, START_GIVE);
    }
}

static void ask(struct hub *hub, struct member *member)
{
    forget_gift(hub);
    hub->recovery.run = member->run;
    hub->recovery.progress = hub->now;
    gift_ask(hub, member, START_GIVE);
    ask_others(hub);
}

/* All is well: everybody is told what to do with what the hub has. */
static void finish(struct hub *hub, bool taken)
{
    forget_gift(hub);
    hub->recovery.on = false;
    hub->rounds_here = 0; /* if any, they were of a run that is given up */
    hub->next_save = hub->now + hub->config.save_interval;
    for (int i = 0; i < hub->member_count; i++) {
        struct member *member = hub->members[i];

        member->took = 0; /* it may have been of another centre */
        if (!member->present)
            continue;
        member->doubt = (struct doubt){0};
        rounds_recall(hub, member); /* before it is told what is merged */
        member_start(hub, member,
                     recover_first_thing(hub, member, taken));
    }
    gift_choose_founder(hub);
    rounds_advance(hub);
    orders_resume(hub);
    finish_resume(hub);
}

static void mistrust(struct hub *hub, struct member *member, const char *why)
{
    effects_note(hub->out, NOTE_RESTORED, member->name,
                 "not from it: %s", why);
    member->mistrusted = true;
    forget_gift(hub);
}

/* It has done nothing wrong: once it has attached it is asked. */
static void pass_over(struct hub *hub, struct member *member)
{
    effects_note(hub->out, NOTE_RESTORED, member->name,
                 "not from it: it has no bulk connection");
    member->doubt.unattached = true;
}

/* Who has not proved what it says in time cannot. */
static void mistrust_liars(struct hub *hub)
{
    for (int i = 0; i < hub->member_count; i++) {
        struct member *member = hub->members[i];

        if (i == hub->founder || !recover_claims(hub, member) ||
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
    if (hub->founder < 0)
        return false;
    if (hub->now - hub->recovery.progress <
        (hub->recovery.manifest ? STUCK : GIVE_PATIENCE))
        return true;
    mistrust(hub, hub->members[hub->founder], "it sends nothing");
    return false;
}

/* Nodes may need longer than that to notice a hub that is back, and while
 * nobody is there nothing is merged. */
static void wait_for_the_first(struct hub *hub)
{
    struct recovery *recovery = &hub->recovery;

    if (recovery->on && recovery->resumed && !hub->tally.present &&
        !finish_is_due(hub))
        recovery->until = hub->now + HUB_RECOVERY;
}

void recover_advance(struct hub *hub)
{
    const struct recovery *recovery = &hub->recovery;
    struct member *next;

    recover_complete(hub);
    wait_for_the_first(hub);
    if (recovery->on && is_giving(hub)) {
        ask_others(hub);
        return;
    }
    if (!recovery->on ||
        (hub->now < recovery->until && !everybody_here(hub)))
        return;
    mistrust_liars(hub);
    while ((next = recover_newest(hub)) != NULL) {
        if (hub->now >= recovery->until + SEARCH_MOST &&
            !next->doubt.answered) {
            mistrust(hub, next, "it came too late with it");
            continue;
        }
        if (next->bulk != PEER_NONE) {
            ask(hub, next);
            return;
        }
        if (recover_may_attach(hub, next))
            return;
        pass_over(hub, next);
    }
    if (!hub->rounds)
        finish(hub, false);
}

/* ---- what it gives ---- */

/* Whether the member was asked for it, and has not sent it before. */
static bool is_awaited(struct hub *hub, struct member *member,
                       struct blob *payload)
{
    struct recovery *recovery = &hub->recovery;

    if (!recovery->on || hub->founder != member->place) {
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

void hub_on_kept(struct hub *hub, struct peer *peer, const struct msg *msg,
                 struct blob *payload)
{
    struct member *member = hub_member(hub, peer);
    struct job *job;

    if (!is_awaited(hub, member, payload))
        return;
    job = job_new(&work_proof, hub->pool, 1);
    job->in[0].blob = blob_ref(payload);
    job->context = &hub->config.seal;
    job->tag[0] = msg->kept.version;
    job->tag[1] = (uint64_t)member->place;
    job->tag[3] = member->session;
    hub_job(hub, job);
}

/* Why the hub does not take what is in the manifest, which is its own; NULL:
 * nothing is wrong. */
static const char *fault_of(const struct hub *hub,
                            const struct manifest *manifest,
                            const struct saved *saved,
                            const struct member *giver)
{
    if (saved->run != hub->recovery.run ||
        saved->version != giver->keeps - 1 ||
        epoch_life(saved->epoch) != giver->keeps_life)
        return "what it keeps is not what it said";
    if (manifest->chunks != hub->gift.count ||
        saved->chunk_elements != hub->gift.chunk_elements)
        return "what it keeps is cut otherwise than it said";
    return NULL;
}

/* Why the hub does not take what another has sealed; NULL: it does, as it has
 * no keys and nothing of its own, so that it would take the first parameters
 * from anybody, too. */
static const char *fault_of_other(const struct hub *hub, const struct job *job,
                                  const struct saved *saved)
{
    if (job->number[PROOF_GENUINE] > 0)
        return NULL;
    if (hub->recovery.resumed)
        return "it is of a hub with another --directory: to go on from that, "
               "start this one with an empty one";
    return life_is_near(hub, saved->epoch)
               ? NULL
               : "no hub has had so many lives";
}

/* Takes the centre that is all here. */
static void take(struct hub *hub)
{
    struct member *giver = hub->members[hub->founder];
    const struct blob *proof = hub->recovery.manifest;
    const struct blob *state = hub->recovery.state;
    bool cuts = hub->gift.chunk_elements != hub->config.chunk_elements;
    uint64_t before = hub->version;
    struct manifest manifest;
    struct why why = {""};
    char instead[64] = "", cut[96] = "";

    if (hub->recovery.resumed)
        (void)snprintf(instead, sizeof instead,
                       " instead of version %llu from the disk",
                       (unsigned long long)before);
    if (!manifest_read(&manifest, proof->bytes, proof->size) ||
        restore_gift(hub, &manifest, (const char *)state->bytes, &why) !=
            STATUS_OK) {
        mistrust(hub, giver, why.text);
        return;
    }
    if (cuts)
        (void)snprintf(cut, sizeof cut,
                       "; the run has chunks of %llu bytes, --chunk is for "
                       "new runs", (unsigned long long)hub_chunk_bytes(hub));
    effects_note(hub->out, NOTE_RESTORED, giver->name, "version %llu%s%s%s",
                 (unsigned long long)hub->version, instead, cut,
                 hub_planes(hub) ? "; the state of the merge rule is lost"
                                 : "");
    hub->want_save = hub->config.save != NULL;
    finish(hub, true);
}

/* Somebody with a newer version has come meanwhile. */
static bool is_outdone(const struct hub *hub)
{
    const struct member *giver = hub->members[hub->founder];
    const struct member *newest = recover_newest(hub);

    return newest && (newest->run != giver->run ||
                      recover_is_newer(newest, giver));
}

void recover_complete(struct hub *hub)
{
    const struct recovery *recovery = &hub->recovery;

    if (!recovery->on || !recovery->state || hub->rounds ||
        hub->founder < 0 || hub->gift.here < hub->gift.count)
        return;
    if (is_outdone(hub)) {
        member_start(hub, hub->members[hub->founder], START_HOLD);
        forget_gift(hub);
    } else {
        take(hub);
    }
}

/* The proof of one that is not asked for its centre yet. */
static void other_proved(struct hub *hub, const struct job *job)
{
    struct member *member = hub->members[job->tag[1]];

    if (!member->present || member->session != job->tag[3] ||
        job->status == STATUS_OK)
        return;
    member->mistrusted = true;
    member_offends(hub, member, "what it keeps is not this hub's");
}

void recover_proved(struct hub *hub, struct job *job)
{
    struct recovery *recovery = &hub->recovery;
    struct member *giver =
        hub->founder < 0 ? NULL : hub->members[hub->founder];
    struct manifest manifest;
    struct saved saved;
    const char *fault;

    if (!recovery->on) {
        superseded_proved(hub, job);
        return;
    }
    if (!giver || giver->place != (int)job->tag[1]) {
        other_proved(hub, job);
        return;
    }
    if (giver->session != job->tag[3] || recovery->manifest != job->in[0].blob)
        return;
    if (job->status != STATUS_OK ||
        (job->number[PROOF_GENUINE] <= 0 && job->number[PROOF_OPEN] <= 0)) {
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
    recover_complete(hub);
}

void recover_spoiled(struct hub *hub)
{
    mistrust(hub, hub->members[hub->founder],
             "a chunk is not as the hub had sent it");
}
