/* A recording, the transcript of what a hub or a node was told and did
 * (seam/transcript.h, record/record.h), line by line; what is taken of it is
 * recorded_hub.c and recorded_node.c. Of the network it gives a node's delay,
 * half of each round trip, and rates that its chunks have reached; of the
 * trainer the time of an iteration; and scores.
 *
 * All that is not asked for here is passed over, so that a recording may have
 * more kinds of messages and fields than were known when this was written. */
#include <stdlib.h>
#include <string.h>

#include "sim/trace/importing.h"
#include "sim/trace/lines.h"
#include "sim/trace/recorded.h"

static enum status take_message(struct recorded *of, unsigned long line,
                                char *rest, bool received, struct why *why)
{
    struct fields fields = {.line = line};
    const char *peer = line_word(&rest), *kind = line_word(&rest);

    if (!peer || !line_number(peer, &fields.peer) || !kind)
        return because(why, STATUS_MALFORMED,
                       "line %lu: a message without its "
                       "peer or kind: the recording is damaged",
                       line);
    fields.text = rest;
    for (const struct recorded_message *row = of->messages; row->name; row++)
        if (row->received == received && strcmp(row->name, kind) == 0)
            return row->take(of, &fields, why);
    return STATUS_OK;
}

static enum status take_leave(struct recorded *of, unsigned long line,
                              char *rest, struct why *why)
{
    char *word = line_word(&rest);
    const struct recorded_peer *peer;
    struct recorded_node *node;
    enum status status = STATUS_OK;
    uint64_t id;

    if (!word || !line_number(word, &id))
        return because(why, STATUS_MALFORMED,
                       "line %lu: nobody leaves: the "
                       "recording is damaged",
                       line);
    peer = recorded_peer(of, id);
    node = peer ? &of->nodes[peer->node] : NULL;
    if (node && node->control == id) /* it has not come back by another one */
        status = recorded_leave(of, node, why);
    if (!of->of_node)
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
        return because(why, STATUS_MALFORMED,
                       "line %lu: '%s' is no time: the "
                       "recording is damaged",
                       line, line_shown(word ? word : "", room));
    if (!of->begun)
        of->first = time;
    of->begun = true;
    if (time - of->first < of->now)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the time goes back: "
                       "cut the recording there",
                       line);
    of->now = time - of->first;
    return STATUS_OK;
}

/* centre_scored "" "version 5: loss 0.25, ...": the centre's score is said to
 * people only. */
static enum status take_note(struct recorded *of, char *rest, struct why *why)
{
    static const char before[] = ": loss ";
    const char *word = line_word(&rest), *at;
    struct decimal decimal;
    int64_t score;

    if (!word || strcmp(word, "centre_scored") != 0)
        return STATUS_OK;
    at = strstr(rest, before);
    at = at ? at + strlen(before) : "";
    if (!decimal_read(&at, &decimal) || !trace_round(decimal, 9, &score))
        return STATUS_OK; /* scoring has failed */
    return recorded_value(of, &of->trace->hub, QUANTITY_SCORE, of->now, score,
                          why);
}

/* What the machine did: only messages and scores are of interest. */
static enum status take_effect(struct recorded *of, unsigned long line,
                               char *rest, struct why *why)
{
    const char *word = line_word(&rest);

    if (word && strcmp(word, "send") == 0)
        return take_message(of, line, rest, false, why);
    if (word && strcmp(word, "note") == 0)
        return take_note(of, rest, why);
    return STATUS_OK;
}

/* "seconds kind ..." */
static enum status take_event(struct recorded *of, unsigned long line,
                              char *rest, struct why *why)
{
    static const char *const others[] = {"join", "wake", "done"};
    char room[SHOWN_BYTES];
    const char *word = line_word(&rest);
    enum status status = take_time(of, line, word, why);

    if (status != STATUS_OK)
        return status;
    word = line_word(&rest);
    if (!word)
        word = "";
    if (strcmp(word, "message") == 0)
        return take_message(of, line, rest, true, why);
    if (strcmp(word, "leave") == 0)
        return take_leave(of, line, rest, why);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(word, others[i]) == 0)
            return STATUS_OK;
    return because(why, STATUS_MALFORMED,
                   "line %lu: '%s' is no event: the "
                   "recording is damaged",
                   line, line_shown(word, room));
}

static enum status take_title(struct recorded *of, struct line *line,
                              struct why *why)
{
    const char *node = line_after(line->text, "starswitch-record 1 node ");
    struct fields fields = {.line = line->number, .text = node};

    if (strcmp(line->text, "starswitch-record 1 hub") == 0)
        return STATUS_OK;
    if (node)
        return recorded_begin_node(of, &fields, why);
    return because(why, STATUS_MALFORMED,
                   "line 1 is not 'starswitch-record 1 "
                   "hub' or '... node': this is no recording that "
                   "starswitch-hub or starswitch-node has made (--record)");
}

/* The title; one of the hub's settings (record/record.h); an effect, behind two
 * blanks, of the event before; or an event. */
static enum status take_any(struct recorded *of, struct line *line,
                            struct why *why)
{
    if (line->number == 1)
        return take_title(of, line, why);
    if (!of->begun && strncmp(line->text, "set ", 4) == 0)
        return STATUS_OK;
    if (strncmp(line->text, "  ", 2) == 0)
        return take_effect(of, line->number, line->text, why);
    return take_event(of, line->number, line->text, why);
}

static enum status take_line(void *of, struct line *line, struct why *why)
{
    struct why reason = {""};
    enum status status = take_any(of, line, &reason);

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
        return because(why, STATUS_MALFORMED,
                       "line %lu: the recording ends "
                       "before anything has happened to a node",
                       lines->number);
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
    struct recorded of = {.messages = recorded_hub_messages,
                          .trace = trace_new()};
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
