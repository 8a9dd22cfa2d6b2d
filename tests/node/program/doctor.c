/* What doctor says of what was measured, and of what is no hub. */
#include "node/program/doctor.h"

#include <stdio.h>
#include <string.h>

#include "node/program/sniff.h"
#include "tests/check.h"

#define MBIT 125e3

/* A link and a PC that nothing is wrong with. */
static struct doctor_facts healthy(void)
{
    return (struct doctor_facts){.host = "pc0",
                                 .port = 7541,
                                 .reached = true,
                                 .answered = true,
                                 .protocol_min = 3,
                                 .protocol_max = 3,
                                 .clock_known = true,
                                 .trips = 10,
                                 .trip_usual = 200 * MICROSECOND,
                                 .trip_longest = MILLISECOND,
                                 .second_there = true,
                                 .up = 930 * MBIT,
                                 .down = 940 * MBIT,
                                 .tcp = {.known = true,
                                         .sent = 5000,
                                         .received = 5000,
                                         .packet = 1500,
                                         .path = 1500},
                                 .card = "eth0",
                                 .card_rate = 1000 * MBIT,
                                 .governed = 4,
                                 .cores = 4,
                                 .elements = 1000000,
                                 .memory = (uint64_t)8 << 30,
                                 .disk = (uint64_t)8 << 30,
                                 .folder = "."};
}

static struct doctor_report judge(const struct doctor_facts *facts)
{
    struct doctor_report report = {.count = 0};

    doctor_judge(facts, &report);
    return report;
}

static const struct finding *of(const struct doctor_report *report,
                                enum doctor_check check)
{
    static const struct finding none;

    for (unsigned i = 0; i < report->count; i++)
        if (report->list[i].check == check)
            return &report->list[i];
    CHECK_TEXT("a finding", NULL);
    return &none;
}

/* That one finding alone is not ok. */
static void finds(const struct doctor_facts *facts, enum doctor_check check,
                  enum doctor_level level, const char *words)
{
    struct doctor_report report = judge(facts);

    for (unsigned i = 0; i < report.count; i++) {
        const struct finding *one = &report.list[i];

        CHECK_EQUAL(one->check == check ? level : DOCTOR_OK, one->level);
        CHECK(one->level == DOCTOR_OK || one->advice[0]);
    }
    CHECK_CONTAINS(words, of(&report, check)->text);
    CHECK((doctor_status(&report) == STATUS_OK) == (level != DOCTOR_BAD));
}

static void of_a_healthy_link_all_is_ok(void)
{
    struct doctor_facts facts = healthy();
    struct doctor_report report = judge(&facts);

    CHECK_EQUAL(CHECKS, report.count);
    for (unsigned i = 0; i < report.count; i++) {
        CHECK_EQUAL(i, report.list[i].check);
        CHECK_EQUAL(DOCTOR_OK, report.list[i].level);
        CHECK(report.list[i].text[0] != '\0');
    }
}

static struct doctor_facts hindered(enum net_hindrance hindrance)
{
    struct doctor_facts facts = {.host = "pc0", .port = 7541, .cores = 4};

    facts.trouble.hindrance = hindrance;
    (void)snprintf(facts.trouble.host, sizeof facts.trouble.host, "pc0");
    facts.trouble.port = 7541;
    return facts;
}

/* Every reason that a node knows has a place, a word and an exit code. */
static void each_hindrance_is_one_bad_finding(void)
{
    for (unsigned i = 1; i < HINDRANCE_COUNT; i++) {
        struct doctor_facts facts = hindered(i);
        struct doctor_report report = judge(&facts);
        unsigned bad = 0;

        for (unsigned j = 0; j < report.count; j++)
            bad += report.list[j].level == DOCTOR_BAD;
        CHECK_EQUAL(1, bad);
        CHECK(doctor_status(&report) == STATUS_UNAVAILABLE ||
              doctor_status(&report) == STATUS_REFUSED);
    }
}

static void what_is_no_hub_is_called_by_its_name(void)
{
    struct doctor_facts facts = hindered(HINDRANCE_NO_HUB);

    (void)snprintf(facts.looks_like, sizeof facts.looks_like, "an SSH server");
    finds(&facts, CHECK_PORT, DOCTOR_BAD, "; it looks like an SSH server");
}

static void of_several_addresses_it_says_which_answers(void)
{
    struct doctor_facts facts = healthy();

    facts.places = 2;
    (void)snprintf(facts.place, sizeof facts.place, "10.77.0.1");
    finds(&facts, CHECK_PORT, DOCTOR_OK, "its 2 addresses 10.77.0.1 answers");
    facts = hindered(HINDRANCE_REFUSED);
    facts.places = 2;
    finds(&facts, CHECK_PORT, DOCTOR_BAD, "it is at none of its 2 addresses");
}

static void each_thing_that_is_wrong_is_found_alone(void)
{
    struct doctor_facts facts = healthy();

    facts.protocol_min = facts.protocol_max = 9;
    finds(&facts, CHECK_PROTOCOL, DOCTOR_BAD, "the hub speaks 9 to 9");
    facts = healthy();
    facts.clock_ahead = -3600 * SECOND;
    finds(&facts, CHECK_CLOCK, DOCTOR_WARN, "60 min ahead of the hub's");
    facts = healthy();
    facts.trip_usual = 80 * MILLISECOND;
    finds(&facts, CHECK_TRIP, DOCTOR_WARN, "80 ms");
    facts = healthy();
    facts.up = 94 * MBIT;
    finds(&facts, CHECK_UP, DOCTOR_WARN,
          "94 Mbit/s; the card (eth0) says 1 Gbit/s");
    facts = healthy();
    facts.tcp.resent = 50;
    finds(&facts, CHECK_LOSS, DOCTOR_WARN, "50 of 5000 packets");
    facts = healthy();
    facts.tcp.astray = 50;
    finds(&facts, CHECK_LOSS, DOCTOR_WARN, "50 of 5000 came behind a gap");
    facts = healthy();
    facts.hub_sent = 5000;
    facts.hub_resent = 50;
    facts.tcp.astray = 500;
    finds(&facts, CHECK_LOSS, DOCTOR_WARN, "from it 50 of 5000 (1 %)");
    facts = healthy();
    facts.tcp.path = 1400;
    finds(&facts, CHECK_MTU, DOCTOR_WARN, "packets of 1400 bytes");
    facts = healthy();
    facts.saving = 4;
    finds(&facts, CHECK_POWER, DOCTOR_WARN, "4 of 4 cores save power");
    facts = healthy();
    facts.load = 3;
    finds(&facts, CHECK_CORES, DOCTOR_WARN, "3.0 threads at a time");
    facts = healthy();
    facts.elements = 1000000000;
    facts.disk = (uint64_t)64 << 30;
    finds(&facts, CHECK_MEMORY, DOCTOR_BAD, "8.59 GB are free");
    facts = healthy();
    facts.disk = 1000000;
    finds(&facts, CHECK_DISK, DOCTOR_WARN, "1 MB are free");
}

/* One lost packet has many behind it, that are not lost. */
static void a_single_gap_is_no_warning(void)
{
    struct doctor_facts facts = healthy();

    facts.tcp.astray = 20;
    CHECK_EQUAL(DOCTOR_OK, judge(&facts).list[CHECK_LOSS].level);
}

/* Unless it is lost by who does not fill the queue, too. */
static void what_a_full_queue_lost_no_cable_has(void)
{
    struct doctor_facts facts = healthy();

    facts.tcp.resent = 500;
    facts.hub_sent = 5000;
    facts.hub_resent = 400;
    facts.calm_sent = 400;
    facts.calm_hub_sent = 500;
    facts.calm_resent = 1;
    finds(&facts, CHECK_LOSS, DOCTOR_OK,
          "rate 1 of 900: a queue on the way is short");
    facts.calm_hub_resent = 5;
    finds(&facts, CHECK_LOSS, DOCTOR_WARN, "from it 400 of 5000 (8 %)");
    facts.calm_hub_resent = 0;
    facts.calm_resent = 4;
    finds(&facts, CHECK_LOSS, DOCTOR_WARN, "to the hub 500 of 5000");
    facts.calm_resent = 0;
    facts.calm_sent = 10;
    finds(&facts, CHECK_LOSS, DOCTOR_WARN, "to the hub 500 of 5000");
}

/* A tenth of a second does not fill it, and that is no fault of a cable. */
static void a_fast_card_that_is_not_filled_is_no_warning(void)
{
    struct doctor_facts facts = healthy();

    facts.card_rate = 10000 * MBIT;
    CHECK_EQUAL(DOCTOR_OK, judge(&facts).list[CHECK_UP].level);
}

/* Rates and losses, and the exit code does not say that all is well. */
static void not_measured(const struct doctor_facts *facts, const char *why)
{
    static const enum doctor_check checks[] = {CHECK_UP, CHECK_DOWN,
                                               CHECK_LOSS};
    struct doctor_report report = judge(facts);

    for (unsigned i = 0; i < 3; i++) {
        const struct finding *one = of(&report, checks[i]);

        CHECK_EQUAL(DOCTOR_WARN, one->level);
        CHECK_CONTAINS(i ? "not measured: as rate up" : "not measured: ",
                       one->text);
        CHECK(one->advice[0]);
    }
    CHECK_CONTAINS(why, of(&report, CHECK_UP)->text);
    CHECK_EQUAL(STATUS_AGAIN, doctor_status(&report));
}

static void a_link_that_is_not_measured_is_not_said_to_be_well(void)
{
    struct doctor_facts facts = healthy();

    facts.up = facts.down = 0;
    not_measured(&facts, "did not answer to the end");
    facts.budget_spent = true;
    not_measured(&facts, "others have tested their links");
    facts = healthy();
    facts.tcp.received = 100;
    finds(&facts, CHECK_LOSS, DOCTOR_WARN, "not measured: too few packets");
}

static void who_may_only_enrol_is_told_to_do_so(void)
{
    struct doctor_facts facts = healthy();

    facts.key = DOCTOR_ENROLMENT;
    finds(&facts, CHECK_KEY, DOCTOR_WARN, "has not enrolled yet");
    facts.up = facts.down = 0;
    not_measured(&facts, "only to who has enrolled");
    facts = hindered(HINDRANCE_REFUSES_KEY);
    facts.key = DOCTOR_NO_KEY;
    finds(&facts, CHECK_KEY, DOCTOR_BAD, "no key of its own yet");
}

static void long_messages_that_vanish_are_no_slow_link(void)
{
    struct doctor_facts facts = healthy();
    struct doctor_report report;

    facts.up = facts.down = 0;
    facts.stalled_up = true;
    finds(&facts, CHECK_UP, DOCTOR_BAD,
          "short messages reach the hub, long ones do not");
    facts.longest = 1299;
    finds(&facts, CHECK_UP, DOCTOR_BAD,
          "long ones do not: packets of up to 1299 bytes go through");
    report = judge(&facts);
    CHECK_CONTAINS("dev CARD mtu 1299 on both", of(&report, CHECK_UP)->advice);
    facts = healthy();
    facts.down = 0;
    facts.stalled_down = true;
    finds(&facts, CHECK_DOWN, DOCTOR_BAD,
          "short messages come from the hub, long ones do not");
}

static void a_connection_that_is_cut_is_told_of(void)
{
    struct doctor_facts facts = healthy();
    struct doctor_report report;

    facts.cut = true;
    facts.cut_after = 200000;
    finds(&facts, CHECK_SECOND, DOCTOR_BAD,
          "7542 for data was cut after 200 kB");
    facts.cut_silently = true;
    finds(&facts, CHECK_SECOND, DOCTOR_BAD, "fell silent after 200 kB");
    facts.up = facts.down = 0;
    report = judge(&facts);
    CHECK_CONTAINS("did not last", of(&report, CHECK_UP)->text);
    CHECK_EQUAL(STATUS_UNAVAILABLE, doctor_status(&report));
}

static void looks_like(const char *said, size_t size, const char *words)
{
    char out[SNIFF_WORDS];

    sniff_words((const unsigned char *)said, size, out);
    CHECK_TEXT(words, out);
}

static void what_listens_there_is_known_by_its_first_bytes(void)
{
    looks_like("", 0, "");
    looks_like("SSH-2.0-x", 9, "an SSH server");
    looks_like("HTTP/1.1 400", 12, "a web server (HTTP)");
    looks_like("\x15\x03\x01\0\2", 5, "a server of TLS, such as HTTPS");
    looks_like("\xff\0\0\0\0\0\0\0\1\x7f", 10,
               "another program that speaks ZeroMQ");
    looks_like("hi\r\nyou", 7, "a program that says \"hi\"");
    looks_like("\x1b[2J\xff", 5, "a program that says \"?[2J?\"");
    looks_like("a\0\0\0\x0a"
               "8.0",
               8, "a MySQL server");
}

/* Of what was too short to be timed a bound is told, and called one. */
static void a_rate_that_was_reached_at_least_is_called_so(void)
{
    struct doctor_facts facts = healthy();

    facts.down = 8e8;
    facts.down_at_least = true;
    finds(&facts, CHECK_DOWN, DOCTOR_OK, "at least 6.4 Gbit/s");
}

void add_node_program_doctor_tests(CU_pSuite suite)
{
    TEST(of_a_healthy_link_all_is_ok);
    TEST(each_hindrance_is_one_bad_finding);
    TEST(what_is_no_hub_is_called_by_its_name);
    TEST(of_several_addresses_it_says_which_answers);
    TEST(each_thing_that_is_wrong_is_found_alone);
    TEST(a_single_gap_is_no_warning);
    TEST(what_a_full_queue_lost_no_cable_has);
    TEST(a_fast_card_that_is_not_filled_is_no_warning);
    TEST(a_link_that_is_not_measured_is_not_said_to_be_well);
    TEST(who_may_only_enrol_is_told_to_do_so);
    TEST(long_messages_that_vanish_are_no_slow_link);
    TEST(a_connection_that_is_cut_is_told_of);
    TEST(a_rate_that_was_reached_at_least_is_called_so);
    TEST(what_listens_there_is_known_by_its_first_bytes);
}
