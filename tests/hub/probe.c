/* Tests of links: what a hub tells who asks, and how little it gives. */
#include "hub/probe.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

enum { CONTROL = 1000, BULK = 1001, OTHER = 1002, PIECE = 64 * 1024 };
enum { MINE = 77, THEIRS = 78 };

#define MIB ((uint64_t)1 << 20)

static struct hub_fixture *open_fixture(void)
{
    struct hub_fixture *f = hub_fixture_new();

    hub_fixture_open(f);
    hand_join_as(&f->hand, CONTROL, CHANNEL_CONTROL, MINE);
    hand_join_as(&f->hand, BULK, CHANNEL_BULK, MINE);
    return f;
}

static const struct msg_probed *asks(struct hub_fixture *f, peer_id peer,
                                     uint64_t bytes)
{
    const struct msg msg = {.kind = MSG_PROBE,
                            .probe = {.protocol_min = 1,
                                      .protocol_max = 99,
                                      .sent = 12345,
                                      .bytes = bytes}};
    static const struct msg_probed none;
    const struct hand_sent *sent;

    hand_forget(&f->hand);
    hand_say(&f->hand, peer, &msg, NULL);
    sent = hand_last(&f->hand, peer, MSG_PROBED);
    CHECK(sent != NULL);
    return sent ? &sent->msg.probed : &none;
}

static void fills(struct hub_fixture *f, peer_id peer, uint64_t ticket,
                  size_t bytes)
{
    const struct msg msg = {.kind = MSG_FILL, .fill.ticket = ticket};
    struct blob *payload = blob_new(f->hand.pool, bytes);

    memset(payload->bytes, 0, bytes);
    hand_say(&f->hand, peer, &msg, payload);
    blob_unref(&payload);
}

static uint64_t filled(const struct hub_fixture *f, peer_id peer)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < hand_count(&f->hand, peer, MSG_FILLED); i++)
        bytes += hand_nth(&f->hand, peer, MSG_FILLED, i)->payload->size;
    return bytes;
}

static void a_stranger_is_told_protocol_and_time(void)
{
    struct hub_fixture *f = open_fixture();
    struct msg clock = {.kind = MSG_LOCAL_CLOCK, .local_clock = {5 * SECOND}};
    const struct msg_probed *said = asks(f, CONTROL, 0);

    CHECK_EQUAL(12345, said->sent);
    CHECK_EQUAL(PROTOCOL_MIN, said->protocol_min);
    CHECK_EQUAL(PROTOCOL_MAX, said->protocol_max);
    CHECK_EQUAL(0, said->clock);
    CHECK_EQUAL(0, said->ticket);
    hand_say(&f->hand, PEER_OPERATOR, &clock, NULL);
    hand_wait(&f->hand, 2 * SECOND);
    CHECK_EQUAL(7 * SECOND, asks(f, CONTROL, 0)->clock);
    hub_fixture_destroy(&f);
}

static void the_models_size_is_told_once_there_is_one(void)
{
    struct hub_fixture *f = open_fixture();

    CHECK_EQUAL(0, asks(f, CONTROL, 0)->elements);
    (void)fake_node_comes(f, "a");
    CHECK_EQUAL(FIXTURE_ELEMENTS, asks(f, CONTROL, 0)->elements);
    hub_fixture_destroy(&f);
}

static void as_many_bytes_come_back_as_were_sent(void)
{
    struct hub_fixture *f = open_fixture();
    const struct msg_probed said = *asks(f, CONTROL, 2 * PIECE + 10);

    CHECK_EQUAL(2 * PIECE + 10, said.bytes);
    fills(f, BULK, said.ticket, PIECE);
    fills(f, BULK, said.ticket, PIECE);
    CHECK_EQUAL(0, filled(f, BULK));
    fills(f, BULK, said.ticket, 10);
    CHECK_EQUAL(1 + 2 * PIECE + 10, filled(f, BULK));
    /* It is over: the same again gives nothing. */
    hand_forget(&f->hand);
    fills(f, BULK, said.ticket, PIECE);
    CHECK_EQUAL(0, filled(f, BULK));
    hub_fixture_destroy(&f);
}

/* As the driver has counted them; protocol 3 has no words for it. */
static void who_understands_is_told_what_was_sent_again(void)
{
    for (uint32_t protocol = PROTOCOL_TOLD - 1; protocol <= PROTOCOL_TOLD;
         protocol++) {
        struct hub_fixture *f = open_fixture();
        struct msg msg = {.kind = MSG_PROBE,
                          .probe = {.protocol_min = 3,
                                    .protocol_max = protocol,
                                    .bytes = 10}};
        struct blob *payload = blob_new(f->hand.pool, 10);
        const struct hand_sent *sent;
        bool told = protocol == PROTOCOL_TOLD;

        memset(payload->bytes, 0, 10);
        hand_say(&f->hand, CONTROL, &msg, NULL);
        sent = hand_last(&f->hand, CONTROL, MSG_PROBED);
        msg = (struct msg){.kind = MSG_FILL,
                           .fill = {.ticket = sent->msg.probed.ticket,
                                    .sent = 500,
                                    .resent = 5}};
        hand_say(&f->hand, BULK, &msg, payload);
        blob_unref(&payload);
        sent = hand_last(&f->hand, BULK, MSG_FILLED);
        CHECK_EQUAL(told ? 500 : 0, sent->msg.filled.sent);
        CHECK_EQUAL(told ? 5 : 0, sent->msg.filled.resent);
        hub_fixture_destroy(&f);
    }
}

static void who_sends_without_a_ticket_or_too_much_is_cut(void)
{
    struct hub_fixture *f = open_fixture();
    uint64_t ticket = asks(f, CONTROL, PIECE)->ticket;

    fills(f, BULK, ticket, PIECE - 1);
    fills(f, BULK, ticket, 2);
    CHECK(hand_dropped(&f->hand, BULK));
    CHECK_EQUAL(0, filled(f, BULK));
    hand_join_as(&f->hand, OTHER, CHANNEL_BULK, MINE);
    fills(f, OTHER, ticket + 1, PIECE);
    CHECK(hand_dropped(&f->hand, OTHER));
    hub_fixture_destroy(&f);
}

static void nobody_fills_on_anothers_ticket(void)
{
    struct hub_fixture *f = open_fixture();
    uint64_t ticket = asks(f, CONTROL, 10)->ticket;

    hand_join_as(&f->hand, OTHER, CHANNEL_BULK, THEIRS);
    fills(f, OTHER, ticket, 10);
    CHECK_EQUAL(0, filled(f, OTHER));
    fills(f, BULK, ticket, 10);
    CHECK_EQUAL(11, filled(f, BULK));
    hub_fixture_destroy(&f);
}

static void one_measures_at_a_time(void)
{
    struct hub_fixture *f = open_fixture();
    const struct msg_probed *said;

    CHECK(asks(f, CONTROL, 10)->ticket != 0);
    hand_join_as(&f->hand, OTHER, CHANNEL_CONTROL, THEIRS);
    said = asks(f, OTHER, 10);
    CHECK_EQUAL(0, said->ticket);
    CHECK(said->wait > 9 * SECOND && said->wait <= 10 * SECOND);
    hand_leave(&f->hand, CONTROL);
    CHECK(asks(f, OTHER, 10)->ticket != 0);
    hub_fixture_destroy(&f);
}

/* So nobody has the hub send for them. */
static void all_tests_together_have_a_budget(void)
{
    struct hub_fixture *f = open_fixture();
    const struct msg_probed *said;
    uint64_t given = 0;

    for (unsigned i = 0; i < 20; i++)
        given += asks(f, CONTROL, 100 * MIB)->bytes;
    CHECK_EQUAL(16 * MIB, given); /* and as many back */
    said = asks(f, CONTROL, 8 * MIB);
    CHECK_EQUAL(0, said->ticket);
    CHECK_NEAR(16, (double)said->wait / (double)SECOND, 1);
    hand_wait(&f->hand, said->wait + SECOND);
    hand_join_as(&f->hand, OTHER, CHANNEL_CONTROL, MINE);
    CHECK_EQUAL(8 * MIB, asks(f, OTHER, 8 * MIB)->bytes);
    CHECK_EQUAL(0, asks(f, OTHER, 8 * MIB)->bytes);
    hub_fixture_destroy(&f);
}

static void a_hub_with_a_rate_gives_an_eighth_of_a_second(void)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.up = 8000;
    hub_fixture_open(f);
    hand_join(&f->hand, CONTROL, CHANNEL_CONTROL);
    CHECK_EQUAL(1000, asks(f, CONTROL, MIB)->bytes);
    hub_fixture_destroy(&f);
}

static void who_may_only_enrol_is_told_the_time_alone(void)
{
    struct hub_fixture *f = open_fixture();
    const struct msg_probed *said;

    (void)fake_node_comes(f, "a");
    hand_join_as(&f->hand, OTHER, CHANNEL_CONTROL, KEY_ENROLS);
    said = asks(f, OTHER, MIB);
    CHECK_EQUAL(PROTOCOL_MAX, said->protocol_max);
    CHECK_EQUAL(0, said->ticket);
    CHECK_EQUAL(0, said->wait);
    CHECK_EQUAL(0, said->elements);
    hub_fixture_destroy(&f);
}

static void who_asks_without_end_is_cut(void)
{
    const struct msg msg = {.kind = MSG_PROBE};
    struct hub_fixture *f = open_fixture();

    for (unsigned i = 0; i < 64; i++)
        (void)asks(f, CONTROL, 0);
    CHECK(!hand_dropped(&f->hand, CONTROL));
    hand_say(&f->hand, CONTROL, &msg, NULL);
    CHECK(hand_dropped(&f->hand, CONTROL));
    hub_fixture_destroy(&f);
}

void add_hub_probe_tests(CU_pSuite suite)
{
    TEST(a_stranger_is_told_protocol_and_time);
    TEST(the_models_size_is_told_once_there_is_one);
    TEST(as_many_bytes_come_back_as_were_sent);
    TEST(who_understands_is_told_what_was_sent_again);
    TEST(who_sends_without_a_ticket_or_too_much_is_cut);
    TEST(nobody_fills_on_anothers_ticket);
    TEST(one_measures_at_a_time);
    TEST(all_tests_together_have_a_budget);
    TEST(a_hub_with_a_rate_gives_an_eighth_of_a_second);
    TEST(who_may_only_enrol_is_told_the_time_alone);
    TEST(who_asks_without_end_is_cut);
}
