/* Messages from one member to another, in virtual time and with a real hub. */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/circle.h"
#include "tests/collectives/station.h"

enum { BYTES = 1000 };

static struct circle *built(unsigned count)
{
    struct circle *circle = circle_new(MANNER_ELASTIC, count);

    circle_start_all(circle);
    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, SECOND));
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < BYTES; j++)
            circle->members[i].in[j] = (unsigned char)(i * 100 + j * 7);
    return circle;
}

static void tell(struct circle *circle, unsigned place, const struct msg *msg,
                 struct blob *payload)
{
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = PEER_TRAINER,
                          .channel = CHANNEL_LOCAL,
                          .msg = msg,
                          .payload = payload};

    circle_step(circle, place, &event);
}

static void send(struct circle *circle, unsigned from, unsigned to,
                 uint32_t tag)
{
    struct circle_member *member = &circle->members[from];
    struct msg msg = {.kind = MSG_POST, .post = {++member->request, to, tag}};
    struct blob *blob = blob_wrap(circle->pool, member->in, BYTES, NULL, NULL);

    tell(circle, from, &msg, blob);
    blob_unref(&blob);
}

/* Takes the last message that was announced. */
static void take(struct circle *circle, unsigned place)
{
    struct circle_member *member = &circle->members[place];
    struct msg msg = {.kind = MSG_FETCH};

    msg.fetch.request = ++member->request;
    msg.fetch.id = member->mail.id;
    msg.fetch.bytes = member->mail.bytes;
    tell(circle, place, &msg, NULL);
}

static void ap_12_a_message_moves_once_its_receiver_has_a_place(void)
{
    struct circle *circle = built(3);
    struct circle_member *members = circle->members;

    send(circle, 0, 2, 5);
    circle_run(circle, SECOND);
    CHECK_EQUAL(1, members[2].mails);
    CHECK_EQUAL(0, members[2].mail.from);
    CHECK_EQUAL(5, members[2].mail.tag);
    CHECK_EQUAL(BYTES, members[2].mail.bytes);
    CHECK_EQUAL(0, circle->inputs); /* nothing moves before it is taken */
    take(circle, 2);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, members[0].delivered.outcome);
    CHECK_EQUAL(ENDING_SUCCESS, members[2].delivered.outcome);
    CHECK_EQUAL(1, members[0].deliveries);
    CHECK_EQUAL(0, memcmp(members[0].in, members[2].out, BYTES));
    CHECK_EQUAL(16, circle->inputs);
    circle_destroy(&circle);
}

/* TAKE may overtake SIT, which travels on the other connection. */
static void a_message_waits_for_the_receivers_bulk(void)
{
    struct circle *circle = circle_new(MANNER_ELASTIC, 2);

    circle->members[1].bulk_later = 100 * MILLISECOND;
    circle_start_all(circle);
    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, 50 * MILLISECOND));
    send(circle, 0, 1, 5);
    circle_run(circle, 10 * MILLISECOND);
    take(circle, 1);
    circle_run(circle, 10 * SECOND);
    CHECK_EQUAL(1, circle->members[0].deliveries);
    CHECK_EQUAL(ENDING_SUCCESS, circle->members[1].delivered.outcome);
    circle_destroy(&circle);
}

/* What is on its way to one receiver is bounded, whoever sends. */
static void one_message_flows_to_a_receiver_at_a_time(void)
{
    struct circle *circle = built(3);

    send(circle, 0, 2, 1);
    circle_run(circle, 10 * MILLISECOND);
    take(circle, 2);
    send(circle, 1, 2, 1);
    circle_run(circle, 2 * MILLISECOND);
    take(circle, 2);
    circle_run(circle, 2 * MILLISECOND);
    CHECK_EQUAL(4, circle->inputs); /* the window of the first */
    circle_run(circle, SECOND);
    CHECK_EQUAL(2, circle->members[2].deliveries);
    CHECK_EQUAL(0, memcmp(circle->members[1].in, circle->members[2].out,
                          BYTES));
    circle_destroy(&circle);
}

static void ap_12_a_wrong_checksum_is_reported_at_both_ends(void)
{
    struct circle *circle = built(2);
    struct circle_member *members = circle->members;

    circle->spoil = true;
    send(circle, 0, 1, 0);
    circle_run(circle, SECOND);
    take(circle, 1);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_FAIL, members[1].delivered.outcome);
    CHECK_TEXT("the message does not match its checksum",
               members[1].delivered.text);
    CHECK_EQUAL(ENDING_FAIL, members[0].delivered.outcome);
    CHECK_TEXT("it did not match its checksum at the receiver",
               members[0].delivered.text);
    circle_destroy(&circle);
}

/* An end mark that vouches for something else is noticed, too. */
static void ap_12_so_is_a_wrong_end_mark(void)
{
    struct circle *circle = built(2);

    circle->spoil_end = true;
    send(circle, 0, 1, 0);
    circle_run(circle, SECOND);
    take(circle, 1);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_FAIL, circle->members[0].delivered.outcome);
    CHECK_EQUAL(ENDING_FAIL, circle->members[1].delivered.outcome);
    circle_destroy(&circle);
}

/* Nothing of it is here to be sent. */
static void credit_for_a_message_that_comes_is_nobodys(void)
{
    struct circle *circle = built(2);
    struct msg msg = {.kind = MSG_CREDIT,
                      .credit = {.exchange = 1, .more = 3}};
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};

    send(circle, 0, 1, 0);
    circle_run(circle, SECOND);
    take(circle, 1); /* its number is 1: it has made no call */
    circle_step(circle, 1, &event);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, circle->members[1].delivered.outcome);
    CHECK_EQUAL(1, circle->members[0].deliveries);
    circle_destroy(&circle);
}

static void ap_12_who_is_lost_keeps_nobody_waiting(void)
{
    struct circle *circle = built(4);
    struct circle_member *members = circle->members;

    send(circle, 0, 1, 0); /* the receiver is lost before it takes it */
    circle_run(circle, SECOND);
    circle_kill(circle, 1);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_FAIL, members[0].delivered.outcome);
    CHECK_TEXT("the receiver is lost", members[0].delivered.text);
    send(circle, 0, 9, 0); /* nobody has that rank */
    circle_run(circle, SECOND);
    CHECK_EQUAL(2, members[0].deliveries);
    CHECK_EQUAL(ENDING_FAIL, members[0].delivered.outcome);
    send(circle, 0, 1, 0); /* now the rank of member 2; the sender is lost */
    circle_run(circle, SECOND);
    CHECK_EQUAL(1, members[2].mails);
    take(circle, 2);
    circle_run(circle, 3 * MILLISECOND);
    circle_kill(circle, 0);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_FAIL, members[2].delivered.outcome);
    CHECK_TEXT("the sender is lost", members[2].delivered.text);
    send(circle, 3, 0, 0); /* withdrawn before it was taken */
    circle_run(circle, SECOND);
    CHECK_EQUAL(1, members[2].mails);
    circle_kill(circle, 3);
    circle_run(circle, SECOND);
    CHECK_EQUAL(0, members[2].mails);
    circle_destroy(&circle);
}

/* ---- with a real hub ---- */

/* Takes one message, and looks what is in it. */
static int take_one(struct star_group *group, int source, int tag)
{
    struct star_message message;
    struct star_request *request;
    int place[300];

    if (!star_group_mprobe(group, source, tag, 30, &message))
        return 2;
    if (source != STAR_ANY && message.source != source)
        return 3;
    request = star_group_imrecv(group, &message, place, sizeof place);
    if (star_group_wait(group, &request, 30) != STAR_GROUP_SUCCESS)
        return 4;
    return message.bytes == (200 + (size_t)message.tag) * sizeof *place &&
                   place[199] == message.source * 1000 + 199
               ? 0
               : 5;
}

/* Everybody sends two messages to everybody, and takes the later ones first,
 * from the last rank to the first. */
static int exchange(struct program *program)
{
    struct star_group *group = program->group;
    struct star_request *sends[6];
    struct star_message message;
    int data[300], result = 0;

    if (star_group_init(group, NULL, NULL) != STAR_REBUILD_SUCCESS)
        return 1;
    for (unsigned i = 0; i < 300; i++)
        data[i] = (int)(star_group_rank(group) * 1000 + i);
    for (unsigned i = 0; i < 6; i++)
        sends[i] = star_group_isend(group, data, (200 + i / 3) * sizeof *data,
                                    i % 3, (int)(i / 3));
    for (int i = 0; i < 6 && !result; i++)
        result = take_one(group, i < 3 ? 2 - i : STAR_ANY, i < 3);
    for (unsigned i = 0; i < 6 && !result; i++)
        if (star_group_wait(group, &sends[i], 30) != STAR_GROUP_SUCCESS)
            result = 6;
    if (!result && star_group_improbe(group, STAR_ANY, STAR_ANY, &message))
        result = 7;
    if (star_group_barrier(group) != STAR_GROUP_SUCCESS && !result)
        result = 8;
    return result;
}

static void ap_12_isend_test_improbe_imrecv_by_source_and_tag(void)
{
    struct station *station = station_new();
    const struct star_group_options elastic = {.manner = STAR_ELASTIC};
    struct program programs[STATION_MEMBERS];

    CHECK_EQUAL(0, station_run(station, 3, &elastic, exchange, programs));
    station_destroy(&station);
}

void add_collectives_mail_tests(CU_pSuite suite)
{
    TEST(ap_12_a_message_moves_once_its_receiver_has_a_place);
    TEST(one_message_flows_to_a_receiver_at_a_time);
    TEST(a_message_waits_for_the_receivers_bulk);
    TEST(ap_12_a_wrong_checksum_is_reported_at_both_ends);
    TEST(ap_12_so_is_a_wrong_end_mark);
    TEST(credit_for_a_message_that_comes_is_nobodys);
    TEST(ap_12_who_is_lost_keeps_nobody_waiting);
    TEST(ap_12_isend_test_improbe_imrecv_by_source_and_tag);
}
