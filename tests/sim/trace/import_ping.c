#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

/* What ping -D prints, with a loss, an answer that came twice, one that came
 * late, and an outage. */
static const char sample[] =
    "PING hub (10.0.0.1) 56(84) bytes of data.\n"
    "[1700000000.500600] 64 bytes from hub (10.0.0.1): icmp_seq=1 ttl=64 "
    "time=0.600 ms\n"
    "[1700000001.500800] 64 bytes from hub (10.0.0.1): icmp_seq=2 ttl=64 "
    "time=0.800 ms\n"
    "[1700000003.500600] 64 bytes from hub (10.0.0.1): icmp_seq=4 ttl=64 "
    "time=0.600 ms\n"
    "[1700000003.500700] 64 bytes from hub (10.0.0.1): icmp_seq=4 ttl=64 "
    "time=0.700 ms (DUP!)\n"
    "[1700000005.511000] 64 bytes from hub (10.0.0.1): icmp_seq=6 ttl=64 "
    "time=11.0 ms\n"
    "[1700000005.601000] 64 bytes from hub (10.0.0.1): icmp_seq=5 ttl=64 "
    "time=1101 ms\n"
    "[1700000008.500000] no answer yet for icmp_seq=7\n"
    "From 10.0.0.9 icmp_seq=8 Destination Host Unreachable\n"
    "[1700000009.500000] From 10.0.0.9 icmp_seq=9 Time to live exceeded\n"
    "[1700000009.500500] 64 bytes from hub (10.0.0.1): icmp_seq=10 ttl=64 "
    "time=0.500 ms\n"
    "\n"
    "--- hub ping statistics ---\n"
    "11 packets transmitted, 6 received, +1 duplicates, 45.4545% packet loss, "
    "time 10000ms\n"
    "rtt min/avg/max/mdev = 0.500/185.583/1101.000/409.433 ms, pipe 2\n";

static void half_of_a_round_trip_is_the_delay(void)
{
    const struct import_options options = {.node = "n1"};
    char *text = imported("ping", sample, &options);

    CHECK_TEXT("starswitch-trace 1\n"
               "span 11s\n"
               "0s n1 delay 300us\n"
               "1s n1 delay 400us\n"
               "3s n1 delay 300us\n"
               "4s n1 delay 550500us\n"
               "5s n1 delay 5500us\n"
               "9s n1 delay 250us\n"
               "0s n1 loss 0.166666666\n"
               "6s n1 loss 1\n"
               "9s n1 loss 0.5\n"
               "end\n",
               text);
    free(text);
}

/* `count` requests, 100 ms apart, of which every tenth is lost. */
static char *long_run(unsigned first, unsigned count)
{
    size_t size = (size_t)count * 100 + 1;
    char *log = malloc(size);
    struct text text;

    text_init(&text, log, size);
    for (unsigned i = 0; i < count; i++)
        if (i % 10 != 5)
            text_add(&text,
                     "[%u.%06u] 64 bytes from hub: icmp_seq=%u "
                     "ttl=64 time=2.00 ms\n",
                     1700000000 + i / 10, i % 10 * 100000, (first + i) % 65536);
    return log;
}

static void a_hundred_requests_say_how_probable_a_loss_is(void)
{
    char *log = long_run(1, 300), *text = imported("ping", log, NULL);

    CHECK_TEXT("starswitch-trace 1\nspan 30s\n0s * delay 1ms\n0s * loss 0.1\n"
               "end\n",
               text);
    free(text);
    free(log);
}

static void sequence_numbers_may_wrap(void)
{
    char *log = long_run(65500, 100), *text = imported("ping", log, NULL);

    CHECK_CONTAINS("span 10s\n0s * delay 1ms\n0s * loss 0.1\nend\n", text);
    free(text);
    free(log);
}

static void at_its_end_ping_says_what_was_not_answered(void)
{
    char *text = imported("ping",
                          "[10.0] 64 bytes from hub: icmp_seq=1 time=2 ms\n"
                          "[11.0] 64 bytes from hub: icmp_seq=2 time=2 ms\n"
                          "9 packets transmitted, 2 received\n",
                          NULL);

    CHECK_TEXT("starswitch-trace 1\nspan 9s\n0s * delay 1ms\n0s * loss 0\n"
               "2s * loss 1\nend\n",
               text);
    free(text);
}

static const struct {
    const char *text, *says;
} refused[] = {
    {"", "line 0: the file ends without an answer"},
    {"PING hub\n", "line 1: the file ends without an answer"},
    {"64 bytes from hub: icmp_seq=1 ttl=64 time=2 ms\n",
     "line 1: no time in brackets: run ping with -D"},
    {"[1.5] 64 bytes from hub: icmp_seq=1 ttl=64 time=2 ms", "line 1 is cut"},
    {"[1.5] 64 bytes from hub: icmp_seq=1 ttl=64\n", "line 1: an answer with"},
    {"[1.5] 64 bytes from hub: icmp_seq=1 time=2 s\n", "line 1: an answer"},
    {"[1.5] 64 bytes from hub: icmp_seq=65536 time=2 ms\n", "line 1: an answ"},
    {"[1.5] hello\n", "line 1: an answer without icmp_seq=N"},
    {"PING hub\nhello\n", "line 2: 'hello' is nothing that ping -D prints"},
    {"[9.5] 64 bytes from hub: icmp_seq=1 time=2 ms\n"
     "[1.5] 64 bytes from hub: icmp_seq=2 time=2 ms\n",
     "line 2: the clock jumps"},
};

static void what_ping_does_not_print_is_refused_by_its_line(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text = imported("ping", refused[i].text, NULL);

        CHECK_CONTAINS(refused[i].says, text);
        free(text);
    }
}

static void a_damaged_log_is_refused_or_read(void)
{
    check_damage(importer_find("ping"), sample, 3000);
}

/* The ping of this machine, where there is one, in a network namespace that
 * has nothing but its loopback. */
static void the_real_ping_is_read(void)
{
    static const char command[] =
        "command -v ping >/dev/null && unshare -rn true 2>/dev/null || exit 0;"
        "unshare -rn sh -c "
        "'ip link set lo up && ping -D -c 5 -i 0.2 127.0.0.1' 2>&1";
    FILE *stream = popen(command, "r"); // NOLINT(cert-env33-c): a test
    char log[4096];
    size_t size;
    char *text;
    int ended;

    CHECK(stream != NULL);
    if (!stream)
        return;
    size = fread(log, 1, sizeof log - 1, stream);
    log[size] = '\0';
    ended = pclose(stream);
    if (!CHECK_EQUAL(0, ended) || !size)
        return;
    text = imported("ping", log, NULL);
    CHECK_CONTAINS("0s * delay ", text);
    CHECK_CONTAINS("0s * loss 0\n", text);
    free(text);
}

void add_sim_trace_import_ping_tests(CU_pSuite suite)
{
    TEST(half_of_a_round_trip_is_the_delay);
    TEST(a_hundred_requests_say_how_probable_a_loss_is);
    TEST(sequence_numbers_may_wrap);
    TEST(at_its_end_ping_says_what_was_not_answered);
    TEST(what_ping_does_not_print_is_refused_by_its_line);
    TEST(a_damaged_log_is_refused_or_read);
    TEST(the_real_ping_is_read);
}
