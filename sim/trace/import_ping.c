/* What `ping -D HUB` prints at a node. The delay is half of each round trip,
 * from the time on at which the request was sent. A sequence number that is
 * missing was lost: three or more in a row are an outage, where all is lost;
 * of the others, each hundred requests say how probable a loss is. */
#include <stdlib.h>
#include <string.h>

#include "sim/trace/importing.h"
#include "sim/trace/lines.h"

enum { OUTAGE = 3, WINDOW = 100, SEQUENCE = 1 << 16 };

/* A request that was answered. */
struct sample {
    int64_t number; /* its sequence number, which does not wrap here */
    nanos sent, delay;
    unsigned long line;
};

struct pings {
    struct importing importing;
    struct sample *samples;
    size_t count, room;
    int64_t transmitted; /* as ping says at its end; 0: it has not */
    nanos last;          /* sent last, counted from the first */
    /* Requests whose losses have not been told yet. */
    nanos window; /* when the first of them was sent; -1: there are none */
    int64_t sent, lost;
};

/* Lines without a sample, by how they begin. */
static const char *const passed_over[] = {
    "PING ",  "---",   "rtt ",      "round-trip ", "pipe ",
    "ping: ", "From ", "Warning: ", "WARNING: ",   ", pipe "};

static bool is_passed_over(const struct line *line)
{
    for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
        if (strncmp(line->text, passed_over[i], strlen(passed_over[i])) == 0)
            return true;
    return !line->length || strstr(line->text, " packets, ");
}

static enum status add_sample(struct pings *of, const struct sample *sample,
                              struct why *why)
{
    if (of->count == of->room) {
        size_t room = of->room ? 2 * of->room : 64;
        struct sample *samples = realloc(of->samples, room * sizeof *samples);

        if (!samples)
            return because(why, STATUS_NO_MEMORY, "no memory for the samples");
        of->samples = samples;
        of->room = room;
    }
    of->samples[of->count++] = *sample;
    return STATUS_OK;
}

/* Numbers wrap after 65535: the one nearest to the last is meant. */
static int64_t unwrap(const struct pings *of, uint64_t sequence)
{
    int64_t last = of->count ? of->samples[of->count - 1].number : 0;
    int64_t ahead = ((int64_t)sequence - last) % SEQUENCE;

    if (!of->count)
        return (int64_t)sequence;
    if (ahead < -SEQUENCE / 2)
        ahead += SEQUENCE;
    if (ahead >= SEQUENCE / 2)
        ahead -= SEQUENCE;
    return last + ahead;
}

/* Reads the number behind `name` and rounds number * 10^power. */
static bool read_field(const char *text, const char *name, int power,
                       int64_t *out)
{
    const char *at = strstr(text, name);
    struct decimal decimal;

    at = at ? at + strlen(name) : NULL;
    return at && decimal_read(&at, &decimal) &&
           trace_round(decimal, power, out) &&
           (power != 6 || strncmp(at, " ms", 3) == 0);
}

/* "[seconds] 64 bytes from HOST: icmp_seq=N ttl=N time=N ms" */
static enum status read_answer(struct pings *of, struct line *line,
                               struct why *why)
{
    struct sample sample = {.line = line->number};
    int64_t stamp = 0, round_trip = 0, sequence = 0;

    if (!read_field(line->text, "[", 9, &stamp) || !strchr(line->text, ']'))
        return because(why, STATUS_MALFORMED,
                       "line %lu: no time in brackets: run ping with -D",
                       line->number);
    if (!read_field(line->text, "icmp_seq=", 0, &sequence) ||
        sequence >= SEQUENCE)
        return because(why, STATUS_MALFORMED,
                       "line %lu: an answer without "
                       "icmp_seq=N: is this what ping -D has printed?",
                       line->number);
    if (strstr(line->text, "no answer yet") || strstr(line->text, "] From ") ||
        strstr(line->text, "(DUP!)"))
        return STATUS_OK;
    if (!read_field(line->text, " time=", 6, &round_trip) || round_trip > stamp)
        return because(why, STATUS_MALFORMED,
                       "line %lu: an answer without "
                       "time=N ms: is this what ping -D has printed?",
                       line->number);
    sample.number = unwrap(of, (uint64_t)sequence);
    sample.sent = stamp - round_trip;
    sample.delay = round_trip / 2;
    return add_sample(of, &sample, why);
}

static enum status read_line(void *self, struct line *line, struct why *why)
{
    struct pings *of = self;
    char room[SHOWN_BYTES];

    if (line->text[0] == '[' || strstr(line->text, "icmp_seq="))
        return line->text[0] == '[' || !is_passed_over(line)
                   ? read_answer(of, line, why)
                   : STATUS_OK;
    if (strstr(line->text, " packets transmitted")) {
        if (read_field(line->text, "", 0, &of->transmitted))
            return STATUS_OK;
    } else if (is_passed_over(line)) {
        return STATUS_OK;
    }
    return because(why, STATUS_MALFORMED,
                   "line %lu: '%s' is nothing that "
                   "ping -D prints: remove it",
                   line->number, line_shown(line->text, room));
}

static enum status read_lines(struct pings *of, struct lines *lines,
                              struct why *why)
{
    enum status status = lines_each(lines, read_line, of, why);

    if (status == STATUS_OK && !of->count)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the file ends without "
                       "an answer to ping -D",
                       lines->number);
    return status;
}

/* ---- what the samples say ---- */

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    int order = (a->number > b->number) - (a->number < b->number);

    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Ends the window: how probable a loss was in it. */
static enum status tell_losses(struct pings *of, unsigned long line,
                               struct why *why)
{
    nanos begin = of->window;
    int64_t loss = of->sent ? of->lost * PART_WHOLE / of->sent : 0;

    of->window = -1;
    of->sent = of->lost = 0;
    if (begin < 0)
        return STATUS_OK;
    return importing_add(&of->importing, QUANTITY_LOSS, begin, loss, line, why);
}

/* `gap` requests, `interval` apart, have had no answer since of->last. */
static enum status add_gap(struct pings *of, int64_t gap, nanos interval,
                           unsigned long line, struct why *why)
{
    enum status status;

    if (gap < OUTAGE) {
        of->lost += gap;
        of->sent += gap;
        return STATUS_OK;
    }
    status = tell_losses(of, line, why);
    if (status != STATUS_OK)
        return status;
    return importing_add(&of->importing, QUANTITY_LOSS,
                         of->last + (interval ? interval : 1), PART_WHOLE, line,
                         why);
}

/* When it was sent, from the first on. Requests follow each other, but what
 * ping has rounded may say that two did not. */
static bool time_of(const struct pings *of, const struct sample *sample,
                    nanos *out)
{
    *out = sample->sent - of->samples[0].sent;
    if (sample == of->samples || *out > of->last)
        return *out < NEVER / 4;
    if (*out < of->last - SECOND)
        return false;
    *out = of->last + 1;
    return true;
}

static enum status tell_sample(struct pings *of, const struct sample *sample,
                               struct why *why)
{
    int64_t gap =
        sample > of->samples ? sample->number - sample[-1].number - 1 : 0;
    enum status status = STATUS_OK;
    nanos time = 0;

    if (gap < 0) /* answered twice */
        return STATUS_OK;
    if (!time_of(of, sample, &time))
        return because(why, STATUS_MALFORMED,
                       "line %lu: the clock jumps: cut "
                       "the file there",
                       sample->line);
    if (gap)
        status =
            add_gap(of, gap, (time - of->last) / (gap + 1), sample->line, why);
    if (status == STATUS_OK)
        status = importing_add(&of->importing, QUANTITY_DELAY, time,
                               sample->delay, sample->line, why);
    if (status != STATUS_OK)
        return status;
    if (of->window < 0)
        of->window = time;
    of->last = time;
    of->sent++;
    return of->sent < WINDOW ? STATUS_OK : tell_losses(of, sample->line, why);
}

/* What was sent behind the last answer, and how long the trace is. */
static enum status tell_end(struct pings *of, struct why *why)
{
    const struct sample *first = of->samples, *last = first + of->count - 1;
    int64_t requests = last->number - first->number;
    nanos interval = requests && of->last ? of->last / requests : 0;
    int64_t missing = of->transmitted - last->number;
    enum status status = STATUS_OK;

    if (!interval)
        interval = SECOND;
    if (missing < 0)
        missing = 0;
    if (missing >= NEVER / 4 / interval)
        return because(why, STATUS_MALFORMED,
                       "line %lu: so many packets "
                       "cannot have been transmitted after it",
                       last->line);
    if (missing)
        status = add_gap(of, missing, interval, last->line, why);
    if (status == STATUS_OK)
        status = tell_losses(of, last->line, why);
    if (status == STATUS_OK)
        trace_set_span(of->importing.trace,
                       of->last + interval * (missing + 1));
    return status;
}

static enum status tell_all(struct pings *of, struct why *why)
{
    enum status status = STATUS_OK;

    qsort(of->samples, of->count, sizeof *of->samples, compare_samples);
    for (size_t i = 0; i < of->count && status == STATUS_OK; i++)
        status = tell_sample(of, &of->samples[i], why);
    return status == STATUS_OK ? tell_end(of, why) : status;
}

enum status import_ping(const char *text, size_t size,
                        const struct import_options *options,
                        struct trace **out, struct why *why)
{
    struct pings of = {.window = -1};
    struct lines lines = lines_of(text, size);
    enum status status = importing_begin(options, &of.importing, why);

    if (status != STATUS_OK)
        return status;
    status = read_lines(&of, &lines, why);
    if (status == STATUS_OK)
        status = tell_all(&of, why);
    free(of.samples);
    return importing_end(&of.importing, status, out);
}
