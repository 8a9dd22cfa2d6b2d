/* What `iperf3 -c HUB -J` prints at a node: the rate of each interval, that of
 * all streams. What the client sends goes up; with --reverse or --bidir also
 * or only down. Intervals that iperf3 was told to omit are left out. */
#include <string.h>

#include "sim/trace/importing.h"
#include "sim/trace/json.h"
#include "sim/trace/lines.h"

/* The sum of an interval, as far as it was read. */
struct interval {
    bool has_start, has_end, has_rate, has_sender;
    bool sender, omitted;
    nanos start, end;
    int64_t bits;
};

struct measured {
    struct importing importing;
    struct json json;
    struct interval interval;
    bool reverse; /* the run as a whole */
    bool begun;
    nanos first, end; /* of what was not omitted; the end as from the first */
};

/* The name of the member of an interval's sum that a path names, or NULL. */
static const char *member(const struct measured *of, bool *reverse)
{
    static const char sum[] = "/intervals/[]/sum";
    static const char other[] = "/intervals/[]/sum_bidir_reverse";
    const char *path = of->json.path;
    size_t length;

    *reverse = strncmp(path, other, sizeof other - 1) == 0;
    length = *reverse ? sizeof other - 1 : sizeof sum - 1;
    if (!*reverse && strncmp(path, sum, length) != 0)
        return NULL;
    return path[length] == '/' ? path + length + 1
           : path[length]      ? NULL
                               : path + length;
}

static enum status read_number(struct measured *of, int power, int64_t *out,
                               bool *has, struct why *why)
{
    char room[SHOWN_BYTES];
    const char *at = of->json.text;
    struct decimal decimal;

    for (char *c = of->json.text; *c; c++)
        *c = (char)(*c == 'E' ? 'e' : *c);
    if (!decimal_read(&at, &decimal) || *at ||
        !trace_round(decimal, power, out))
        return because(why, STATUS_MALFORMED,
                       "line %lu: '%s' is no number that can be", of->json.line,
                       line_shown(of->json.text, room));
    *has = true;
    return STATUS_OK;
}

static enum status end_interval(struct measured *of, bool reverse,
                                struct why *why)
{
    struct interval interval = of->interval;
    enum quantity quantity = QUANTITY_UP;

    of->interval = (struct interval){.has_start = false};
    if (!interval.has_start || !interval.has_end || !interval.has_rate)
        return because(why, STATUS_MALFORMED,
                       "line %lu: an interval without "
                       "start, end or bits_per_second",
                       of->json.line);
    if (interval.omitted)
        return STATUS_OK;
    if (interval.has_sender ? !interval.sender : reverse || of->reverse)
        quantity = QUANTITY_DOWN;
    if (!of->begun)
        of->first = interval.start;
    of->begun = true;
    if (interval.start < of->first || interval.end <= interval.start)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the interval's time "
                       "goes back: is this one run?",
                       of->json.line);
    if (interval.end - of->first > of->end)
        of->end = interval.end - of->first;
    return importing_add(&of->importing, quantity, interval.start - of->first,
                         interval.bits / 8 + (interval.bits % 8 >= 4),
                         of->json.line, why);
}

static enum status read_member(struct measured *of, const char *name,
                               enum json_token token, struct why *why)
{
    struct interval *interval = &of->interval;
    bool truth = strcmp(of->json.text, "true") == 0;

    if (token == JSON_WORD && strcmp(name, "sender") == 0) {
        interval->sender = truth;
        interval->has_sender = true;
    }
    if (token == JSON_WORD && strcmp(name, "omitted") == 0)
        interval->omitted = truth;
    if (token != JSON_NUMBER)
        return STATUS_OK;
    if (strcmp(name, "start") == 0)
        return read_number(of, 9, &interval->start, &interval->has_start, why);
    if (strcmp(name, "end") == 0)
        return read_number(of, 9, &interval->end, &interval->has_end, why);
    if (strcmp(name, "bits_per_second") == 0)
        return read_number(of, 0, &interval->bits, &interval->has_rate, why);
    return STATUS_OK;
}

static enum status read_token(struct measured *of, enum json_token token,
                              struct why *why)
{
    bool reverse = false;
    const char *name = member(of, &reverse);
    char room[SHOWN_BYTES];

    if (token == JSON_TEXT && strcmp(of->json.path, "/error") == 0)
        return because(why, STATUS_MALFORMED,
                       "line %lu: iperf3 has failed: "
                       "%s; run it again",
                       of->json.line, line_shown(of->json.text, room));
    if (token == JSON_NUMBER &&
        strcmp(of->json.path, "/start/test_start/reverse") == 0)
        of->reverse = strcmp(of->json.text, "0") != 0;
    if (!name)
        return STATUS_OK;
    if (token == JSON_CLOSE && !*name)
        return end_interval(of, reverse, why);
    return read_member(of, name, token, why);
}

static enum status read_intervals(struct measured *of, struct why *why)
{
    enum json_token token;
    enum status status;

    while ((status = json_next(&of->json, &token, why)) == STATUS_OK) {
        status = read_token(of, token, why);
        if (status != STATUS_OK)
            return status;
    }
    if (status != STATUS_AGAIN)
        return status;
    if (!of->begun)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the JSON ends without "
                       "an interval of iperf3: run iperf3 -c HUB -J",
                       of->json.line);
    trace_set_span(of->importing.trace, of->end);
    return STATUS_OK;
}

enum status import_iperf3(const char *text, size_t size,
                          const struct import_options *options,
                          struct trace **out, struct why *why)
{
    struct measured of = {.begun = false};
    enum status status = importing_begin(options, &of.importing, why);

    if (status != STATUS_OK)
        return status;
    if ((size > 4 && memcmp(text, "Conn", 4) == 0) ||
        (size > 4 && memcmp(text, "----", 4) == 0))
        return importing_end(&of.importing,
                             because(why, STATUS_MALFORMED,
                                     "line 1: this is no JSON: let iperf3 "
                                     "write it, iperf3 -c HUB -J"),
                             out);
    json_init(&of.json, text, size);
    return importing_end(&of.importing, read_intervals(&of, why), out);
}
