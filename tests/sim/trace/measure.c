#include "sim/trace/measure.h"

#include <stdio.h>

#include "core/prng.h"
#include "tests/check.h"

static int64_t read(enum trace_measure measure, const char *text)
{
    int64_t value = -1;
    struct why why = {""};
    enum status status = trace_measure_read(measure, text, &value, &why);

    CHECK((status == STATUS_OK) == (value >= 0));
    CHECK(status == STATUS_OK || *why.text);
    return value;
}

static const char *print(enum trace_measure measure, int64_t value)
{
    static char bytes[64];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    trace_measure_print(measure, value, &text);
    return bytes;
}

static void rates_are_bytes_or_bits_per_second(void)
{
    CHECK_EQUAL(12500000, read(MEASURE_RATE, "100Mbit"));
    CHECK_EQUAL(12500000, read(MEASURE_RATE, "12.5MB"));
    CHECK_EQUAL(117700000, read(MEASURE_RATE, "117.7MB"));
    CHECK_EQUAL(1 << 20, read(MEASURE_RATE, "1MiB"));
    CHECK_EQUAL(0, read(MEASURE_RATE, "0"));
    CHECK_EQUAL(-1, read(MEASURE_RATE, "5"));
    CHECK_EQUAL(-1, read(MEASURE_RATE, "0.5B"));
    CHECK_EQUAL(-1, read(MEASURE_RATE, "-1MB"));
    CHECK_EQUAL(-1, read(MEASURE_RATE, "99999999999GB"));
    CHECK_EQUAL(-1, read(MEASURE_RATE, "1 MBx"));
    CHECK_TEXT("1Gbit", print(MEASURE_RATE, 125000000));
    CHECK_TEXT("100Mbit", print(MEASURE_RATE, 12500000));
    CHECK_TEXT("5MB", print(MEASURE_RATE, 5000000));
    CHECK_TEXT("7B", print(MEASURE_RATE, 7));
    CHECK_TEXT("0", print(MEASURE_RATE, 0));
}

static void times_are_exact_to_the_nanosecond(void)
{
    CHECK_EQUAL(120031877, read(MEASURE_TIME, "0.120031877s"));
    CHECK_EQUAL(3 * MILLISECOND, read(MEASURE_TIME, "3ms"));
    CHECK_EQUAL(-1, read(MEASURE_TIME, "0.1ns"));
    CHECK_EQUAL(-1, read(MEASURE_TIME, "3"));
    CHECK_EQUAL(-1, read(MEASURE_TIME, "9223372036854775807ns"));
    CHECK_TEXT("1500ms", print(MEASURE_TIME, 1500 * MILLISECOND));
    CHECK_TEXT("0s", print(MEASURE_TIME, 0));
}

static void a_part_is_at_most_the_whole(void)
{
    CHECK_EQUAL(PART_WHOLE / 1000, read(MEASURE_PART, "0.001"));
    CHECK_EQUAL(PART_WHOLE / 1000, read(MEASURE_PART, "0.1%"));
    CHECK_EQUAL(PART_WHOLE, read(MEASURE_PART, "1"));
    CHECK_EQUAL(-1, read(MEASURE_PART, "101%"));
    CHECK_EQUAL(-1, read(MEASURE_PART, "0.0000000001"));
    CHECK_TEXT("0.001", print(MEASURE_PART, PART_WHOLE / 1000));
    CHECK_TEXT("1", print(MEASURE_PART, PART_WHOLE));
}

static void other_numbers_have_no_unit(void)
{
    CHECK_EQUAL(PART_WHOLE / 4, read(MEASURE_NUMBER, "0.25"));
    CHECK_EQUAL(12 * PART_WHOLE, read(MEASURE_NUMBER, "12"));
    CHECK_EQUAL(1, read(MEASURE_NUMBER, "1e-9"));
    CHECK_EQUAL(-1, read(MEASURE_NUMBER, "-1"));
    CHECK_EQUAL(-1, read(MEASURE_NUMBER, "1%"));
    CHECK_EQUAL(-1, read(MEASURE_NUMBER, "1e300"));
    CHECK_TEXT("2.5", print(MEASURE_NUMBER, 5 * PART_WHOLE / 2));
    CHECK_TEXT("0", print(MEASURE_NUMBER, 0));
}

static void what_is_printed_reads_as_the_same_value(void)
{
    struct prng prng;

    prng_seed(&prng, 3);
    for (unsigned i = 0; i < 20000; i++) {
        enum trace_measure measure = (enum trace_measure)(i % MEASURES);
        int64_t value =
            (int64_t)(prng_next(&prng) >> 1 >> prng_below(&prng, 63));

        value = measure == MEASURE_PART ? value % (PART_WHOLE + 1)
                                        : value % (NEVER - 1);
        if (!CHECK_EQUAL(value, read(measure, print(measure, value))))
            break;
    }
}

static int64_t rounded(const char *text, int power)
{
    struct decimal decimal;
    int64_t value = -1;

    CHECK(decimal_read(&text, &decimal));
    return trace_round(decimal, power, &value) ? value : -1;
}

static void numbers_of_programs_are_rounded(void)
{
    CHECK_EQUAL(1000255012, rounded("1.00025501155853271", 9));
    CHECK_EQUAL(61000, rounded("6.1e-05", 9));
    CHECK_EQUAL(1, rounded("0.5", 0));
    CHECK_EQUAL(0, rounded("0.49999999999", 0));
    CHECK_EQUAL(1, rounded("5e-10", 9));
    CHECK_EQUAL(0, rounded("5e-11", 9));
    CHECK_EQUAL(0, rounded("9e-99", 9));
    CHECK_EQUAL(0, rounded("-0", 9));
    CHECK_EQUAL(-1, rounded("-1", 9));
    CHECK_EQUAL(-1, rounded("1e99", 9));
    CHECK_EQUAL(-1, rounded("9223372036854775807", 0));
    CHECK_EQUAL(NEVER - 1, rounded("9223372036854775806", 0));
}

void add_sim_trace_measure_tests(CU_pSuite suite)
{
    TEST(rates_are_bytes_or_bits_per_second);
    TEST(times_are_exact_to_the_nanosecond);
    TEST(a_part_is_at_most_the_whole);
    TEST(other_numbers_have_no_unit);
    TEST(what_is_printed_reads_as_the_same_value);
    TEST(numbers_of_programs_are_rounded);
}
