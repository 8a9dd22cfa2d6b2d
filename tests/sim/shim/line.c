#include "sim/shim/line.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

/* The link has shaken hands by then, whatever it is. */
#define BEGIN (10 * SECOND)

static struct trace *trace_with(const char *lines)
{
    char text[600];

    (void)snprintf(text, sizeof text, "%s\nspan 1000s\n%send\n", TRACE_FORMAT,
                   lines);
    return trace_of(text);
}

static struct shim_link link_of(const struct trace *trace)
{
    return (struct shim_link){.trace = trace, .message = 1 << 20};
}

static struct shim_line *line_of(const struct shim_link *link)
{
    return shim_line_new(link, true, 1, 0);
}

/* Puts as many zeros in as it takes. */
static size_t put(struct shim_line *line, nanos now, size_t bytes)
{
    struct iovec parts[2];
    unsigned count;
    size_t room = 0;

    shim_line_pass(line, now);
    count = shim_line_room(line, parts);
    for (unsigned i = 0; i < count; i++) {
        memset(parts[i].iov_base, 0, parts[i].iov_len);
        room += parts[i].iov_len;
    }
    room = room < bytes ? room : bytes;
    if (room)
        shim_line_put(line, now, room);
    return room;
}

/* Takes out what is there. */
static size_t take(struct shim_line *line, nanos now)
{
    struct iovec parts[2];
    unsigned count;
    size_t bytes = 0;

    shim_line_pass(line, now);
    count = shim_line_arrived(line, parts);
    for (unsigned i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    shim_line_consume(line, bytes);
    return bytes;
}

/* Looks when the line says, from `now` on, until so many bytes have come out;
 * returns when that was, NEVER if it does not happen. */
static nanos until_out(struct shim_line *line, nanos now, size_t bytes)
{
    size_t out = take(line, now);

    while (out < bytes) {
        nanos next = shim_line_next(line);

        if (!CHECK(next > now) || next == NEVER)
            return NEVER;
        now = next;
        out += take(line, now);
    }
    return now;
}

static void a_byte_travels_for_the_delay(void)
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line;

    link.latency = 5 * MILLISECOND;
    line = line_of(&link);
    CHECK_EQUAL(NEVER, shim_line_next(line));
    CHECK_EQUAL(1, put(line, BEGIN, 1));
    CHECK_EQUAL(BEGIN + 5 * MILLISECOND, shim_line_next(line));
    CHECK_EQUAL(0, take(line, BEGIN + 5 * MILLISECOND - 1));
    CHECK_EQUAL(1, take(line, BEGIN + 5 * MILLISECOND));
    CHECK_EQUAL(NEVER, shim_line_next(line));
    shim_line_destroy(&line);
}

static void the_first_bytes_wait_for_the_handshake(void)
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line;

    link.latency = 5 * MILLISECOND;
    line = line_of(&link);
    CHECK_EQUAL(1, put(line, 0, 1));
    CHECK_EQUAL(15 * MILLISECOND, until_out(line, 0, 1));
    shim_line_destroy(&line);
}

static void without_limit_or_delay_bytes_are_there_at_once(void)
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line = line_of(&link);

    CHECK_EQUAL(200000, put(line, BEGIN, 200000));
    CHECK_EQUAL(200000, take(line, BEGIN));
    shim_line_destroy(&line);
}

static void a_rate_is_kept(void)
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line;
    size_t half;

    link.bytes_per_second = 1250000;
    link.latency = 3 * MILLISECOND;
    line = line_of(&link);
    CHECK_EQUAL(125000, put(line, BEGIN, 125000));
    half = take(line, BEGIN + 53 * MILLISECOND);
    CHECK(half <= 62500 && half > 62500 - SHIM_PACKET_BYTES);
    CHECK_NEAR(
        103e6,
        (double)(until_out(line, BEGIN + 53 * MILLISECOND, 125000 - half) -
                 BEGIN),
        1e3);
    shim_line_destroy(&line);
}

/* 100,000 bytes: a second brings 20,000 of them, the next nothing, then it
 * takes 0.8 s. */
static void a_rate_changes_while_bytes_wait(void)
{
    struct trace *trace =
        trace_with("0s * up 20kB\n11s * up 0\n12s * up 100kB\n");
    struct shim_link link = link_of(trace);
    struct shim_line *line = line_of(&link);

    CHECK_EQUAL(100000, put(line, BEGIN, 100000));
    CHECK_NEAR(2.8e9, (double)(until_out(line, BEGIN, 100000) - BEGIN), 1e5);
    shim_line_destroy(&line);
    trace_destroy(&trace);
}

static void the_nodes_own_numbers_go_before_those_of_all(void)
{
    struct trace *trace = trace_with("0s * delay 1s\n0s n3 delay 2s\n");
    struct shim_link link = link_of(trace);
    struct shim_line *line;

    link.track = trace_find(trace, "n3");
    line = line_of(&link);
    CHECK_EQUAL(1, put(line, BEGIN, 1));
    CHECK_EQUAL(BEGIN + 2 * SECOND, until_out(line, BEGIN, 1));
    shim_line_destroy(&line);
    trace_destroy(&trace);
}

/* Puts bytes in before the cut and within it. */
static void check_cut(const char *lines)
{
    struct trace *trace = trace_with(lines);
    struct shim_link link = link_of(trace);
    struct shim_line *line;

    link.latency = 300 * MILLISECOND;
    line = line_of(&link);
    CHECK_EQUAL(10, put(line, BEGIN + 900 * MILLISECOND, 10));
    CHECK_EQUAL(20, put(line, BEGIN + 1100 * MILLISECOND, 20));
    CHECK_EQUAL(BEGIN + 1200 * MILLISECOND,
                until_out(line, BEGIN + 1100 * MILLISECOND, 10));
    CHECK_EQUAL(0, take(line, BEGIN + 3200 * MILLISECOND));
    CHECK_NEAR(13.3e9, (double)until_out(line, BEGIN + 3200 * MILLISECOND, 20),
               100);
    shim_line_destroy(&line);
    trace_destroy(&trace);
}

static void a_cut_holds_back_what_is_not_on_its_way(void)
{
    check_cut("11s * up 0\n13s * up 1GB\n");
    check_cut("11s * down 0\n13s * down 1GB\n");
    check_cut("11s * loss 1\n13s * loss 0\n");
}

static void jitter_is_within_its_bounds(void)
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line;
    nanos least = NEVER, most = 0;

    link.latency = 1 * MILLISECOND;
    link.jitter = 4 * MILLISECOND;
    line = line_of(&link);
    for (int i = 0; i < 200; i++) {
        nanos now = BEGIN + i * (10 * MILLISECOND), late;

        CHECK_EQUAL(1, put(line, now, 1));
        late = until_out(line, now, 1) - now;
        least = late < least ? late : least;
        most = late > most ? late : most;
    }
    CHECK(least >= 1 * MILLISECOND && least < 2 * MILLISECOND);
    CHECK(most < 5 * MILLISECOND && most > 4 * MILLISECOND);
    shim_line_destroy(&line);
}

/* What follows without a pause has one jitter, a message long. */
static void jitter_is_drawn_for_each_message(void)
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line;
    nanos now = BEGIN, at[4];
    size_t out = 0;

    link.bytes_per_second = 14480000;
    link.jitter = 2 * MILLISECOND;
    link.message = 144800;
    line = line_of(&link);
    CHECK_EQUAL(289600, put(line, BEGIN, 289600));
    for (size_t i = 0; i < 4; i++) {
        for (; out < (i + 1) * 72400 && now < NEVER; out += take(line, now))
            now = shim_line_next(line);
        at[i] = now;
    }
    CHECK_NEAR(5e6, (double)(at[1] - at[0]), 1e3);
    CHECK(llabs(at[2] - at[1] - 5 * MILLISECOND) > 10 * MICROSECOND);
    CHECK_NEAR(5e6, (double)(at[3] - at[2]), 1e3);
    shim_line_destroy(&line);
}

/* Sends so many packets 400 times, and counts by how many pauses the first of
 * them is later than without losses; the others are as late at least. */
static void count_losses(size_t packets, nanos pause, unsigned counts[4])
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line;
    nanos usual, packet;

    link.latency = 10 * MILLISECOND;
    link.loss = 0.25;
    line = line_of(&link);
    packet = SHIM_PACKET_BYTES * SECOND / shim_link_at(&link, true, 0).rate;
    usual = 10 * MILLISECOND + packet;
    for (int i = 0; i < 400; i++) {
        nanos now = BEGIN + i * (10000 * SECOND);
        size_t bytes = packets * SHIM_PACKET_BYTES;
        nanos late;

        CHECK_EQUAL(bytes, put(line, now, bytes));
        late = until_out(line, now, 1) - now - usual;
        if (packets > 1)
            CHECK(until_out(line, now + usual + late,
                            bytes - SHIM_PACKET_BYTES) >=
                  now + usual + late + (nanos)(packets - 1) * packet);
        if (late < 4 * pause && late % pause < MICROSECOND)
            counts[late / pause]++;
    }
    shim_line_destroy(&line);
}

/* If its repetition is lost as well, that costs twice as much more. */
static void a_lost_packet_without_others_behind_it_costs_a_timeout(void)
{
    unsigned counts[4] = {0, 0, 0, 0};

    count_losses(1, 220 * MILLISECOND, counts);
    CHECK_NEAR(300, counts[0], 30);
    CHECK_NEAR(75, counts[1], 25);
    CHECK_EQUAL(0, counts[2]);
    CHECK_NEAR(19, counts[3], 12);
}

static void a_lost_packet_with_others_behind_it_costs_a_round_trip(void)
{
    unsigned counts[4] = {0, 0, 0, 0};

    count_losses(4, 20 * MILLISECOND, counts);
    CHECK_NEAR(300, counts[0], 30);
    CHECK_NEAR(75, counts[1], 25);
    CHECK_NEAR(19, counts[2], 12);
}

/* 1.22 * 1448 / (0.02 s * sqrt(0.0001)) = 8,832,800 bytes per second. */
static void losses_bound_the_rate(void)
{
    const struct trace *none = NULL;
    struct shim_link link = link_of(none);

    link.latency = 10 * MILLISECOND;
    link.loss = 0.0001;
    CHECK_NEAR(8832800, (double)shim_link_at(&link, true, 0).rate, 1);
    link.bytes_per_second = 5000000;
    CHECK_EQUAL(5000000, shim_link_at(&link, true, 0).rate);
}

static void a_full_line_takes_more_when_half_is_gone(void)
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line;
    size_t most = SHIM_WAITING_BYTES + 10000;
    nanos now = BEGIN;

    link.bytes_per_second = 1000000;
    link.latency = 100 * SECOND;
    line = line_of(&link);
    now += 1000 * SECOND;
    CHECK_EQUAL(most, put(line, now, 1 << 20));
    CHECK_EQUAL(0, put(line, now, 1));
    now = shim_line_next(line);
    for (int i = 0; i < 5 && !put(line, now, 1); i++)
        now = shim_line_next(line);
    CHECK_NEAR(0.136e9, (double)(now - BEGIN - 1000 * SECOND), 3e6);
    shim_line_destroy(&line);
}

static void the_end_comes_behind_the_last_byte(void)
{
    struct shim_link link = link_of(NULL);
    struct shim_line *line;

    link.latency = 5 * MILLISECOND;
    line = line_of(&link);
    CHECK_EQUAL(1, put(line, BEGIN, 1));
    shim_line_end(line, BEGIN + MILLISECOND, SHIM_BROKEN);
    CHECK_EQUAL(1, take(line, BEGIN + 5 * MILLISECOND));
    CHECK_EQUAL(SHIM_OPEN, shim_line_ended(line));
    CHECK_EQUAL(BEGIN + 6 * MILLISECOND, shim_line_next(line));
    shim_line_pass(line, BEGIN + 6 * MILLISECOND);
    CHECK_EQUAL(SHIM_BROKEN, shim_line_ended(line));
    shim_line_destroy(&line);
}

void add_sim_shim_line_tests(CU_pSuite suite)
{
    TEST(a_byte_travels_for_the_delay);
    TEST(the_first_bytes_wait_for_the_handshake);
    TEST(without_limit_or_delay_bytes_are_there_at_once);
    TEST(a_rate_is_kept);
    TEST(a_rate_changes_while_bytes_wait);
    TEST(the_nodes_own_numbers_go_before_those_of_all);
    TEST(a_cut_holds_back_what_is_not_on_its_way);
    TEST(jitter_is_within_its_bounds);
    TEST(jitter_is_drawn_for_each_message);
    TEST(a_lost_packet_without_others_behind_it_costs_a_timeout);
    TEST(a_lost_packet_with_others_behind_it_costs_a_round_trip);
    TEST(losses_bound_the_rate);
    TEST(a_full_line_takes_more_when_half_is_gone);
    TEST(the_end_comes_behind_the_last_byte);
}
