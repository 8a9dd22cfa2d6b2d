#include <math.h>
#include <string.h>

#include "core/value.h"
#include "tests/check.h"

/* Reads `text` as a kind without words; the sentence is left in `why`. */
static bool reads(enum value_kind kind, const char *text, union value *out,
                  struct why *why)
{
    struct value_type type = {.kind = kind};

    *why = (struct why){"no sentence"};
    return value_parse(&type, text, out, why) == STATUS_OK;
}

static uint64_t whole(enum value_kind kind, const char *text)
{
    union value value;
    struct why why;

    return CHECK(reads(kind, text, &value, &why)) ? value.count : 0;
}

static nanos duration(const char *text)
{
    union value value;
    struct why why;

    return CHECK(reads(VALUE_DURATION, text, &value, &why)) ? value.duration
                                                            : -1;
}

/* Checks that the text is refused, with this sentence, and nothing written. */
static void refused(enum value_kind kind, const char *text,
                    const char *sentence)
{
    union value value, before;
    struct why why;

    memset(&value, 0x5a, sizeof value);
    memcpy(&before, &value, sizeof before);
    CHECK(!reads(kind, text, &value, &why));
    CHECK_TEXT(sentence, why.text);
    CHECK(same_bytes(&before, &value, sizeof value));
}

/* Checks that the text is read and printed as `printed`. */
static void printed(enum value_kind kind, const char *text, const char *printed)
{
    struct value_type type = {.kind = kind};
    char bytes[VALUE_TEXT_BYTES + 16];
    struct text out;
    union value value;
    struct why why;

    text_init(&out, bytes, sizeof bytes);
    if (!CHECK(reads(kind, text, &value, &why)))
        return;
    value_print(&type, &value, &out);
    CHECK_TEXT(printed, bytes);
}

static void a_count_may_end_in_k_M_or_G(void)
{
    CHECK_EQUAL(20, whole(VALUE_COUNT, "20"));
    CHECK_EQUAL(0, whole(VALUE_COUNT, "0"));
    CHECK_EQUAL(10000, whole(VALUE_COUNT, "10k"));
    CHECK_EQUAL(1500000, whole(VALUE_COUNT, "1.5M"));
    CHECK_EQUAL(2000000000, whole(VALUE_COUNT, "2G"));
    CHECK_EQUAL(300, whole(VALUE_COUNT, "3e2"));
    CHECK_EQUAL(7, whole(VALUE_COUNT, "7.000"));
    CHECK(whole(VALUE_COUNT, "18446744073709551615") == UINT64_MAX);
    printed(VALUE_COUNT, "1.5k", "1500");
}

static void what_is_no_count_is_refused(void)
{
    const char *expected = "expected a whole number such as 20";
    const char *texts[] = {"banana", "",   "-1",   "+1", "1.5", "0.5k x",
                           "20ms",   "2K", "0x10", ".",  "1e",  "1,5"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refused(VALUE_COUNT, texts[i], expected);
    refused(VALUE_COUNT, "18446744073709551616", expected);
    refused(VALUE_COUNT, "1e30", "is too large");
    refused(VALUE_COUNT, "18446744073709551615k", "is too large");
}

static void a_number_is_the_nearest_double(void)
{
    static const struct {
        const char *text;
        double number;
    } rows[] = {{"0.1", 0.1},
                {"1e-3", 1e-3},
                {"-2.5", -2.5},
                {"3", 3},
                {".5", .5},
                {"5.", 5},
                {"1e22", 1e22},
                {"0.30", 0.3},
                {"1e+2", 100},
                {"0e99", 0},
                {"0.999999", 0.999999},
                {"7e-22", 7e-22}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        union value value = {.number = 0};
        struct why why;

        CHECK(reads(VALUE_NUMBER, rows[i].text, &value, &why));
        CHECK_NEAR(rows[i].number, value.number, 0);
    }
    refused(VALUE_NUMBER, "nan", "expected a number such as 0.7");
    refused(VALUE_NUMBER, "1 2", "expected a number such as 0.7");
    refused(VALUE_NUMBER, "1234567890.1234567",
            "expected a number of at most 15 digits");
    refused(VALUE_NUMBER, "1e23", "expected a number of at most 15 digits");
}

static void a_number_is_printed_as_short_as_it_reads_back(void)
{
    printed(VALUE_NUMBER, "0.1", "0.1");
    printed(VALUE_NUMBER, "0.70", "0.7");
    printed(VALUE_NUMBER, "1e-8", "1e-08");
    printed(VALUE_NUMBER, "123456.789012345", "123456.789012345");
    printed(VALUE_NUMBER, "0", "0");
}

static void a_time_is_told_in_its_unit(void)
{
    CHECK_EQUAL(50 * MILLISECOND, duration("50ms"));
    CHECK_EQUAL(3 * SECOND / 2, duration("1.5s"));
    CHECK_EQUAL(180 * SECOND, duration("3min"));
    CHECK_EQUAL(3600 * SECOND, duration("1h"));
    CHECK_EQUAL(7 * MICROSECOND, duration("7 us"));
    CHECK_EQUAL(9, duration("9ns"));
    CHECK_EQUAL(0, duration("0s"));
    printed(VALUE_DURATION, "0ms", "0s");
    printed(VALUE_DURATION, "90s", "90s");
    printed(VALUE_DURATION, "120s", "2min");
    printed(VALUE_DURATION, "1.5ms", "1500us");
}

static void a_time_without_a_unit_is_refused(void)
{
    const char *needs = "a time needs its unit: write 50ms, 2s, 3min or 1h";
    const char *expected = "expected a time such as 50ms, 2s, 3min or 1h";

    refused(VALUE_DURATION, "50", needs);
    refused(VALUE_DURATION, "0", needs);
    refused(VALUE_DURATION, "1.5", needs);
    refused(VALUE_DURATION, "soon", expected);
    refused(VALUE_DURATION, "5m", expected);
    refused(VALUE_DURATION, "-5s", expected);
    refused(VALUE_DURATION, "0.5ns", expected);
    refused(VALUE_DURATION, "10000000h", "is too large");
    refused(VALUE_DURATION, "9223372036854775807ns", "is too large");
}

static void bytes_may_end_in_decimal_and_binary_units(void)
{
    CHECK_EQUAL(1 << 20, whole(VALUE_BYTES, "1MiB"));
    CHECK_EQUAL(500000, whole(VALUE_BYTES, "500kB"));
    CHECK_EQUAL(4096, whole(VALUE_BYTES, "4096"));
    CHECK_EQUAL(3 << 19, whole(VALUE_BYTES, "1.5MiB"));
    CHECK_EQUAL(1000000000, whole(VALUE_BYTES, "1GB"));
    printed(VALUE_BYTES, "1048576", "1MiB");
    printed(VALUE_BYTES, "1.5kB", "1500B");
    printed(VALUE_BYTES, "0", "0");
    refused(VALUE_BYTES, "1M",
            "expected a number of bytes such as 1MiB or 500kB");
    refused(VALUE_BYTES, "0.3B",
            "expected a number of bytes such as 1MiB or 500kB");
    refused(VALUE_BYTES, "99999999999GiB", "is too large");
}

static void a_window_is_auto_or_a_number_of_bytes(void)
{
    CHECK_EQUAL(0, whole(VALUE_WINDOW, "auto"));
    CHECK_EQUAL(8 << 20, whole(VALUE_WINDOW, "8MiB"));
    printed(VALUE_WINDOW, "auto", "auto");
    printed(VALUE_WINDOW, "8192KiB", "8MiB");
    refused(VALUE_WINDOW, "automatic",
            "expected a number of bytes such as 1MiB or 500kB");
}

static void steps_are_auto_or_a_whole_number(void)
{
    CHECK_EQUAL(VALUE_AUTO, whole(VALUE_STEPS, "auto"));
    CHECK_EQUAL(0, whole(VALUE_STEPS, "0"));
    CHECK_EQUAL(20000, whole(VALUE_STEPS, "20k"));
    printed(VALUE_STEPS, "auto", "auto");
    printed(VALUE_STEPS, "20", "20");
    refused(VALUE_STEPS, "automatic",
            "expected a whole number such as 20, or auto");
}

static void a_rate_counts_bits_or_bytes_per_second(void)
{
    static const char *const expected =
        "expected a rate such as 100Mbit, 12MB/s or none";
    static const char *const nothing =
        "a rate of 0 carries nothing: for no limit say none";

    CHECK_EQUAL(12500000, whole(VALUE_RATE, "100Mbit"));
    CHECK_EQUAL(125000000, whole(VALUE_RATE, "1Gbit"));
    CHECK_EQUAL(12000000, whole(VALUE_RATE, "12MB/s"));
    CHECK_EQUAL(312500, whole(VALUE_RATE, "2.5Mbit"));
    CHECK_EQUAL(0, whole(VALUE_RATE, "none"));
    refused(VALUE_RATE, "0", nothing);
    refused(VALUE_RATE, "0Mbit", nothing);
    printed(VALUE_RATE, "1000Mbit", "1Gbit");
    printed(VALUE_RATE, "12MB/s", "12MB/s");
    printed(VALUE_RATE, "1.5KiB/s", "1536B/s");
    refused(VALUE_RATE, "100", expected);
    refused(VALUE_RATE, "100MB", expected);
    refused(VALUE_RATE, "0.001kbit", expected);
    refused(VALUE_RATE, "-1Mbit", expected);
    refused(VALUE_RATE, "99999999999GB/s", "is too large");
}

static void a_text_is_bounded_and_has_no_control_characters(void)
{
    char text[VALUE_TEXT_BYTES + 1];

    memset(text, 'x', sizeof text);
    text[VALUE_TEXT_BYTES] = '\0';
    refused(VALUE_TEXT, text, "expected at most 255 bytes");
    text[VALUE_TEXT_BYTES - 1] = '\0';
    printed(VALUE_TEXT, text, text);
    printed(VALUE_TEXT, "", "");
    printed(VALUE_TEXT, "caf\xc3\xa9", "caf\xc3\xa9");
    refused(VALUE_TEXT, "a\nb", "expected a text without control characters");
    refused(VALUE_TEXT, "\x7f", "expected a text without control characters");
}

static void a_flag_is_yes_or_no(void)
{
    const char *pairs[][2] = {
        {"yes", "no"}, {"true", "false"}, {"on", "off"}, {"1", "0"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        printed(VALUE_FLAG, pairs[i][0], "yes");
        printed(VALUE_FLAG, pairs[i][1], "no");
    }
    refused(VALUE_FLAG, "maybe", "expected yes or no");
    refused(VALUE_FLAG, "", "expected yes or no");
}

static void a_choice_is_one_of_its_words(void)
{
    struct value_type type = {VALUE_CHOICE, miss_words, MISS_COUNT};
    union value value = {.choice = 0};
    struct why why;

    CHECK_OK(value_parse(&type, "wait", &value, &why));
    CHECK_EQUAL(MISS_WAIT, value.choice);
    CHECK_STATUS(STATUS_USAGE, value_parse(&type, "later", &value, &why));
    CHECK_TEXT("expected late, skip, wait or cut", why.text);
    CHECK_EQUAL(MISS_WAIT, value.choice);
}

static void an_endpoint_is_a_host_and_perhaps_a_port(void)
{
    printed(VALUE_ENDPOINT, "pc0", "pc0:7541");
    printed(VALUE_ENDPOINT, "192.168.1.10:80", "192.168.1.10:80");
    printed(VALUE_ENDPOINT, "[fe80::1%eth0]", "[fe80::1%eth0]:7541");
    printed(VALUE_ENDPOINT, "[::1]:65534", "[::1]:65534");
    printed(VALUE_ENDPOINT, "*:7541", "*:7541");
}

static void what_is_no_endpoint_is_refused(void)
{
    const char *host =
        "expected a host such as 192.168.1.10, pc0:7541 or [fe80::1]:7541";
    const char *port = "expected a port from 1 to 65534 behind the colon";
    const char *hosts[] = {"",     ":80",   "a b",    "tcp://a:1", "fe80::1",
                           "[::1", "[]:80", "[::1]x", "a\nb",      "[::1]:1:2"};
    const char *ports[] = {"a:",   "a:0",           "a:65535",
                           "a:+1", "a:99999999999", "a:x"};

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        refused(VALUE_ENDPOINT, hosts[i], host);
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++)
        refused(VALUE_ENDPOINT, ports[i], port);
    refused(VALUE_ENDPOINT, "22600",
            "22600 is a port without its host: say "
            "127.0.0.1:22600 for this PC alone, or its address on the network");
}

static void several_endpoints_have_commas_between_them(void)
{
    const char *host =
        "expected a host such as 192.168.1.10, pc0:7541 or [fe80::1]:7541";

    printed(VALUE_ENDPOINTS, "pc0", "pc0:7541");
    printed(VALUE_ENDPOINTS, "pc0,[::1]:80,pc2:1", "pc0:7541,[::1]:80,pc2:1");
    printed(VALUE_ENDPOINTS, "1,2,3,4,5,6,7,8",
            "1:7541,2:7541,3:7541,4:7541,5:7541,6:7541,7:7541,8:7541");
    refused(VALUE_ENDPOINTS, "1,2,3,4,5,6,7,8,9",
            "expected at most 8 hosts with commas between them");
    refused(VALUE_ENDPOINTS, "pc0,", host);
    refused(VALUE_ENDPOINTS, "pc0,,pc1", host);
    refused(VALUE_ENDPOINTS, "", host);
}

static void loopback_is_told_from_the_network(void)
{
    struct endpoint endpoint;

    CHECK_OK(endpoint_parse("127.0.0.1", &endpoint, NULL));
    CHECK(endpoint_is_loopback(&endpoint));
    CHECK_OK(endpoint_parse("[::1]", &endpoint, NULL));
    CHECK(endpoint_is_loopback(&endpoint));
    CHECK_OK(endpoint_parse("localhost:99", &endpoint, NULL));
    CHECK(endpoint_is_loopback(&endpoint));
    CHECK_OK(endpoint_parse("192.168.1.10", &endpoint, NULL));
    CHECK(!endpoint_is_loopback(&endpoint));
    CHECK_OK(endpoint_parse("127.evil.example", &endpoint, NULL));
    CHECK(!endpoint_is_loopback(&endpoint));
}

static void a_goal_is_an_accuracy_or_a_loss(void)
{
    const char *goal =
        "expected 87% (accuracy at least) or 0.35 (loss at most)";
    union value value;
    struct why why;

    CHECK(reads(VALUE_GOAL, "87%", &value, &why));
    CHECK_EQUAL(GOAL_ACCURACY, value.goal.kind);
    CHECK_NEAR(0.87, value.goal.value, 0);
    CHECK(reads(VALUE_GOAL, "0.35", &value, &why));
    CHECK_EQUAL(GOAL_LOSS, value.goal.kind);
    CHECK_NEAR(0.35, value.goal.value, 0);
    printed(VALUE_GOAL, "56.10%", "56.1%");
    printed(VALUE_GOAL, "100%", "100%");
    printed(VALUE_GOAL, "88.0", "88.0");
    printed(VALUE_GOAL, "9", "9");
    refused(VALUE_GOAL, "88",
            "88 alone is a loss: say 88% for an accuracy, or "
            "88.0 if a loss is meant");
    refused(VALUE_GOAL, "high", goal);
    refused(VALUE_GOAL, "0%", goal);
    refused(VALUE_GOAL, "-1", goal);
    refused(VALUE_GOAL, "87 %x", goal);
    refused(VALUE_GOAL, "101%", "expected at most 100%");
}

static void every_percentage_is_printed_as_it_was_read(void)
{
    for (unsigned i = 1; i <= 1000; i++) {
        char text[16];
        struct text out;

        text_init(&out, text, sizeof text);
        text_add(&out, i % 10 ? "%u.%u%%" : "%u%%", i / 10, i % 10);
        printed(VALUE_GOAL, text, text);
    }
}

void add_core_value_tests(CU_pSuite suite)
{
    TEST(a_count_may_end_in_k_M_or_G);
    TEST(what_is_no_count_is_refused);
    TEST(a_number_is_the_nearest_double);
    TEST(a_number_is_printed_as_short_as_it_reads_back);
    TEST(a_time_is_told_in_its_unit);
    TEST(a_time_without_a_unit_is_refused);
    TEST(bytes_may_end_in_decimal_and_binary_units);
    TEST(a_window_is_auto_or_a_number_of_bytes);
    TEST(steps_are_auto_or_a_whole_number);
    TEST(a_rate_counts_bits_or_bytes_per_second);
    TEST(a_text_is_bounded_and_has_no_control_characters);
    TEST(a_flag_is_yes_or_no);
    TEST(a_choice_is_one_of_its_words);
    TEST(an_endpoint_is_a_host_and_perhaps_a_port);
    TEST(what_is_no_endpoint_is_refused);
    TEST(several_endpoints_have_commas_between_them);
    TEST(loopback_is_told_from_the_network);
    TEST(a_goal_is_an_accuracy_or_a_loss);
    TEST(every_percentage_is_printed_as_it_was_read);
}
