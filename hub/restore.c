/* A hub takes over a centre that it has had before: from its disk, or as a node
 * has kept it. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/manifest.h"
#include "core/need.h"
#include "hub/saved.h"
#include "hub/state.h"

#define LONGEST_RUN ((uint64_t)INT64_MAX / 2)

/* A run that had no tasks may have them from now on, not the other way. */
static enum status read_tasks(struct hub *hub, const struct saved *saved,
                              struct why *why)
{
    const char *line = saved->tasks;
    uint64_t parts;

    if (!line || ledger_read(&hub->run.ledger, line))
        return STATUS_OK;
    if (saved_number(&line, "tasks", &parts) && parts != hub->run.ledger.parts)
        return because(why, STATUS_CONFIG,
                       "the run has %llu tasks: say --tasks %llu, or take "
                       "another --directory",
                       (unsigned long long)parts, (unsigned long long)parts);
    return because(why, STATUS_MALFORMED, "the saved list of tasks is damaged");
}

/* Whether the line is of the merge rule in force, and of the same steps: what
 * another one has kept, or this one of gradients, means something else. */
static bool is_same_merge(const struct hub *hub, const char *line)
{
    char word[SAVED_MERGE_BYTES];
    size_t length;

    saved_merge(hub, word);
    length = strlen(word);
    line += strlen("merge ");
    return strncmp(line, word, length) == 0 && line[length] == ' ';
}

/* Takes the turns of the chunks: that of its first element is a chunk's. */
static enum status read_turns(const struct hub *hub, const struct saved *saved,
                              struct centre_chunk *chunks, struct why *why)
{
    uint32_t length = saved->chunk_elements;
    uint32_t count = chunks_of(hub->centre.schema->elements, length), chunk = 0;
    const char *text = saved->merge;
    uint64_t first = 0, elements, turn;

    if (!text)
        return STATUS_OK;
    text += strlen("merge ");
    text += strcspn(text, " \n");
    while (*text == ' ' && saved_number(&text, " ", &elements) &&
           saved_number(&text, " ", &turn) &&
           elements <= hub->centre.schema->elements - first) {
        first += elements;
        for (; chunk < count && (uint64_t)chunk * length < first; chunk++)
            chunks[chunk].updates_before = turn;
    }
    if (first == hub->centre.schema->elements && *text == '\n')
        return STATUS_OK;
    return because(why, STATUS_MALFORMED,
                   "the saved line of the merge rule is damaged");
}

/* The verdicts of an exchange, for a node that does not know them. */
static void take_part(struct hub *hub, struct member *member,
                      const struct saved_part *part)
{
    struct update *one;
    const char *text = part->verdicts;
    enum verdict verdict;
    uint64_t count;
    uint32_t first = 0;

    one = need_memory(1, sizeof *one);
    one->chunks = need_memory(hub->centre.count, sizeof *one->chunks);
    one->member = member->place;
    one->incarnation = member->incarnation;
    one->offer.exchange = part->exchange;
    while (saved_next_verdict(&text, &verdict, &count) &&
           count <= hub->centre.count - first)
        for (; count; count--, first++) {
            one->chunks[first].state = CHUNK_CLOSED;
            one->chunks[first].verdict = verdict;
            one->merged += verdict == VERDICT_MERGED;
        }
    if (first == hub->centre.count)
        *update_place(hub, member, part->exchange) = one;
    else
        update_destroy(hub, &one);
    if (part->exchange > member->last_exchange)
        member->last_exchange = part->exchange;
}

/* What its process has done since then, alone or with a hub that is no more, is
 * told by its HELLO, which may have come before. */
static void take_moved(struct member *member, const struct saved_node *node)
{
    uint64_t begun = member->iteration - member->here.steps;

    member->before = node->did;
    if (!member->met)
        member->iteration = node->iteration;
    else if (begun <= member->iteration)
        member_begins_at(member, node->iteration, begun);
}

static void take_node(struct hub *hub, struct member *member,
                      const struct saved_node *node)
{
    const char *text = node->parted;
    struct saved_part part;

    updates_forget(hub, member); /* of an older version */
    member->incarnation = node->incarnation;
    member->key = node->key;
    member->merged = node->merged;
    if (member->last_exchange < node->merged)
        member->last_exchange = node->merged;
    member->drained =
        node->drained || (member_is_here(member) && member->drained);
    if (node->pinned)
        hub->run.pinned = member->place;
    take_moved(member, node);
    for (unsigned i = 0; i < node->parts; i++) {
        saved_next_part(&text, &part);
        take_part(hub, member, &part);
    }
    member_recount(hub, member);
}

static struct member *new_member(struct hub *hub, const struct saved_node *node)
{
    struct member *member = member_add(hub);
    char name[NODE_NAME_BYTES];

    member_name_is(hub, member, node->high, node->low);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(node->name, "\n"),
                   node->name);
    member_rename(hub, member, name);
    member->stats.loss = NO_SCORE;
    member->stats.accuracy = -1;
    return member;
}

/* One more vote, so that the first who comes is measured. False: the line makes
 * no sense. */
static bool take_lengths(struct hub *hub, const char *text)
{
    uint64_t bits;
    bool more = saved_number(&text, "lengths", &bits);

    for (uint32_t i = 0; more && i < NORM_SERIES; i++) {
        double length;

        memcpy(&length, &bits, sizeof length);
        if (!(length >= 0) || isinf(length))
            return false;
        hub->rounds.former_norms[i] = length;
        more = saved_number(&text, "", &bits);
    }
    return *text == '\n';
}

static enum status read_norm_history(struct hub *hub, const struct saved *saved,
                                     struct why *why)
{
    if (!saved->norms || take_lengths(hub, saved->norms))
        return STATUS_OK;
    return because(why, STATUS_MALFORMED,
                   "the saved lengths of updates are damaged");
}

static void recover_resume(struct hub *hub, uint64_t epoch)
{
    struct recovery *recovery = &hub->memory.recovery;

    hub->run.phase = PHASE_RECOVERING;
    recovery->resumed = true;
    recovery->run = hub->config.run;
    recovery->epoch = epoch;
    recovery->version = hub->centre.version;
    hub->roll.epoch = 0;
    life_after(hub, epoch);
    life_after(hub, hub->config.life << 32);
}

/* All lines have been read before. A node that is here may be another process
 * of it by now, which is no end of a quarantine. */
static void take_nodes(struct hub *hub, const char *text)
{
    struct saved_node node;

    while (saved_next_node(&text, &node)) {
        struct member *member = member_named(hub, node.high, node.low);
        bool same;

        if (!member)
            member = new_member(hub, &node);
        same = member_is_here(member) ? member->incarnation == node.incarnation
                                      : member->incarnation <= node.incarnation;
        if (same)
            take_node(hub, member, &node);
        if (node.term)
            quarantine_resume(hub, member, node.left, node.term, node.since);
    }
}

static void take_over(struct hub *hub, const struct saved *saved)
{
    hub->config.run = saved->run;
    hub->centre.version = hub->rounds.done = saved->version;
    hub->centre.lineage = saved->lineage;
    hub->memory.back.turned = saved->turned;
    hub->memory.first = saved->first_score;
    hub->centre.merged_live =
        (unsigned)(saved->live < HUB_MAX_NODES ? saved->live : 0);
    hub->centre.usual = hub->centre.merged_live;
    if (saved->usual > hub->centre.usual && saved->usual <= HUB_MAX_NODES)
        hub->centre.usual = saved->usual;
    hub->rounds.samples =
        saved->samples < MOST_SAMPLES ? saved->samples : MOST_SAMPLES;
    hub->run.left = saved->left;
    hub->run.former = saved->time < LONGEST_RUN ? (nanos)saved->time : 0;
    hub->centre.founding = FOUNDING_DONE;
    hub->policy = &hub->config.policy;
    take_nodes(hub, saved->nodes);
}

/* Losses of held-out data and those that nodes say do not compare. Of the
 * former the goal may be another one by now. */
static void take_best(struct hub *hub, const struct saved *saved)
{
    bool tests = hub->config.evaluate != NULL;

    hub->memory.best_version = saved->best_version;
    if (saved->tested != SAVED_UNTOLD && (saved->tested != 0) != tests)
        return;
    hub->memory.best_score = saved->best_score;
    hub->memory.best_accuracy = saved->best_accuracy;
    hub->memory.best_measure =
        tests ? snapshot_measure(hub, saved->best_score, saved->best_accuracy)
              : saved->best_measure;
}

static struct blob *copy_chunk(struct hub *hub, const float *values,
                               uint32_t chunk)
{
    uint32_t length = hub->config.chunk_elements;
    size_t count = chunk_length(hub->centre.schema->elements, length, chunk);
    struct blob *blob = blob_need(hub->pool, count * sizeof *values);

    memcpy(blob->bytes, values + (size_t)chunk * length,
           count * sizeof *values);
    blob_seal(blob);
    return blob;
}

static void copy_centre(struct hub *hub, const struct hub_saved *saved,
                        unsigned slots)
{
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        struct centre_chunk *chunk = &hub->centre.chunk[i];

        chunk->theta = copy_chunk(hub, saved->theta, i);
        chunk->version = chunk->changed = hub->centre.version;
        chunk->live = hub->centre.merged_live;
        chunk->usual = hub->centre.usual;
        for (unsigned slot = 0; slot < slots; slot++)
            if (saved->slot[slot])
                chunk->slot[slot] = copy_chunk(hub, saved->slot[slot], i);
    }
}

/* A rule that has lost what it kept begins anew with its count. */
static void forget_turns(const struct hub *hub, struct centre_chunk *chunks)
{
    for (uint32_t i = 0; hub_slots(hub) && i < hub->centre.count; i++)
        if (!chunks[i].slot[0])
            chunks[i].updates_before = 0;
}

/* A run is cut for good, whatever the hub's configuration says. */
static enum status read_cut(struct hub *hub, const struct schema *schema,
                            const struct saved *saved, struct why *why)
{
    if (!chunks_fit(schema->elements, saved->chunk_elements))
        return because(why, STATUS_MALFORMED,
                       "the saved size of a chunk is damaged: take another "
                       "--directory");
    hub->config.chunk_elements = saved->chunk_elements;
    return STATUS_OK;
}

/* The shape of what was saved, and the kinds of its tensors. */
static enum status read_shape(struct hub *hub, const struct hub_saved *saved,
                              const struct saved *state, struct why *why)
{
    struct schema *schema =
        state->kinds ? saved_schema(state, saved->schema, why) : NULL;
    const struct schema *shape = schema ? schema : saved->schema;
    enum status status =
        state->kinds && !schema
            ? STATUS_MALFORMED
            : centre_shape(hub, shape->text, shape->text_bytes, why);

    schema_destroy(&schema);
    return status;
}

enum status hub_restore(struct hub *hub, const struct hub_saved *saved,
                        struct why *why)
{
    struct saved *state = need_memory(1, sizeof *state);
    enum status status;

    assert(!hub->running);
    status = saved_read(state, saved->state, why);
    if (status == STATUS_OK)
        status = read_cut(hub, saved->schema, state, why);
    if (status == STATUS_OK)
        status = read_shape(hub, saved, state, why);
    if (status == STATUS_OK)
        status = read_turns(hub, state, hub->centre.chunk, why);
    if (status == STATUS_OK)
        status = read_tasks(hub, state, why);
    if (status == STATUS_OK)
        status = read_norm_history(hub, state, why);
    if (status == STATUS_OK) {
        take_over(hub, state);
        take_best(hub, state);
        hub->memory.saved_version = hub->centre.version;
        recover_resume(hub, state->epoch);
        copy_centre(hub, saved,
                    state->merge && is_same_merge(hub, state->merge)
                        ? hub_slots(hub)
                        : 0);
        forget_turns(hub, hub->centre.chunk);
    }
    free(state);
    return status;
}

/* Of the same run the rule's state at the last save is nearer to what it was
 * than nothing: averaged steps grow over many rounds. */
static void keep_slots(const struct hub *hub, struct centre_chunk *chunks)
{
    if (hub->config.chunk_elements != hub->centre.transfer.chunk_elements)
        return;
    for (uint32_t i = 0; i < hub->centre.count; i++)
        for (unsigned j = 0; j < POLICY_SLOTS; j++)
            chunks[i].slot[j] = blob_ref(hub->centre.chunk[i].slot[j]);
}

/* What nodes hold is the centre now. */
static void take_transfer(struct hub *hub, const struct manifest *manifest)
{
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        struct centre_chunk *chunk = &hub->centre.chunk[i];

        chunk->theta = blob_ref(hub->centre.transfer.chunks[i]);
        chunk->version = chunk->since = hub->centre.version;
        chunk->changed = manifest_version(manifest, i);
        chunk->live = hub->centre.merged_live;
        chunk->usual = hub->centre.usual;
    }
}

enum status restore_transfer(struct hub *hub, const struct manifest *manifest,
                             const char *text, struct why *why)
{
    struct centre_chunk *chunks =
        need_memory(hub->centre.transfer.count, sizeof *chunks);
    struct saved saved;
    enum status status = saved_read(&saved, text, why);

    if (status == STATUS_OK)
        status = read_turns(hub, &saved, chunks, why);
    if (status == STATUS_OK)
        status = read_norm_history(hub, &saved, why);
    if (status == STATUS_OK)
        status = read_tasks(hub, &saved, why);
    if (status != STATUS_OK) {
        free(chunks);
        return status;
    }
    rollback_forget(hub);
    if (hub->memory.recovery.resumed)
        keep_slots(hub, chunks);
    else /* what it had was a run of its own */
        snapshot_unscored(hub);
    forget_turns(hub, chunks);
    centre_replace(hub, chunks);
    take_over(hub, &saved);
    take_transfer(hub, manifest);
    hub->memory.recovery.epoch = saved.epoch;
    hub->memory.recovery.version = saved.version;
    hub->memory.saved_version = hub->memory.scored_version = NO_VERSION;
    /* What is known is of the centre from the disk. */
    hub->memory.first_score = hub->next_job;
    hub->memory.score = NO_SCORE;
    hub->memory.accuracy = -1;
    hub->memory.error = 0;
    return STATUS_OK;
}
