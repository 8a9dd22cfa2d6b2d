/* A shim's line, as the loop uses it: bytes of all sizes, through all that a
 * trace may say. */
#include <string.h>

#include "core/prng.h"
#include "sim/shim/line.h"
#include "tests/check.h"

/* The byte at this place of the stream. */
static char byte_at(uint64_t place)
{
    return (char)prng_mix(place);
}

static uint64_t fill(struct shim_line *line, nanos now, uint64_t in,
                     size_t most)
{
    struct iovec parts[2];
    unsigned count = shim_line_room(line, parts);
    size_t bytes = 0;

    for (unsigned i = 0; i < count; i++)
        for (size_t k = 0; k < parts[i].iov_len && bytes < most; k++)
            ((char *)parts[i].iov_base)[k] = byte_at(in + bytes++);
    if (bytes)
        shim_line_put(line, now, bytes);
    return bytes;
}

static uint64_t empty(struct shim_line *line, uint64_t out, size_t most,
                      unsigned *wrong)
{
    struct iovec parts[2];
    unsigned count = shim_line_arrived(line, parts);
    size_t bytes = 0;

    for (unsigned i = 0; i < count; i++)
        for (size_t k = 0; k < parts[i].iov_len && bytes < most; k++)
            *wrong += ((char *)parts[i].iov_base)[k] != byte_at(out + bytes++);
    shim_line_consume(line, bytes);
    return bytes;
}

enum { TOTAL = 1 << 20 };

/* Puts in and takes out what it can, in pieces of all sizes. */
static void work(struct shim_line *line, struct prng *prng, nanos now,
                 uint64_t *in, uint64_t *out, unsigned *wrong)
{
    size_t most = prng_below(prng, 3) ? 40000 : 9;

    shim_line_pass(line, now);
    if (*in < TOTAL) {
        *in += fill(line, now, *in, most < TOTAL - *in ? most : TOTAL - *in);
        if (*in == TOTAL)
            shim_line_end(line, now, SHIM_ENDED);
    }
    *out += empty(line, *out, most + 1000, wrong);
}

/* In the end it is looked at only when it says so. */
static void nothing_is_lost_or_reordered(void)
{
    static const char text[] =
        TRACE_FORMAT "\nspan 1000s\n0s * up 2MB\n0s * delay 20ms\n"
                     "0s * jitter 30ms\n0s * loss 2%\n1s * up 50kB\n"
                     "1.5s * up 0\n1.7s * up 90MB\n1.9s * delay 1ms\nend\n";
    struct shim_link link = {.message = 1 << 16};
    struct shim_line *line;
    struct trace *trace = NULL;
    uint64_t in = 0, out = 0;
    unsigned wrong = 0;
    struct prng prng;
    nanos now = 0;

    if (!CHECK_OK(trace_parse(text, strlen(text), &trace, NULL)))
        return;
    link.trace = trace;
    line = shim_line_new(&link, true, 1, 0);
    prng_seed(&prng, 3);
    while (shim_line_ended(line) == SHIM_OPEN && now < 900 * SECOND) {
        nanos next;

        work(line, &prng, now, &in, &out, &wrong);
        next = shim_line_next(line);
        CHECK(next > now);
        now = in == TOTAL && next < NEVER ? next : now + MILLISECOND;
    }
    CHECK_EQUAL(TOTAL, out);
    CHECK_EQUAL(0, wrong);
    CHECK_EQUAL(SHIM_ENDED, shim_line_ended(line));
    shim_line_destroy(&line);
    trace_destroy(&trace);
}

void add_sim_shim_order_tests(CU_pSuite suite)
{
    TEST(nothing_is_lost_or_reordered);
}
