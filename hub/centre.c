/* The shape of the centre and its first values. */
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"

/* Parameters have been merged, or are being: the shape stays. */
static bool has_begun(const struct hub *hub)
{
    return centre_is_founded(hub) || hub->centre.version || hub->rounds.first;
}

static void chunks_free(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        blob_unref(&hub->centre.chunk[i].theta);
        blob_unref(&hub->centre.chunk[i].previous_theta);
        last_sent_drop(&hub->centre.chunk[i], 0);
        for (unsigned j = 0; j < POLICY_SLOTS; j++)
            blob_unref(&hub->centre.chunk[i].slot[j]);
    }
    free(hub->centre.chunk);
}

void centre_free(struct hub *hub)
{
    state_transfer_drop(hub);
    blob_unref(&hub->memory.recovery.manifest);
    blob_unref(&hub->memory.recovery.state);
    snapshot_forget(hub);
    chunks_free(hub);
    bitset_free(&hub->centre.ready);
    hub->centre.chunk = NULL;
    hub->centre.count = 0;
    exempt_destroy(&hub->centre.exempt);
    schema_destroy(&hub->centre.schema);
}

static void centre_allocate(struct hub *hub)
{
    hub->centre.count =
        chunks_of(hub->centre.schema->elements, hub->config.chunk_elements);
    hub->centre.chunk =
        need_memory(hub->centre.count, sizeof *hub->centre.chunk);
    hub->centre.exempt = exempt_new(hub->centre.schema);
    if (!hub->centre.exempt)
        abort();
}

/* What members are remembered for is of as many chunks as the centre. */
static void remember_nobody(struct hub *hub)
{
    EACH_MEMBER(hub, member)
        updates_forget(hub, member);
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
    EACH_MEMBER(hub, member)
        if (member->delivery.out)
            member_gone(hub, member, "it was sent what is of no run any more",
                        false);
}

void centre_replace(struct hub *hub, struct centre_chunk *chunks)
{
    const struct state_transfer *transfer = &hub->centre.transfer;

    if (hub->config.chunk_elements != transfer->chunk_elements)
        forget_cut(hub);
    chunks_free(hub);
    hub->centre.chunk = chunks;
    hub->centre.count = transfer->count;
    hub->config.chunk_elements = transfer->chunk_elements;
}

static enum status differ(const struct hub *hub, const struct schema *theirs,
                          struct why *why)
{
    return hub->centre.schema ? schema_compare(hub->centre.schema, theirs, why)
                              : STATUS_OK;
}

/* Whoever comes first, a hub that knows its model has it from the start. */
static void shape_own(struct hub *hub)
{
    const struct schema *own = hub->config.schema;
    struct why why = {""};

    if (!own || hub->centre.schema)
        return;
    hub->centre.schema = schema_parse(own->text, own->text_bytes, &why);
    if (!hub->centre.schema)
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
        !hub->roll.tally.present) {
        if (hub->jobs)
            return because(why, STATUS_AGAIN,
                           "parameters of another model are being checked");
        centre_drop(hub);
        status = STATUS_OK;
    }
    if (status == STATUS_OK && !hub->centre.schema) {
        hub->centre.schema = *theirs;
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
