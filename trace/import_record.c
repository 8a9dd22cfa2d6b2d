/* A hub's recording, the transcript of what it was told and did
 * (seam/trace.h): who joined when, offers, chunks each way, answers, and what
 * PING says. Of the network it gives a node's delay, half of each round trip,
 * and the rates that its chunks have reached, which are at most those of the
 * link; of the trainer the time of an iteration, as PING tells its rate.
 *
 * All that is not asked for here is passed over, so that a recording may have
 * more kinds of messages and fields than were known when this was written. */
#include <stdlib.h>
#include <string.h>

#include "trace/importing.h"
#include "trace/lines.h"
#include "trace/recorded.h"

/* What a message is made of, beside its kind. */
struct fields {
    unsigned long line;
    uint64_t peer;
    const char *text;
};

static enum status lacks(const struct fields *fields, const char *what,
                         struct why *why)
{
    return because(why, STATUS_MALFORMED, "line %lu: the message has no %s: it "
                   "is damaged, or of a newer hub", fields->line, what);
}

/* What is behind "name=", or NULL. */
static const char *field(const struct fields *fields, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = fields->text; (at = strstr(at, name)) != NULL;
         at += length)
        if ((at == fields->text || at[-1] == ' ') && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static bool read_count(const struct fields *fields, const char *name,
                       uint64_t *out)
{
    const char *at = field(fields, name);

    return at && line_digits(&at, out);
}

/* Rounds number * 10^power. */
static bool read_rounded(const struct fields *fields, const char *name,
                         int power, int64_t *out)
{
    const char *at = field(fields, name);
    struct decimal decimal;

    return at && decimal_read(&at, &decimal) &&
           trace_round(decimal, power, out);
}

/* The payload's size, "[1024 3f...]" at the end. */
static bool read_payload(const struct fields *fields, uint64_t *out)
{
    const char *at = strrchr(fields->text, '[');

    at = at ? at + 1 : NULL;
    return at && line_digits(&at, out) && (*at == ' ' || *at == ']') &&
           strchr(at, ']') && *out < UINT64_C(1) << 40;
}

/* A name as a trace may have it: one word. */
static bool read_name(const struct fields *fields,
                      char name[TRACE_NAME_BYTES])
{
    const char *at = field(fields, "name");
    size_t length = 0;

    if (!at || *at++ != '"')
        return false;
    for (; *at && *at != '"'; at++)
        if (length + 2 < TRACE_NAME_BYTES) {
            bool plain = (unsigned char)*at > ' ' && *at != 0x7f &&
                         *at != '\\' && (length > 0 || *at != '#');

            name[length++] = *at;
            if (!plain)
                name[length - 1] = '_';
        }
    name[length] = '\0';
    if (!length || strcmp(name, TRACE_ALL) == 0 || strcmp(name, TRACE_HUB) == 0)
        memcpy(name + length, "_", sizeof "_");
    return *at == '"';
}

/* The node that a message is of, or NULL: it has not been taken in. */
static struct recorded_node *node_of(const struct recorded *of,
                                     const struct fields *fields)
{
    const struct recorded_peer *peer = recorded_peer(of, fields->peer);

    return peer && of->nodes[peer->node].track ? &of->nodes[peer->node] : NULL;
}

/* ---- messages, to the hub and from it ---- */

static enum status take_hello(struct recorded *of, struct fields *fields,
                              struct why *why)
{
    char name[TRACE_NAME_BYTES];
    unsigned node = 0;
    enum status status;

    if (!read_name(fields, name))
        return lacks(fields, "name", why);
    status = recorded_node(of, name, &node, why);
    if (status == STATUS_OK)
        status = recorded_add_peer(of, fields->peer, node, true, why);
    return status;
}

static enum status take_welcome(struct recorded *of, struct fields *fields,
                                struct why *why)
{
    const struct recorded_peer *peer = recorded_peer(of, fields->peer);
    uint64_t session;

    if (!peer)
        return STATUS_OK;
    if (!read_count(fields, "session", &session))
        return lacks(fields, "session", why);
    return recorded_join(of, &of->nodes[peer->node], session, why);
}

static enum status take_attach(struct recorded *of, struct fields *fields,
                               struct why *why)
{
    uint64_t session;

    if (!read_count(fields, "session", &session))
        return lacks(fields, "session", why);
    for (unsigned i = 0; i < of->node_count; i++)
        if (of->nodes[i].here && of->nodes[i].session == session)
            return recorded_add_peer(of, fields->peer, i, false, why);
    return STATUS_OK;
}

static enum status take_offer(struct recorded *of, struct fields *fields,
                              struct why *why)
{
    struct recorded_node *node = node_of(of, fields);
    uint64_t exchange, iteration;

    if (!node)
        return STATUS_OK;
    if (!read_count(fields, "exchange", &exchange) ||
        !read_count(fields, "iteration", &iteration))
        return lacks(fields, "exchange or iteration", why);
    return recorded_happens(of, node, TRACED_OFFER, exchange, iteration, why);
}

static enum status take_chunk(struct recorded *of, struct fields *fields,
                              struct why *why)
{
    struct recorded_node *node = node_of(of, fields);
    uint64_t exchange, bytes;

    if (!node)
        return STATUS_OK;
    if (!read_count(fields, "exchange", &exchange) ||
        !read_payload(fields, &bytes))
        return lacks(fields, "exchange or payload", why);
    return recorded_upload(of, node, exchange, bytes, why);
}

static enum status take_result(struct recorded *of, struct fields *fields,
                               struct why *why)
{
    struct recorded_node *node = node_of(of, fields);
    uint64_t exchange, version, bytes;

    if (!node)
        return STATUS_OK;
    if (!read_count(fields, "exchange", &exchange) ||
        !read_count(fields, "version", &version) ||
        !read_payload(fields, &bytes))
        return lacks(fields, "exchange, version or payload", why);
    return recorded_download(of, node, exchange, version, bytes, why);
}

static enum status take_credit(struct recorded *of, struct fields *fields,
                               struct why *why)
{
    struct recorded_node *node = node_of(of, fields);
    uint64_t exchange, bytes;

    if (!node)
        return STATUS_OK;
    if (!read_count(fields, "exchange", &exchange) ||
        !read_count(fields, "more", &bytes))
        return lacks(fields, "exchange or more", why);
    if (bytes <= (uint64_t)1 << 40)
        recorded_credit(of, node, exchange, bytes);
    return STATUS_OK;
}

static enum status take_ping(struct recorded *of, struct fields *fields,
                             struct why *why)
{
    struct recorded_node *node = node_of(of, fields);
    struct recorded_ping ping;

    if (!node)
        return STATUS_OK;
    if (!read_rounded(fields, "round_trip", 0, &ping.round_trip) ||
        !read_rounded(fields, "waited", 0, &ping.waited) ||
        !read_rounded(fields, "rate", 9, &ping.rate) ||
        !read_count(fields, "iteration", &ping.iteration))
        return lacks(fields, "round_trip, waited, rate or iteration", why);
    return recorded_ping(of, node, &ping, why);
}

static const struct {
    const char *name;
    bool to_hub;
    enum status (*take)(struct recorded *of, struct fields *fields,
                        struct why *why);
} messages[] = {
    {"hello", true, take_hello},     {"attach", true, take_attach},
    {"offer", true, take_offer},     {"chunk", true, take_chunk},
    {"credit", true, take_credit},   {"ping", true, take_ping},
    {"welcome", false, take_welcome}, {"result", false, take_result},
};

/* ---- lines ---- */

static enum status take_message(struct recorded *of, unsigned long line,
                                char *rest, bool to_hub, struct why *why)
{
    struct fields fields = {.line = line};
    const char *peer = line_word(&rest), *kind = line_word(&rest);

    if (!peer || !line_number(peer, &fields.peer) || !kind)
        return because(why, STATUS_MALFORMED, "line %lu: a message without its "
                       "peer or kind: the recording is damaged", line);
    fields.text = rest;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (messages[i].to_hub == to_hub && strcmp(messages[i].name, kind) == 0)
            return messages[i].take(of, &fields, why);
    return STATUS_OK;
}

static enum status take_leave(struct recorded *of, unsigned long line,
                              char *rest, struct why *why)
{
    char *word = line_word(&rest);
    const struct recorded_peer *peer;
    enum status status = STATUS_OK;
    uint64_t id;

    if (!word || !line_number(word, &id))
        return because(why, STATUS_MALFORMED, "line %lu: nobody leaves: the "
                       "recording is damaged", line);
    peer = recorded_peer(of, id);
    if (peer && peer->control)
        status = recorded_leave(of, &of->nodes[peer->node], why);
    recorded_forget_peer(of, id);
    return status;
}

static enum status take_time(struct recorded *of, unsigned long line,
                             const char *word, struct why *why)
{
    char room[SHOWN_BYTES];
    const char *at = word ? word : "";
    struct decimal decimal;
    nanos time = 0;

    if (!decimal_read(&at, &decimal) || *at || !trace_round(decimal, 9, &time))
        return because(why, STATUS_MALFORMED, "line %lu: '%s' is no time: the "
                       "recording is damaged", line,
                       line_shown(word ? word : "", room));
    if (!of->begun)
        of->first = time;
    of->begun = true;
    if (time - of->first < of->now)
        return because(why, STATUS_MALFORMED, "line %lu: the time goes back: "
                       "cut the recording there", line);
    of->now = time - of->first;
    return STATUS_OK;
}

/* "seconds kind ...", or an effect of the event before, behind two blanks. */
static enum status take_event(struct recorded *of, struct line *line,
                              struct why *why)
{
    static const char *const others[] = {"join", "wake", "done"};
    char room[SHOWN_BYTES], *rest = line->text, *word;
    bool effect = strncmp(rest, "  ", 2) == 0;
    enum status status = STATUS_OK;

    if (!of->begun && strncmp(rest, "set ", 4) == 0)
        return STATUS_OK; /* the hub's settings: show/record.h */
    word = line_word(&rest);
    if (effect)
        return word && strcmp(word, "send") == 0
                   ? take_message(of, line->number, rest, false, why)
                   : STATUS_OK;
    status = take_time(of, line->number, word, why);
    if (status != STATUS_OK)
        return status;
    word = line_word(&rest);
    if (word && strcmp(word, "message") == 0)
        return take_message(of, line->number, rest, true, why);
    if (word && strcmp(word, "leave") == 0)
        return take_leave(of, line->number, rest, why);
    for (size_t i = 0; word && i < sizeof others / sizeof *others; i++)
        if (strcmp(word, others[i]) == 0)
            return STATUS_OK;
    return because(why, STATUS_MALFORMED, "line %lu: '%s' is no event of a "
                   "hub: the recording is damaged", line->number,
                   line_shown(word ? word : "", room));
}

static enum status take_title(const struct line *line, struct why *why)
{
    if (strcmp(line->text, "starswitch-record 1 hub") == 0)
        return STATUS_OK;
    return because(why, STATUS_MALFORMED, "line 1 is not 'starswitch-record 1 "
                   "hub': this is no recording that starswitch-hub --record "
                   "has made");
}

static enum status take_line(void *of, struct line *line, struct why *why)
{
    struct why reason = {""};
    enum status status = line->number == 1 ? take_title(line, &reason)
                                           : take_event(of, line, &reason);

    if (status == STATUS_OK)
        return status;
    if (status == STATUS_CONFIG)
        return because(why, status, "line %lu: %s", line->number, reason.text);
    return because(why, status, "%s", reason.text);
}

static enum status take_all(struct recorded *of, struct lines *lines,
                            struct why *why)
{
    enum status status = lines_each(lines, take_line, of, why);

    if (status != STATUS_OK)
        return status;
    if (!of->trace->items)
        return because(why, STATUS_MALFORMED, "line %lu: the recording ends "
                       "before a node has joined", lines->number);
    for (unsigned i = 0; i < of->node_count; i++) {
        status = recorded_close(of, &of->nodes[i], why);
        if (status != STATUS_OK)
            return status;
    }
    trace_set_span(of->trace, of->now + 1);
    return STATUS_OK;
}

enum status import_record(const char *text, size_t size,
                          const struct import_options *options,
                          struct trace **out, struct why *why)
{
    struct recorded of = {.trace = trace_new()};
    struct importing importing = {.trace = of.trace, .options = options};
    struct lines lines = lines_of(text, size);
    enum status status;

    of.nodes = calloc(RECORDED_NODES, sizeof *of.nodes);
    of.peers = calloc(RECORDED_PEERS, sizeof *of.peers);
    if (!of.trace || !of.nodes || !of.peers)
        status = because(why, STATUS_NO_MEMORY, "no memory for the trace");
    else
        status = take_all(&of, &lines, why);
    free(of.nodes);
    free(of.peers);
    return importing_end(&importing, status, out);
}
