/* The shape of the centre and its first values. */
#include <stdlib.h>
#include <string.h>

#include "hub/state.h"

/* Who is to give the first parameters and sends none of them for so long is
 * passed over, though it is heard of: a chunk of 1 MiB takes as long at
 * 0.14 Mbit/s. */
#define FOUNDER_PATIENCE (60 * SECOND)

/* Parameters have been merged, or are being: the shape stays. */
static bool has_begun(const struct hub *hub)
{
    return hub->founded || hub->version || hub->rounds;
}

static void chunks_free(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->chunks; i++) {
        blob_unref(&hub->centre[i].theta);
        blob_unref(&hub->centre[i].former);
        shadow_drop(&hub->centre[i], 0);
        for (unsigned j = 0; j < POLICY_PLANES; j++)
            blob_unref(&hub->centre[i].plane[j]);
    }
    free(hub->centre);
}

void centre_free(struct hub *hub)
{
    gift_drop(hub);
    blob_unref(&hub->recovery.manifest);
    blob_unref(&hub->recovery.state);
    snapshot_drop(hub, &hub->best);
    rollback_forget(hub);
    chunks_free(hub);
    hub->centre = NULL;
    hub->chunks = 0;
    exempt_destroy(&hub->exempt);
    schema_destroy(&hub->schema);
}

static void centre_allocate(struct hub *hub)
{
    hub->chunks =
        chunks_of(hub->schema->elements, hub->config.chunk_elements);
    hub->centre = calloc(hub->chunks, sizeof *hub->centre);
    hub->exempt = exempt_new(hub->schema);
    if (!hub->centre || !hub->exempt)
        abort();
}

static struct extent extent_in(const struct hub *hub, uint32_t chunk_elements,
                               uint32_t chunk)
{
    struct extent extent = extent_of(hub->exempt, hub->schema->elements,
                                     chunk_elements, chunk);

    extent.scale = hub->config.scale;
    return extent;
}

struct extent centre_extent(const struct hub *hub, uint32_t chunk)
{
    return extent_in(hub, hub->config.chunk_elements, chunk);
}

/* What members are remembered for is of as many chunks as the centre. */
static void remember_nobody(struct hub *hub)
{
    for (int i = 0; i < hub->member_count; i++)
        contributions_forget(hub, hub->members[i]);
}

static void centre_drop(struct hub *hub)
{
    remember_nobody(hub);
    centre_free(hub);
}

/* Nothing of the size that chunks had is on its way any more: who may still be
 * sent some comes again, on another connection. */
static void forget_cut(struct hub *hub)
{
    remember_nobody(hub);
    for (int i = 0; i < hub->member_count; i++)
        if (hub->members[i]->delivery.out)
            member_gone(hub, hub->members[i],
                        "it was sent what is of no run any more", false);
}

void centre_replace(struct hub *hub, struct centre_chunk *chunks)
{
    const struct gift *gift = &hub->gift;

    if (hub->config.chunk_elements != gift->chunk_elements)
        forget_cut(hub);
    chunks_free(hub);
    hub->centre = chunks;
    hub->chunks = gift->count;
    hub->config.chunk_elements = gift->chunk_elements;
}

static enum status differ(const struct hub *hub, const struct schema *theirs,
                          struct why *why)
{
    return hub->schema ? schema_compare(hub->schema, theirs, why) : STATUS_OK;
}

/* Whoever comes first, a hub that knows its model has it from the start. */
static void shape_own(struct hub *hub)
{
    const struct schema *own = hub->config.schema;
    struct why why = {""};

    if (!own || hub->schema)
        return;
    hub->schema = schema_parse(own->text, own->text_bytes, &why);
    if (!hub->schema)
        abort();
    centre_allocate(hub);
}

/* Takes the shape, of which the chunks are not too many. */
static enum status shape_take(struct hub *hub, struct schema **theirs,
                              struct why *why)
{
    enum status status;

    shape_own(hub);
    status = differ(hub, *theirs, why);
    if (status != STATUS_OK && !hub->config.schema && !has_begun(hub) &&
        !hub->tally.present) {
        if (hub->jobs)
            return because(why, STATUS_AGAIN,
                           "parameters of another model are being checked");
        centre_drop(hub);
        status = STATUS_OK;
    }
    if (status == STATUS_OK && !hub->schema) {
        hub->schema = *theirs;
        *theirs = NULL;
        centre_allocate(hub);
    }
    return status;
}

enum status centre_shape(struct hub *hub, const char *text, size_t size,
                         struct why *why)
{
    struct schema *theirs = schema_parse(text, size, why);
    enum status status;

    if (!theirs)
        return STATUS_MALFORMED;
    if (chunks_fit(theirs->elements, hub->config.chunk_elements))
        status = shape_take(hub, &theirs, why);
    else
        status = because(why, STATUS_CONFIG,
                         "the model makes more than %d chunks: start the hub "
                         "with a larger --chunk",
                         SCHEMA_MAX_CHUNKS);
    schema_destroy(&theirs);
    return status;
}

bool centre_is_apart(const struct hub *hub)
{
    return hub->config.init == INIT_POPULATION ||
           hub->config.init == INIT_ELASTIC;
}

void gift_drop(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->gift.count; i++)
        blob_unref(&hub->gift.chunks[i]);
    free((void *)hub->gift.chunks);
    free(hub->gift.given);
    hub->gift = (struct gift){0};
}

struct extent gift_extent(const struct hub *hub, uint32_t chunk)
{
    return extent_in(hub, hub->gift.chunk_elements, chunk);
}

void gift_ask(struct hub *hub, struct member *member, enum start start)
{
    struct gift *gift = &hub->gift;

    gift_drop(hub);
    hub->recovery.progress = hub->now;
    hub->founder = member->place;
    gift->chunk_elements = start == START_GIVE ? member->keeps_chunk
                                               : hub->config.chunk_elements;
    gift->count = chunks_of(hub->schema->elements, gift->chunk_elements);
    gift->loan.left = gift->count;
    gift->first_job = hub->next_job;
    gift->given = calloc(gift->count, sizeof *gift->given);
    gift->chunks = calloc(gift->count, sizeof(struct blob *));
    if (!gift->given || !gift->chunks)
        abort();
    member->asked++;
    member_start(hub, member, start);
    flow_open(hub, member, 0, &hub->gift.loan);
}

static bool may_found(const struct member *member)
{
    return member->present && member->bulk != PEER_NONE && !member->silent;
}

/* The first that has not been asked in vain; if that is nobody, the first. */
void centre_choose_founder(struct hub *hub)
{
    struct member *first = NULL;

    if (hub->founded || hub->contest || hub->founder >= 0 ||
        hub->recovery.on)
        return;
    for (int i = hub->member_count - 1; i >= 0; i--) {
        struct member *member = hub->members[i];

        if (may_found(member) &&
            (!first || first->mistrusted || !member->mistrusted))
            first = member;
    }
    if (first)
        gift_ask(hub, first, START_FOUND);
}

void centre_hurry(struct hub *hub)
{
    struct member *founder;

    if (hub->founded || hub->contest || hub->founder < 0 ||
        hub->recovery.on ||
        hub->now - hub->recovery.progress < FOUNDER_PATIENCE)
        return;
    founder = hub->members[hub->founder];
    effects_note(hub->out, NOTE_SUSPECT, founder->name,
                 "was to give the first parameters, and none has come for "
                 "60 s: another node is asked");
    founder->mistrusted = true;
    member_start(hub, founder, START_HOLD);
    gift_drop(hub);
    hub->founder = -1;
    centre_choose_founder(hub);
}

/* The centre is there: tells everybody what to do with it. */
static void founded(struct hub *hub)
{
    struct member *founder = hub->members[hub->founder];

    for (uint32_t i = 0; i < hub->chunks; i++)
        hub->centre[i].theta = blob_ref(hub->gift.chunks[i]);
    gift_drop(hub);
    hub->founded = true;
    hub->lineage = founder->lineage;
    effects_note(hub->out, NOTE_FOUNDED, founder->name,
                 "gave the first parameters: %llu in %u chunk%s",
                 (unsigned long long)hub->schema->elements, hub->chunks,
                 plural(hub->chunks));
    for (int i = 0; i < hub->member_count; i++) {
        struct member *member = hub->members[i];

        if (member->present)
            member_start(hub, member,
                         member->lineage == hub->lineage ||
                                 (centre_is_apart(hub) && member->lineage)
                             ? START_GO
                             : START_TAKE);
    }
    hub->founder = -1;
    keeping_begin(hub);
    snapshot_try(hub);
    rounds_advance(hub);
}

void gift_checked(struct hub *hub, struct job *job)
{
    uint32_t chunk = (uint32_t)(job->tag[1] >> 16);
    int place = (int)(job->tag[1] & 0xffff);

    if (hub->founder != place || job->id < hub->gift.first_job ||
        hub->gift.chunks[chunk] ||
        hub->members[place]->session != job->tag[3])
        return;
    if (hub->recovery.on && job->status != STATUS_OK) {
        recover_spoiled(hub);
        return;
    }
    if (job->status != STATUS_OK || job->in[0].codec != CODEC_RAW) {
        member_offends(hub, hub->members[place],
                       "its first parameters are damaged or not finite");
        return;
    }
    hub->gift.chunks[chunk] = blob_ref(job->out[0]);
    flow_return(hub, hub->members[place], 0, &hub->gift.loan,
                job->in[0].blob->wire_bytes);
    hub->gift.here++;
    if (hub->recovery.on)
        recover_complete(hub);
    else if (hub->gift.here == hub->chunks)
        founded(hub);
}
