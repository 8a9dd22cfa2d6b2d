/* What a hub holds against whom, and how much of it is said. */
#include "net/admission.h"

#include <string.h>
#include <sys/resource.h>

#include "tests/check.h"
#include "tests/net/origins.h"

static struct admission admission;
static unsigned said;
static struct note last;

static void on_note(void *self, nanos now, const struct note *note)
{
    (void)self;
    (void)now;
    said++;
    last = *note;
}

static const struct net_owner owner = {.note = on_note};

static void set_up(void)
{
    said = 0;
    admission_init(&admission, &owner);
}

static void an_origin_is_printed_as_people_write_it(void)
{
    struct origin four = origin_of("192.0.2.77");
    struct origin six = origin_of("2001:db8:1:2:3:4:5:6");
    struct origin none = origin_of("nonsense");
    char text[ORIGIN_TEXT_BYTES];

    four.port = 80;
    origin_print(&four, text);
    CHECK_TEXT("192.0.2.77:80", text);
    origin_print_host(&four, text);
    CHECK_TEXT("192.0.2.77", text);
    origin_print_host(&six, text);
    CHECK_TEXT("2001:db8:1:2:3:4:5:6", text);
    six.port = 80;
    origin_print(&six, text);
    CHECK_TEXT("[2001:db8:1:2:3:4:5:6]:80", text);
    origin_print(&none, text);
    CHECK_TEXT("somebody", text);
}

static void a_host_is_an_address_or_the_first_half_of_one(void)
{
    struct origin one = origin_of("192.0.2.77");
    struct origin near = origin_of("192.0.2.78");
    struct origin mapped = origin_of("::ffff:192.0.2.77");
    struct origin six = origin_of("2001:db8::1");
    struct origin same = origin_of("2001:db8::ffff:1");
    struct origin other = origin_of("2001:db8:0:1::1");

    CHECK(origin_host(&one) != origin_host(&near));
    CHECK_EQUAL(origin_prefix(&one), origin_prefix(&near));
    CHECK_EQUAL(origin_host(&one), origin_host(&mapped));
    CHECK_EQUAL(origin_host(&six), origin_host(&same));
    CHECK(origin_host(&six) != origin_host(&other));
}

static void this_machine_is_local_and_no_other(void)
{
    static const char *const local[] = {"127.0.0.1", "127.9.9.9", "::1",
                                        "::ffff:127.0.0.1", ""};
    static const char *const far[] = {"128.0.0.1", "192.168.0.1", "::2",
                                      "fe80::1"};

    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        struct origin origin = origin_of(local[i]);

        CHECK(origin_is_local(&origin));
    }
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        struct origin origin = origin_of(far[i]);

        CHECK(!origin_is_local(&origin));
    }
}

static void three_offences_ban_a_host_and_one_line_says_it(void)
{
    struct origin from = origin_of("192.0.2.1");
    struct origin near = origin_of("192.0.2.2");

    set_up();
    for (int i = 0; i < 10; i++)
        admission_add_score(&admission, SECOND, 0, &from);
    CHECK_EQUAL(1, said);
    CHECK_TEXT("192.0.2.1:0", last.subject);
    CHECK_TEXT("is banned for 10 minutes, after 3 offences", last.text);
    CHECK(admission_bans(&admission, SECOND, 0, &from));
    CHECK(!admission_bans(&admission, SECOND, 0, &near));
    CHECK(admission.look_anew);
    admission_free(&admission);
}

static void nobody_on_this_machine_is_banned(void)
{
    struct origin from = origin_of("127.0.0.1");

    set_up();
    for (int i = 0; i < 10; i++)
        admission_add_score(&admission, SECOND, 0, &from);
    CHECK_EQUAL(0, said);
    CHECK(!admission_bans(&admission, SECOND, 0, &from));
    admission_free(&admission);
}

static void a_prefix_is_complained_of_once_in_ten_seconds(void)
{
    struct origin from = origin_of("192.0.2.1");
    struct origin near = origin_of("192.0.2.2");
    struct origin far = origin_of("198.51.100.1");

    set_up();
    for (unsigned i = 0; i < 100; i++) {
        complain(&admission.complaints, SECOND + i, &from, "sent nonsense");
        complain(&admission.complaints, SECOND + i, &near, "sent nonsense");
    }
    CHECK_EQUAL(1, said);
    CHECK_TEXT("sent nonsense", last.text);
    complain(&admission.complaints, SECOND + 100, &far, "sent nonsense");
    CHECK_EQUAL(2, said);
    complain(&admission.complaints, 11 * SECOND, &near, "sent nonsense");
    CHECK_EQUAL(3, said);
    CHECK_TEXT("sent nonsense; 199 more offences before", last.text);
    admission_free(&admission);
}

static void of_many_prefixes_at_once_only_some_are_complained_of(void)
{
    set_up();
    for (unsigned i = 0; i < 10000; i++) {
        struct origin from = origin_of("10.0.0.1");

        from.address[13] = (uint8_t)(i >> 8);
        from.address[14] = (uint8_t)i;
        complain(&admission.complaints, SECOND, &from, "sent nonsense");
    }
    CHECK_EQUAL(COMPLAINTS, said);
    admission_free(&admission);
}

static void refusals_are_counted_by_reason_and_said_once_each(void)
{
    struct origin from = origin_of("192.0.2.1");

    set_up();
    for (unsigned i = 0; i < 50; i++) {
        admission_refuse(&admission, SECOND, REFUSAL_KEY, &from);
        admission_refuse(&admission, SECOND, REFUSAL_MECHANISM, &from);
    }
    CHECK_EQUAL(2, said);
    CHECK_EQUAL(50, admission.refusals.count[REFUSAL_KEY]);
    CHECK_EQUAL(50, admission.refusals.count[REFUSAL_MECHANISM]);
    CHECK_EQUAL(0, admission.refusals.count[REFUSAL_BANNED]);
    CHECK_TEXT("192.0.2.1", last.subject);
    CHECK_TEXT("has no key, and here one is needed", last.text);
    CHECK_TEXT("unknown_key", net_refusal_name(REFUSAL_KEY));
    admission_free(&admission);
}

static void there_is_room_for_as_many_as_have_a_descriptor(void)
{
    struct rlimit before, few;

    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    few = before;
    few.rlim_cur = 264;
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &few));
    set_up();
    CHECK_EQUAL(100, admission.room);
    admission_free(&admission);
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
}

void add_net_admission_tests(CU_pSuite suite)
{
    TEST(an_origin_is_printed_as_people_write_it);
    TEST(a_host_is_an_address_or_the_first_half_of_one);
    TEST(this_machine_is_local_and_no_other);
    TEST(three_offences_ban_a_host_and_one_line_says_it);
    TEST(nobody_on_this_machine_is_banned);
    TEST(a_prefix_is_complained_of_once_in_ten_seconds);
    TEST(of_many_prefixes_at_once_only_some_are_complained_of);
    TEST(refusals_are_counted_by_reason_and_said_once_each);
    TEST(there_is_room_for_as_many_as_have_a_descriptor);
}
