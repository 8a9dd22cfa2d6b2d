/* The text that is saved with the centre: lines `key value ...`. Scores stand
 * in it twice: exactly, as bits, and for people. The line of the merge rule
 * says how many elements have merged how many updates, run by run:
 *
 *     merge NAME ELEMENTS TURN ELEMENTS TURN ...
 *
 * One run, unless updates were lost on their way chunk by chunk. `chunk`
 * is how many elements a chunk of the run has, whatever --chunk says; `live` is
 * how many nodes made the last round, `usual` how many there were of late, as
 * bits (hub/merge.c), `time` how many nanoseconds the run has
 * had a hub, `samples` how many it was trained on, `norms` what
 * hub/norm_history.h says; `first` is the first score of the run, as bits and
 * for people, if there was one. Where some tensors are statistics, run by run
 * how many are of which kind, from the first to the last:
 *
 *     kinds TENSORS KIND TENSORS KIND ...
 *
 * Of a node there are these lines, all but the first two only if they are true:
 *
 *     node UUID UUID INCARNATION MERGED NAME
 *     did ITERATION STEPS SAMPLES EXCHANGES UP DOWN
 *     parted EXCHANGE VERDICTS
 *     drained
 *     pinned
 *     quarantine LEFT TERM SINCE
 *
 * Of `did`, which an older release has not, ITERATION is as its process counts,
 * and the rest struct hub_moved; `left`, before all nodes, is the sum of those
 * that are listed no more.
 *
 * MERGED is its newest exchange that was merged as a whole, or in part and so
 * long ago that only its node knows which; `parted` are those that were not,
 * and may be thought to be, or are in part: a letter for each verdict, with the
 * number of chunks that have it if it is not 1; chunks that are not of its
 * fragment have that of those before them. An older exchange may be merged
 * later, as fragments do not wait for each other: so there may be many. Of the
 * last quarantine LEFT of TERM exchanges are to come, or SINCE were taken after
 * it (see hub/quarantine.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/saved.h"
#include "hub/state.h"

enum {
    TURN_RUNS = 1024, /* what is behind them counts as the last one */
    TURN_BYTES = 64 + TURN_RUNS * 42,
    NODE_BYTES = 448, /* of a node's lines, but for those of exchanges */
    KIND_BYTES = 8,   /* of a tensor */
    LENGTH_BYTES = 32 + NORM_SERIES * 21,
    STATE_BYTES = 512 + TURN_BYTES + LENGTH_BYTES + LEDGER_TEXT_BYTES
};

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Of each slot, as bits. */
static size_t print_lengths(const struct hub *hub, char *text, size_t size)
{
    uint32_t slots = hub->config.fragments > 1 ? hub->config.fragments + 1 : 1;
    size_t at = (size_t)snprintf(text, size, "lengths");

    for (uint32_t i = 0; i < slots && i < NORM_SERIES; i++)
        at += (size_t)snprintf(text + at, size - at, " %" PRIu64,
                               bits_of(norm_history_saved(hub, i)));
    return at + (size_t)snprintf(text + at, size - at, "\n");
}

void saved_merge(const struct hub *hub, char word[SAVED_MERGE_BYTES])
{
    const struct policy *policy = &hub->config.policy;

    (void)snprintf(word, SAVED_MERGE_BYTES, "%s%s", policy->merge->name,
                   policy->exchange == EXCHANGE_GRADIENT ? "/gradient" : "");
}

static size_t print_turns(const struct hub *hub, char *text, size_t size)
{
    char word[SAVED_MERGE_BYTES];
    uint32_t first = 0;
    size_t at;

    saved_merge(hub, word);
    at = (size_t)snprintf(text, size, "merge %s", word);

    for (unsigned runs = 1; first < hub->centre.count; runs++) {
        uint64_t turn = hub->centre.chunk[first].updates_before, elements = 0;

        while (first < hub->centre.count &&
               (runs == TURN_RUNS ||
                hub->centre.chunk[first].updates_before == turn))
            elements += chunk_length(hub->centre.schema->elements,
                                     hub->config.chunk_elements, first++);
        at += (size_t)snprintf(text + at, size - at, " %" PRIu64 " %" PRIu64,
                               elements, turn);
    }
    return at + (size_t)snprintf(text + at, size - at, "\n");
}

static size_t print_kinds(const struct schema *schema, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "kinds");

    for (unsigned first = 0, next; first < schema->count; first = next) {
        enum tensor_kind kind = schema->tensors[first].kind;

        for (next = first;
             next < schema->count && schema->tensors[next].kind == kind;)
            next++;
        at += (size_t)snprintf(text + at, size - at, " %u %d", next - first,
                               (int)kind);
    }
    return at + (size_t)snprintf(text + at, size - at, "\n");
}

static size_t room_of_kinds(const struct schema *schema)
{
    return schema->statistics.count ? KIND_BYTES * (size_t)schema->count : 0;
}

/* ---- exchanges that were not merged as a whole ---- */

enum {
    PARTS = MAX_REMEMBERED, /* lines of a node */
    PART_BYTES = 32         /* of each, without its chunks */
};

/* An exchange that a later one, or nothing, tells the fate of. */
struct part {
    const struct update *one;
    bool waits; /* nothing of it is in this version */
};

struct parts {
    unsigned count;
    struct part list[PARTS]; /* the newest ones, newest first */
};

static void parts_add(struct parts *parts, const struct update *one, bool waits)
{
    unsigned at = parts->count;

    while (at > 0 &&
           parts->list[at - 1].one->offer.exchange < one->offer.exchange)
        at--;
    if (at == PARTS)
        return;
    parts->count += parts->count < PARTS;
    memmove(&parts->list[at + 1], &parts->list[at],
            (parts->count - 1 - at) * sizeof *parts->list);
    parts->list[at] = (struct part){one, waits};
}

/* The newest exchange of which something was merged: its node takes all before
 * it for merged that it is not told of. */
static uint64_t newest_merged(const struct member *member)
{
    uint64_t newest = member->merged;

    for (unsigned i = 0; i < MAX_REMEMBERED; i++) {
        const struct update *one = member->remembered[i];

        if (one && one->incarnation == member->incarnation &&
            one->merged != one->foreign && one->offer.exchange > newest)
            newest = one->offer.exchange;
    }
    return newest;
}

static void parts_take(struct parts *parts, const struct member *member,
                       const struct update *one, uint64_t newest, bool waits)
{
    if (one && one->incarnation == member->incarnation &&
        one->offer.exchange <= newest)
        parts_add(parts, one, waits);
}

/* Of what waits in a round, or for one, nothing is in this version. */
static void parts_list(const struct member *member, struct parts *parts)
{
    uint64_t newest = newest_merged(member);

    parts->count = 0;
    for (unsigned i = 0; i < MAX_REMEMBERED; i++)
        parts_take(parts, member, member->remembered[i], newest, false);
    for (unsigned i = 0; i < member->waiting_count; i++)
        parts_take(parts, member, member->waiting[i], newest, true);
    for (const struct update *one = member->in_rounds; one; one = one->next)
        parts_take(parts, member, one, newest, true);
}

static enum verdict fate_of(const struct part *part, uint32_t chunk)
{
    return part->waits ? VERDICT_LOST : update_fate(part->one, chunk);
}

/* What was read from a saved state knows no fragment: all are its own. */
static bool is_own(const struct part *part, uint32_t chunk)
{
    return !part->one->part.stride || fragment_holds(part->one->part, chunk);
}

static size_t print_part(const struct hub *hub, const struct part *part,
                         char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "parted %" PRIu64 " ",
                                 part->one->offer.exchange);
    uint32_t own = part->one->part.first;

    for (uint32_t i = 0, first = 0; first < hub->centre.count; first = i) {
        enum verdict verdict = fate_of(part, first ? first : own);

        for (i = first + 1; i < hub->centre.count &&
                            (!is_own(part, i) || fate_of(part, i) == verdict);)
            i++;
        text[at++] = (char)('a' + verdict);
        if (i - first > 1)
            at += (size_t)snprintf(text + at, size - at, "%u", i - first);
    }
    return at + (size_t)snprintf(text + at, size - at, "\n");
}

static size_t print_parts(const struct hub *hub, const struct member *member,
                          char *text, size_t size)
{
    struct parts parts;
    size_t at = 0;

    parts_list(member, &parts);
    for (unsigned i = 0; i < parts.count; i++)
        at += print_part(hub, &parts.list[i], text + at, size - at);
    return at;
}

static size_t room_of_parts(const struct hub *hub, const struct member *member)
{
    struct parts parts;

    parts_list(member, &parts);
    return parts.count * (PART_BYTES + (size_t)hub->centre.count);
}

/* ---- the text ---- */

static size_t print_moved(const struct hub_moved *moved, char *text,
                          size_t size)
{
    return (size_t)snprintf(text, size,
                            " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                            " %" PRIu64 "\n",
                            moved->steps, moved->samples, moved->exchanges,
                            moved->up_bytes, moved->down_bytes);
}

static size_t print_node(const struct hub *hub, const struct member *member,
                         char *text, size_t size)
{
    const struct conduct *conduct = &member->conduct;
    const struct hub_moved moved = member_moved(member);
    size_t at = (size_t)snprintf(
        text, size,
        "node %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
        member->uuid_high, member->uuid_low, member->incarnation,
        member->merged, member->key, member->name);

    at += (size_t)snprintf(text + at, size - at, "did %" PRIu64,
                           member->iteration);
    at += print_moved(&moved, text + at, size - at);
    at += print_parts(hub, member, text + at, size - at);
    at += (size_t)snprintf(text + at, size - at, "%s%s",
                           member->drained ? "drained\n" : "",
                           hub->run.pinned == member->place ? "pinned\n" : "");
    if (conduct->term)
        at += (size_t)snprintf(
            text + at, size - at,
            "quarantine %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", conduct->left,
            conduct->term, quarantine_since(member));
    return at;
}

static size_t room_of_nodes(const struct hub *hub)
{
    size_t bytes = 0;

    EACH_MEMBER(hub, member)
        bytes += NODE_BYTES + room_of_parts(hub, member);
    return bytes;
}

struct blob *saved_write(struct hub *hub)
{
    size_t size =
        STATE_BYTES + room_of_nodes(hub) + room_of_kinds(hub->centre.schema);
    struct blob *blob = blob_need(hub->pool, size);
    char *text;
    size_t at;

    text = (char *)blob->bytes;
    at = (size_t)snprintf(
        text, size,
        "run %" PRIu64 "\nepoch %" PRIu64 "\nversion %" PRIu64
        "\nlineage %" PRIu64 "\nchunk %" PRIu32 "\nexact %" PRIu64 " %" PRIu64
        " %" PRIu64 " %d\nbest %" PRIu64 " %.9g\n",
        hub->config.run, hub->roll.epoch, hub->centre.version,
        hub->centre.lineage, hub->config.chunk_elements,
        bits_of(hub->memory.best_score), bits_of(hub->memory.best_measure),
        bits_of(hub->memory.best_accuracy), hub->config.evaluate != NULL,
        hub->memory.best_version, hub->memory.best_score);
    if (hub->memory.back.turned)
        at += (size_t)snprintf(text + at, size - at, "turned %" PRIu64 "\n",
                               hub->memory.back.turned);
    if (score_known(hub->memory.first))
        at += (size_t)snprintf(text + at, size - at, "first %" PRIu64 " %.9g\n",
                               bits_of(hub->memory.first), hub->memory.first);
    at += print_turns(hub, text + at, size - at);
    at += (size_t)snprintf(text + at, size - at,
                           "live %" PRIu64 "\nusual %" PRIu64 "\ntime %" PRIu64
                           "\nsamples %" PRIu64 "\nleft",
                           (uint64_t)hub->centre.merged_live,
                           bits_of(hub->centre.usual), (uint64_t)hub_time(hub),
                           hub->rounds.samples);
    at += print_moved(&hub->run.left, text + at, size - at);
    if (hub->centre.schema->statistics.count)
        at += print_kinds(hub->centre.schema, text + at, size - at);
    at += print_lengths(hub, text + at, size - at);
    if (hub->run.ledger.parts)
        at += ledger_print(&hub->run.ledger, text + at, size - at);
    EACH_MEMBER(hub, member)
        if (member->state != MEMBER_NOBODY)
            at += print_node(hub, member, text + at, size - at);
    blob->size = at;
    return blob;
}

/* ---- read again ---- */

bool saved_number(const char **text, const char *key, uint64_t *out)
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

static bool is_line(const char *text, const char *word)
{
    size_t length = strlen(word);

    return strncmp(text, word, length) == 0 && text[length] == '\n';
}

/* A line that begins with `key`, if there is one: a number that is `first`'s,
 * where that is one, and those of print_moved. */
static void read_moved(const char **text, const char *key, uint64_t *first,
                       struct hub_moved *out)
{
    uint64_t *to[] = {first,           &out->steps,    &out->samples,
                      &out->exchanges, &out->up_bytes, &out->down_bytes};
    unsigned i = first ? 0 : 1;

    if (!saved_number(text, key, to[i]))
        return;
    while (++i < sizeof to / sizeof *to && saved_number(text, "", to[i]))
        continue;
    next_line(text);
}

static bool read_part(const char **text, struct saved_part *part)
{
    const char *at = *text;

    if (!saved_number(&at, "parted", &part->exchange) || *at++ != ' ')
        return false;
    part->verdicts = at;
    at += strspn(at, "0123456789abcdefghijklmnopqrstuvwxyz");
    if (*at++ != '\n')
        return false;
    *text = at;
    return true;
}

bool saved_next_verdict(const char **text, enum verdict *verdict,
                        uint64_t *count)
{
    unsigned letter = (unsigned)(unsigned char)**text - 'a';

    if (letter >= VERDICT_COUNT)
        return false;
    *verdict = (enum verdict)letter;
    ++*text;
    if (!saved_number(text, "", count))
        *count = 1;
    return true;
}

void saved_next_part(const char **text, struct saved_part *part)
{
    if (!read_part(text, part))
        abort();
}

/* False: there is such a line, and it makes no sense. */
static bool read_quarantine(const char **text, struct saved_node *node)
{
    static const char key[] = "quarantine ";

    if (strncmp(*text, key, sizeof key - 1) != 0)
        return true;
    if (!saved_number(text, key, &node->left) ||
        !saved_number(text, "", &node->term) ||
        !saved_number(text, "", &node->since) || **text != '\n')
        return false;
    ++*text;
    return node->term > 0 && node->term <= TERM_MOST &&
           node->left <= node->term;
}

bool saved_next_node(const char **text, struct saved_node *node)
{
    const char *at = *text;
    struct saved_part part;

    *node = (struct saved_node){0};
    if (!saved_number(&at, "node", &node->high) ||
        !saved_number(&at, "", &node->low) ||
        !saved_number(&at, "", &node->incarnation) ||
        !saved_number(&at, "", &node->merged) ||
        !saved_number(&at, "", &node->key) || *at++ != ' ')
        return false;
    node->name = at;
    next_line(&at);
    read_moved(&at, "did", &node->iteration, &node->did);
    node->parted = at;
    while (read_part(&at, &part))
        node->parts++;
    node->drained = is_line(at, "drained");
    if (node->drained)
        next_line(&at);
    node->pinned = is_line(at, "pinned");
    if (node->pinned)
        next_line(&at);
    if (!read_quarantine(&at, node))
        return false;
    *text = at;
    return true;
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
    uint64_t score, measure, accuracy, chunk;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!saved_number(text, rows[i].key, rows[i].to))
            return false;
        next_line(text);
    }
    if (!saved_number(text, "chunk", &chunk) || chunk > UINT32_MAX)
        return false;
    next_line(text);
    saved->chunk_elements = (uint32_t)chunk;
    if (!saved_number(text, "exact", &score) ||
        !saved_number(text, "", &measure) || !saved_number(text, "", &accuracy))
        return false;
    if (!saved_number(text, "", &saved->tested))
        saved->tested = SAVED_UNTOLD;
    next_line(text);
    if (!saved_number(text, "best", &saved->best_version))
        return false;
    next_line(text);
    memcpy(&saved->best_score, &score, sizeof score);
    memcpy(&saved->best_measure, &measure, sizeof measure);
    memcpy(&saved->best_accuracy, &accuracy, sizeof accuracy);
    return true;
}

/* A number as bits; what the state of an older release does not say is
 * `unknown`. */
static double read_bits(const char **text, const char *key, double unknown)
{
    uint64_t bits;
    double number;

    if (!saved_number(text, key, &bits))
        return unknown;
    next_line(text);
    memcpy(&number, &bits, sizeof number);
    return number;
}

static double read_first(const char **text)
{
    double score = read_bits(text, "first", NO_SCORE);

    return score_known(score) ? score : NO_SCORE;
}

enum status saved_read(struct saved *saved, const char *text, struct why *why)
{
    struct saved_node node;

    *saved = (struct saved){0};
    if (!read_head(saved, &text))
        return because(why, STATUS_MALFORMED,
                       "the saved state is damaged: take another --directory");
    if (saved_number(&text, "turned", &saved->turned))
        next_line(&text);
    saved->first_score = read_first(&text);
    if (strncmp(text, "merge ", 6) == 0) {
        saved->merge = text;
        next_line(&text);
    }
    if (saved_number(&text, "live", &saved->live))
        next_line(&text);
    saved->usual = read_bits(&text, "usual", 0);
    if (saved_number(&text, "time", &saved->time))
        next_line(&text);
    if (saved_number(&text, "samples", &saved->samples))
        next_line(&text);
    read_moved(&text, "left", NULL, &saved->left);
    if (strncmp(text, "kinds ", 6) == 0) {
        saved->kinds = text;
        next_line(&text);
    }
    if (strncmp(text, "lengths ", 8) == 0) {
        saved->norms = text;
        next_line(&text);
    }
    if (strncmp(text, "tasks ", 6) == 0) {
        saved->tasks = text;
        next_line(&text);
    }
    saved->nodes = text;
    for (unsigned i = 0; *text; i++) {
        if (i == HUB_MAX_NODES || !saved_next_node(&text, &node))
            return because(why, STATUS_MALFORMED,
                           "the saved list of nodes is damaged");
    }
    return STATUS_OK;
}

static bool read_kinds(const char *text, const struct schema *plain,
                       struct schema *schema, struct why *why)
{
    uint64_t count, kind;

    text += strlen("kinds");
    while (*text == ' ' && saved_number(&text, " ", &count) &&
           saved_number(&text, " ", &kind) && kind < TENSOR_KINDS &&
           count <= plain->count - schema->count)
        for (; count; count--) {
            struct tensor tensor = plain->tensors[schema->count];

            tensor.kind = (enum tensor_kind)kind;
            if (schema_add_tensor(schema, &tensor, why) != STATUS_OK)
                return false;
        }
    return *text == '\n' && schema->count == plain->count;
}

struct schema *saved_schema(const struct saved *saved,
                            const struct schema *plain, struct why *why)
{
    struct schema *schema = schema_new();

    if (!schema)
        abort();
    if (!read_kinds(saved->kinds, plain, schema, why)) {
        (void)because(why, STATUS_MALFORMED,
                      "the saved kinds of tensors are damaged");
        schema_destroy(&schema);
    }
    return schema;
}
