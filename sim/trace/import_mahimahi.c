/* Mahimahi's packet-delivery traces (Netravali et al., "Mahimahi: accurate
 * record-and-replay for HTTP", USENIX ATC 2015): each line is a millisecond at
 * which the link carries one packet of 1504 bytes; after the last one it
 * begins again.
 *
 * A trace has rates, so packets are counted in bins of 100 ms: the bytes of
 * each bin are exact, their order within it is not kept. A packet of
 * millisecond t was carried in (t - 1, t]. */
#include "sim/trace/importing.h"
#include "sim/trace/lines.h"

enum { PACKET_BYTES = 1504, BIN = 100 };

/* Nothing lasts a hundred years: that is no list of milliseconds. */
static const uint64_t longest = UINT64_C(100) * 366 * 24 * 3600 * 1000;

struct deliveries {
    struct importing importing;
    unsigned bits;
    uint64_t last;    /* millisecond of the last packet */
    uint64_t bin;     /* being counted */
    uint64_t packets; /* in it */
};

/* The rate of the bin that is being counted, `length` milliseconds long. */
static enum status end_bin(struct deliveries *of, uint64_t length,
                           unsigned long line, struct why *why)
{
    uint64_t bytes = of->packets * PACKET_BYTES * 1000;

    return importing_add_each(
        &of->importing, of->bits, (nanos)(of->bin * BIN) * MILLISECOND,
        (int64_t)((bytes + length / 2) / length), line, why);
}

static enum status enter_bin(struct deliveries *of, uint64_t bin,
                             unsigned long line, struct why *why)
{
    enum status status;

    if (bin == of->bin)
        return STATUS_OK;
    status = end_bin(of, BIN, line, why);
    of->packets = 0;
    of->bin++;
    if (status == STATUS_OK && of->bin < bin)
        status = end_bin(of, BIN, line, why);
    of->bin = bin;
    return status;
}

static enum status read_packet(void *self, struct line *line, struct why *why)
{
    struct deliveries *of = self;
    char room[SHOWN_BYTES], *rest = line->text, *word = line_word(&rest);
    uint64_t at = 0;
    enum status status;

    if (!word)
        return STATUS_OK;
    if (!line_number(word, &at) || at > longest)
        return because(why, STATUS_MALFORMED,
                       "line %lu: '%s' is not a whole "
                       "number of milliseconds",
                       line->number, line_shown(word, room));
    if (line_word(&rest))
        return because(why, STATUS_MALFORMED,
                       "line %lu: more than one number: "
                       "one packet a line",
                       line->number);
    if (at < of->last)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the time goes back: "
                       "sort the file",
                       line->number);
    status = enter_bin(of, at ? (at - 1) / BIN : 0, line->number, why);
    of->last = at;
    of->packets++;
    return status;
}

static enum status read_packets(struct deliveries *of, struct lines *lines,
                                struct why *why)
{
    enum status status = lines_each(lines, read_packet, of, why);

    if (status != STATUS_OK)
        return status;
    if (!of->last)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the file ends without "
                       "a packet later than 0 ms: a trace lasts for some time",
                       lines->number);
    status = end_bin(of, of->last - of->bin * BIN, lines->number, why);
    if (status == STATUS_OK)
        trace_set_span(of->importing.trace, (nanos)of->last * MILLISECOND);
    return status;
}

enum status import_mahimahi(const char *text, size_t size,
                            const struct import_options *options,
                            struct trace **out, struct why *why)
{
    const unsigned both = 1U << QUANTITY_UP | 1U << QUANTITY_DOWN;
    struct deliveries of = {.bits = options->quantities ? options->quantities
                                                        : both};
    struct lines lines = lines_of(text, size);
    enum status status;

    if (of.bits & ~both)
        return because(why, STATUS_USAGE,
                       "packets say a rate: --quantity is "
                       "rate, up or down");
    status = importing_begin(options, &of.importing, why);
    if (status != STATUS_OK)
        return status;
    return importing_end(&of.importing, read_packets(&of, &lines, why), out);
}
