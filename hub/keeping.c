/* Nodes are told of complete versions of the centre, for a hub that loses its
 * own. */
#include "codec/manifest.h"
#include "hub/state.h"

/* Not more often than this, and a little longer for each node: the manifest
 * says something of each. */
#define KEEP_EVERY (250 * MILLISECOND)
#define KEEP_EVERY_NODE MILLISECOND
/* Without a complete version for so long new rounds wait for one: at most a
 * tenth of the time. */
#define KEEP_DEMAND (2 * SECOND)
enum { KEEP_SHARE = 10 };

/* Of what a node is sent, in thousandths, where the configuration does not say,
 * and then never more than a chunk at a time: a model that is cut into few
 * bytes has a manifest that is not much smaller. A short one may be told
 * beyond that, each KEEP_DEMAND: nobody else would ever keep a small model. */
enum { KEEP_MOST = 30, KEEP_SHORT = 8192 };

/* Whether what nodes are sent is the centre. */
static bool is_sent_out(const struct hub *hub)
{
    const struct policy *policy = &hub->config.policy;

    return centre_is_founded(hub) && !tournament_goes_on(hub) &&
           !centre_is_apart(hub) && policy->receive == &receive_all &&
           !policy->merge->sends_previous;
}

static bool is_due(const struct hub *hub)
{
    const struct keeping *keeping = &hub->memory.keeping;
    nanos every = KEEP_EVERY + (nanos)hub->roll.tally.present * KEEP_EVERY_NODE;

    return is_sent_out(hub) && !keeping->busy &&
           hub->run.phase != PHASE_RECOVERING &&
           hub->run.phase != PHASE_CLOSING &&
           (hub->rounds.here || keeping->first) &&
           (!keeping->made || (hub->now - keeping->at >= every &&
                               keeping->version != hub->centre.version));
}

void keeping_begin(struct hub *hub)
{
    hub->memory.keeping.first = hub->memory.keeping.wanted = true;
    hub->memory.keeping.since = hub->now;
    hub->dirty |= DIRTY_MEMORY;
}

/* Whether `bytes` more are little beside what it is sent. */
static bool is_affordable(const struct hub *hub, const struct member *member,
                          uint64_t bytes)
{
    uint64_t most = hub->config.keeping ? hub->config.keeping : KEEP_MOST;
    uint64_t chunk = hub->centre.chunk[0].theta->wire_bytes;

    if (hub->memory.keeping.first ||
        (!hub->config.keeping && bytes <= KEEP_SHORT &&
         hub->now - member->told.at >= KEEP_DEMAND))
        return true;
    return (hub->config.keeping || bytes <= chunk) &&
           1000 * (member->told.bytes + bytes) <=
               most * (member->here.down_bytes + member->told.spared);
}

/* Whether it may be sent `bytes` more. */
static bool is_keeper(const struct hub *hub, const struct member *member,
                      uint64_t bytes)
{
    return member_is_here(member) && member->bulk != PEER_NONE &&
           member->start == START_GO && is_affordable(hub, member, bytes);
}

/* Its newest exchange before which all have their verdicts, merged or not: none
 * that waits, nor one whose round is open or uploads, though a version that has
 * nothing of it is complete. */
static uint64_t last_retired(const struct member *member)
{
    uint64_t retired = member->last_exchange;

    for (unsigned i = 0; i < member->waiting_count; i++)
        if (member->waiting[i]->offer.exchange <= retired)
            retired = member->waiting[i]->offer.exchange - 1;
    for (const struct update *one = member->in_rounds; one; one = one->next)
        if (one->incarnation == member->incarnation &&
            one->offer.exchange <= retired)
            retired = one->offer.exchange - 1;
    return retired;
}

void keeping_saved(struct hub *hub)
{
    struct msg msg = {.kind = MSG_SAVING};

    EACH_HERE(hub, member) {
        if (member->bulk == PEER_NONE)
            continue;
        msg.saving.merged = last_retired(member);
        effects_send(hub->out, member->bulk, &msg, NULL);
    }
}

/* Whose turn it is to be told. */
static void choose_keepers(struct hub *hub)
{
    struct keeping *keeping = &hub->memory.keeping;
    uint64_t bytes =
        keeping->bytes ? keeping->bytes : manifest_bytes(hub->centre.count, 0);
    int first = keeping->next_keeper;

    keeping->count = 0;
    for (int i = 0; i < hub->roll.count && keeping->count < KEEPERS; i++) {
        int place = (first + i) % hub->roll.count;
        const struct member *member = hub->roll.members[place];

        if (!is_keeper(hub, member, bytes))
            continue;
        keeping->list[keeping->count++] =
            (struct keeper){place, member->session, last_retired(member)};
        keeping->next_keeper = place + 1;
    }
}

void keeping_tick(struct hub *hub)
{
    struct keeping *keeping = &hub->memory.keeping;
    nanos pause = KEEP_SHARE * keeping->spent;

    if (pause < KEEP_DEMAND)
        pause = KEEP_DEMAND;
    if (keeping->wanted || keeping->too_large || !is_due(hub) ||
        hub->now - keeping->at < pause)
        return;
    choose_keepers(hub);
    if (!keeping->count)
        return;
    keeping->wanted = true;
    keeping->since = hub->now;
}

/* It waits for no rate, or it would never come for as long as results come
 * first. It is little beside those, and they wait for what it owes. Where the
 * configuration lets it be more, it waits, but for the first. */
static void tell(struct hub *hub, const struct keeper *keeper,
                 struct msg_keep keep, struct blob *manifest)
{
    struct member *member = hub->roll.members[keeper->place];
    struct msg msg = {.kind = MSG_KEEP, .keep = keep};

    if (member->session != keeper->session ||
        !is_keeper(hub, member, manifest->size) ||
        (!hub->memory.keeping.first && hub->config.keeping &&
         (bucket_when(&hub->flow.sending, manifest->size, hub->now) >
              hub->now ||
          bucket_when(&member->delivery.bucket, manifest->size, hub->now) >
              hub->now)))
        return;
    msg.keep.merged = keeper->merged;
    member->told.bytes += manifest->size;
    member->told.at = hub->now;
    bucket_owe(&hub->flow.sending, manifest->size, hub->now);
    bucket_owe(&member->delivery.bucket, manifest->size, hub->now);
    effects_send(hub->out, member->bulk, &msg, manifest);
}

static void made(void *machine, struct job *job)
{
    struct hub *hub = machine;
    struct keeping *keeping = &hub->memory.keeping;
    const struct manifest_job *of = (struct manifest_job *)job;
    struct msg_keep keep = {.epoch = of->epoch, .version = of->version};

    keeping->busy = false;
    if (job->status == STATUS_OK)
        keeping->bytes = job->out[0]->size;
    for (unsigned i = 0; job->status == STATUS_OK && i < keeping->count; i++)
        tell(hub, &keeping->list[i], keep, job->out[0]);
    if (!keeping->first)
        return;
    keeping->first = false;
    hub->dirty |= DIRTY_MEMORY | DIRTY_ROUNDS;
}

const struct work work_manifest = {"manifest", make_manifest, made};

/* Bytes of the state's text that any bulk connection carries with it. */
static size_t keeping_most(const struct hub *hub)
{
    size_t chunk = (size_t)hub->config.chunk_elements * sizeof(float);
    size_t most = chunk > MANIFEST_ROOM_BYTES ? chunk : MANIFEST_ROOM_BYTES;
    size_t without = manifest_bytes(hub->centre.count, 0);

    return most > without ? most - without : 0;
}

/* Says once that it is too large, until one is not. */
static bool is_carried(struct hub *hub, size_t state_bytes)
{
    bool too_large = state_bytes > keeping_most(hub);

    if (too_large && !hub->memory.keeping.too_large)
        effects_note(hub->out, NOTE_UNKEPT, "",
                     "nodes keep no centre for now, and the disk alone has "
                     "it: what would prove one is larger than a chunk of "
                     "this run");
    hub->memory.keeping.too_large = too_large;
    return !too_large;
}

/* The manifest of the version that is complete now; NULL: nobody is to have
 * one. */
static struct job *manifest_job(struct hub *hub)
{
    struct keeping *keeping = &hub->memory.keeping;
    struct manifest_job *made;
    struct job *job;

    if (!is_due(hub))
        return NULL;
    choose_keepers(hub);
    if (!keeping->count)
        return NULL;
    made = job_make(&work_manifest, sizeof *made, hub->pool,
                    hub->centre.count + 1);
    job = &made->job;
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        job->in[i].blob = blob_ref(last_sent_of(&hub->centre.chunk[i]));
        job->in[i].weight = (double)hub->centre.chunk[i].changed;
    }
    EACH_MEMBER(hub, member)
        updates_shorten(hub, member,
                        keeping_most(hub) / 2 / (size_t)hub->roll.count);
    job->in[hub->centre.count].blob = saved_write(hub);
    job->context = &hub->config.seal;
    made->version = hub->centre.version;
    made->epoch = hub->roll.epoch;
    keeping->made = true;
    keeping->version = hub->centre.version;
    keeping->at = hub->now;
    if (!is_carried(hub, job->in[hub->centre.count].blob->size))
        job_destroy(&job);
    return job;
}

void keeping_start(struct hub *hub)
{
    struct keeping *keeping = &hub->memory.keeping;
    struct job *job;

    if (keeping->busy)
        return;
    if (keeping->wanted)
        keeping->spent = hub->now - keeping->since;
    keeping->wanted = false;
    job = manifest_job(hub);
    keeping->first &= job != NULL;
    if (!job)
        return;
    keeping->busy = true;
    hub_job(hub, job);
}
