/* The text that is saved with the centre: lines `key value ...`. Scores stand
 * in it twice: exactly, as bits, and for people. The line of the merge rule
 * says how many elements have merged how many contributions, run by run:
 *
 *     merge NAME ELEMENTS TURN ELEMENTS TURN ...
 *
 * One run, unless contributions were lost on their way chunk by chunk. It
 * counts elements, so that a hub with another --chunk can read it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/state.h"

enum {
    TURN_RUNS = 1024, /* what is behind them counts as the last one */
    TURN_BYTES = 64 + TURN_RUNS * 42,
    NODE_BYTES = 160, /* of a node's line */
    STATE_BYTES = 256 + TURN_BYTES + LEDGER_TEXT_BYTES /* of all others */
};

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static size_t print_turns(const struct hub *hub, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "merge %s",
                                 hub->config.policy.merge->name);
    uint32_t first = 0;

    for (unsigned runs = 1; first < hub->chunks; runs++) {
        uint64_t turn = hub->centre[first].turn, elements = 0;

        while (first < hub->chunks &&
               (runs == TURN_RUNS || hub->centre[first].turn == turn))
            elements += chunk_length(hub->schema->elements,
                                     hub->config.chunk_elements, first++);
        at += (size_t)snprintf(text + at, size - at,
                               " %" PRIu64 " %" PRIu64, elements, turn);
    }
    return at + (size_t)snprintf(text + at, size - at, "\n");
}

struct blob *saved_write(struct hub *hub)
{
    size_t size =
        STATE_BYTES + (size_t)hub->member_count * (size_t)NODE_BYTES;
    struct blob *blob = blob_new(hub->pool, size);
    char *text;
    size_t at;

    if (!blob)
        abort();
    text = (char *)blob->bytes;
    at = (size_t)snprintf(
        text, size,
        "run %" PRIu64 "\nepoch %" PRIu64 "\nversion %" PRIu64
        "\nlineage %" PRIu64 "\nexact %" PRIu64 " %" PRIu64 " %" PRIu64
        "\nbest %" PRIu64 " %.9g\n",
        hub->config.run, hub->epoch, hub->version, hub->lineage,
        bits_of(hub->best_score), bits_of(hub->best_measure),
        bits_of(hub->best_accuracy), hub->best_version, hub->best_score);
    if (hub->back.turned)
        at += (size_t)snprintf(text + at, size - at,
                               "turned %" PRIu64 "\n", hub->back.turned);
    at += print_turns(hub, text + at, size - at);
    if (hub->ledger.parts)
        at += ledger_print(&hub->ledger, text + at, size - at);
    for (int i = 0; i < hub->member_count; i++) {
        const struct member *member = hub->members[i];

        if (member->used)
            at += (size_t)snprintf(
                text + at, size - at,
                "node %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                " %" PRIu64 " %s\n",
                member->uuid_high, member->uuid_low, member->incarnation,
                member->merged, member->key, member->name);
    }
    blob->size = at;
    return blob;
}

/* What the text says, until all of it makes sense. */
struct saved {
    uint64_t run, epoch, version, lineage, best_version, turned;
    double best_score, best_measure, best_accuracy;
    const char *merge; /* the merge rule's line, or NULL; in the text */
    const char *tasks; /* the ledger's line, or NULL; in the text */
    const char *nodes; /* a line of each; in the text */
};

/* Reads the word `key`, if there is one, and a number behind it. */
static bool read_number(const char **text, const char *key, uint64_t *out)
{
    size_t length = strlen(key);
    char *end;

    if (strncmp(*text, key, length) != 0)
        return false;
    *text += length;
    if (**text == ' ')
        ++*text;
    if (**text < '0' || **text > '9')
        return false;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return true;
}

static void next_line(const char **text)
{
    *text += strcspn(*text, "\n");
    *text += **text == '\n';
}

/* What a line says of a node. */
struct saved_node {
    uint64_t high, low, incarnation, merged, key;
    const char *name; /* up to the end of the line */
};

static bool read_node(struct saved_node *node, const char *line)
{
    if (!read_number(&line, "node", &node->high) ||
        !read_number(&line, "", &node->low) ||
        !read_number(&line, "", &node->incarnation) ||
        !read_number(&line, "", &node->merged) ||
        !read_number(&line, "", &node->key) || *line++ != ' ')
        return false;
    node->name = line;
    return true;
}

/* All lines have been read before. */
static void take_nodes(struct hub *hub, const char *text)
{
    struct saved_node node;

    for (; *text && read_node(&node, text); next_line(&text)) {
        struct member *member = member_add(hub);

        member_name_is(hub, member, node.high, node.low);
        (void)snprintf(member->name, sizeof member->name, "%.*s",
                       (int)strcspn(node.name, "\n"), node.name);
        member->incarnation = node.incarnation;
        member->key = node.key;
        member->last_exchange = member->merged = node.merged;
        member->stats.loss = NO_SCORE;
        member->stats.accuracy = -1;
        member_recount(hub, member);
    }
}

static bool read_head(struct saved *saved, const char **text)
{
    struct {
        const char *key;
        uint64_t *to;
    } rows[] = {{"run", &saved->run},
                {"epoch", &saved->epoch},
                {"version", &saved->version},
                {"lineage", &saved->lineage}};
    uint64_t score, measure, accuracy;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!read_number(text, rows[i].key, rows[i].to))
            return false;
        next_line(text);
    }
    if (!read_number(text, "exact", &score) ||
        !read_number(text, "", &measure) || !read_number(text, "", &accuracy))
        return false;
    next_line(text);
    if (!read_number(text, "best", &saved->best_version))
        return false;
    next_line(text);
    memcpy(&saved->best_score, &score, sizeof score);
    memcpy(&saved->best_measure, &measure, sizeof measure);
    memcpy(&saved->best_accuracy, &accuracy, sizeof accuracy);
    return true;
}

static enum status read_state(struct saved *saved, const char *text,
                              struct why *why)
{
    struct saved_node node;

    if (!read_head(saved, &text))
        return because(why, STATUS_MALFORMED,
                       "the saved state is damaged: take another --directory");
    if (read_number(&text, "turned", &saved->turned))
        next_line(&text);
    if (strncmp(text, "merge ", 6) == 0) {
        saved->merge = text;
        next_line(&text);
    }
    if (strncmp(text, "tasks ", 6) == 0) {
        saved->tasks = text;
        next_line(&text);
    }
    saved->nodes = text;
    for (unsigned i = 0; *text; i++) {
        if (i == HUB_MAX_NODES || !read_node(&node, text))
            return because(why, STATUS_MALFORMED,
                           "the saved list of nodes is damaged");
        next_line(&text);
    }
    return STATUS_OK;
}

/* A run that had no tasks may have them from now on, not the other way. */
static enum status read_tasks(struct hub *hub, const struct saved *saved,
                              struct why *why)
{
    if (!saved->tasks || ledger_read(&hub->ledger, saved->tasks))
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "the saved list of tasks is damaged, or of another number "
                   "of them than --tasks %u",
                   hub->ledger.parts);
}

/* Whether the line is of the merge rule in force: what another one has kept
 * means something else. */
static bool is_same_merge(const struct hub *hub, const char *line)
{
    const char *name = hub->config.policy.merge->name;
    size_t length = strlen(name);

    line += strlen("merge ");
    return strncmp(line, name, length) == 0 && line[length] == ' ';
}

/* Takes the turns of the chunks: that of its first element is a chunk's. */
static enum status read_turns(struct hub *hub, const struct saved *saved,
                              struct why *why)
{
    const char *text = saved->merge;
    uint64_t first = 0, elements, turn;
    uint32_t chunk = 0;

    if (!text)
        return STATUS_OK;
    text += strlen("merge ");
    text += strcspn(text, " \n");
    while (*text == ' ' && read_number(&text, " ", &elements) &&
           read_number(&text, " ", &turn) &&
           elements <= hub->schema->elements - first) {
        first += elements;
        for (; chunk < hub->chunks &&
               (uint64_t)chunk * hub->config.chunk_elements < first;
             chunk++)
            hub->centre[chunk].turn = turn;
    }
    if (first == hub->schema->elements && *text == '\n')
        return STATUS_OK;
    return because(why, STATUS_MALFORMED,
                   "the saved line of the merge rule is damaged");
}

static void take_over(struct hub *hub, const struct saved *saved)
{
    hub->config.run = saved->run;
    hub->epoch = saved->epoch + 1;
    hub->version = hub->rounds_done = hub->saved_version = saved->version;
    hub->lineage = saved->lineage;
    hub->back.turned = saved->turned;
    hub->best_version = saved->best_version;
    hub->best_score = saved->best_score;
    hub->best_measure = saved->best_measure;
    hub->best_accuracy = saved->best_accuracy;
    take_nodes(hub, saved->nodes);
}

static struct blob *copy_chunk(struct hub *hub, const float *values,
                               uint32_t chunk)
{
    uint32_t length = hub->config.chunk_elements;
    size_t count = chunk_length(hub->schema->elements, length, chunk);
    struct blob *blob = blob_new(hub->pool, count * sizeof *values);

    if (!blob)
        abort();
    memcpy(blob->bytes, values + (size_t)chunk * length,
           count * sizeof *values);
    blob_seal(blob);
    return blob;
}

static void copy_centre(struct hub *hub, const struct hub_saved *saved,
                        unsigned planes)
{
    for (uint32_t i = 0; i < hub->chunks; i++) {
        struct centre_chunk *chunk = &hub->centre[i];

        chunk->theta = copy_chunk(hub, saved->theta, i);
        chunk->version = hub->version;
        for (unsigned plane = 0; plane < planes; plane++)
            if (saved->plane[plane])
                chunk->plane[plane] =
                    copy_chunk(hub, saved->plane[plane], i);
    }
    hub->founded = true;
    hub->contest = false;
    hub->policy = &hub->config.policy;
}

enum status hub_restore(struct hub *hub, const struct hub_saved *saved,
                        struct why *why)
{
    char text[SCHEMA_MAX_TEXT_BYTES];
    size_t size = schema_print(saved->schema, text, sizeof text);
    struct saved *state = calloc(1, sizeof *state);
    enum status status;

    if (!state)
        abort();
    status = read_state(state, saved->state, why);
    if (status == STATUS_OK)
        status = centre_shape(hub, text, size, why);
    if (status == STATUS_OK)
        status = read_turns(hub, state, why);
    if (status == STATUS_OK)
        status = read_tasks(hub, state, why);
    if (status == STATUS_OK) {
        take_over(hub, state);
        copy_centre(hub, saved,
                    state->merge && is_same_merge(hub, state->merge)
                        ? hub_planes(hub)
                        : 0);
    }
    free(state);
    return status;
}
