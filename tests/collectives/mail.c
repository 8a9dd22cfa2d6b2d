/* Messages from one member to another, in virtual time and with a real hub. */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/threaded_hub.h"
#include "tests/collectives/virtual_group.h"

enum { BYTES = 1000 };

static struct virtual_group *built(unsigned count)
{
    struct virtual_group *group = virtual_new(MANNER_ELASTIC, count);

    virtual_start_all(group);
    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < BYTES; j++)
            group->members[i].in[j] = (unsigned char)(i * 100 + j * 7);
    return group;
}

static void tell(struct virtual_group *group, unsigned place,
                 const struct msg *msg, struct blob *payload)
{
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = PEER_TRAINER,
                          .channel = CHANNEL_LOCAL,
                          .msg = msg,
                          .payload = payload};

    virtual_step(group, place, &event);
}

static void send(struct virtual_group *group, unsigned from, unsigned to,
                 uint32_t tag)
{
    struct virtual_member *member = &group->members[from];
    struct msg msg = {.kind = MSG_POST, .post = {++member->request, to, tag}};
    struct blob *blob = blob_wrap(group->pool, member->in, BYTES, NULL, NULL);

    tell(group, from, &msg, blob);
    blob_unref(&blob);
}

/* Takes the last message that was announced. */
static void take(struct virtual_group *group, unsigned place)
{
    struct virtual_member *member = &group->members[place];
    struct msg msg = {.kind = MSG_FETCH};

    msg.fetch.request = ++member->request;
    msg.fetch.id = member->mail.id;
    msg.fetch.bytes = member->mail.bytes;
    tell(group, place, &msg, NULL);
}

static void ap_12_a_message_moves_once_its_receiver_has_a_place(void)
{
    struct virtual_group *group = built(3);
    struct virtual_member *members = group->members;

    send(group, 0, 2, 5);
    virtual_run(group, SECOND);
    CHECK_EQUAL(1, members[2].mails);
    CHECK_EQUAL(0, members[2].mail.from);
    CHECK_EQUAL(5, members[2].mail.tag);
    CHECK_EQUAL(BYTES, members[2].mail.bytes);
    CHECK_EQUAL(0, group->inputs); /* nothing moves before it is taken */
    take(group, 2);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, members[0].delivered.outcome);
    CHECK_EQUAL(ENDING_SUCCESS, members[2].delivered.outcome);
    CHECK_EQUAL(1, members[0].deliveries);
    CHECK_EQUAL(0, memcmp(members[0].in, members[2].out, BYTES));
    CHECK_EQUAL(16, group->inputs);
    virtual_destroy(&group);
}

/* TAKE may overtake SIT, which travels on the other connection. */
static void a_message_waits_for_the_receivers_bulk(void)
{
    struct virtual_group *group = virtual_new(MANNER_ELASTIC, 2);

    group->members[1].bulk_later = 100 * MILLISECOND;
    virtual_start_all(group);
    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, 50 * MILLISECOND));
    send(group, 0, 1, 5);
    virtual_run(group, 10 * MILLISECOND);
    take(group, 1);
    virtual_run(group, 10 * SECOND);
    CHECK_EQUAL(1, group->members[0].deliveries);
    CHECK_EQUAL(ENDING_SUCCESS, group->members[1].delivered.outcome);
    virtual_destroy(&group);
}

/* What is on its way to one receiver is bounded, whoever sends. */
static void one_message_flows_to_a_receiver_at_a_time(void)
{
    struct virtual_group *group = built(3);

    send(group, 0, 2, 1);
    virtual_run(group, 10 * MILLISECOND);
    take(group, 2);
    send(group, 1, 2, 1);
    virtual_run(group, 2 * MILLISECOND);
    take(group, 2);
    virtual_run(group, 2 * MILLISECOND);
    CHECK_EQUAL(4, group->inputs); /* the window of the first */
    virtual_run(group, SECOND);
    CHECK_EQUAL(2, group->members[2].deliveries);
    CHECK_EQUAL(0, memcmp(group->members[1].in, group->members[2].out, BYTES));
    virtual_destroy(&group);
}

static void ap_12_a_wrong_checksum_is_reported_at_both_ends(void)
{
    struct virtual_group *group = built(2);
    struct virtual_member *members = group->members;

    group->spoil = true;
    send(group, 0, 1, 0);
    virtual_run(group, SECOND);
    take(group, 1);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_FAIL, members[1].delivered.outcome);
    CHECK_TEXT("the message does not match its checksum",
               members[1].delivered.text);
    CHECK_EQUAL(ENDING_FAIL, members[0].delivered.outcome);
    CHECK_TEXT("it did not match its checksum at the receiver",
               members[0].delivered.text);
    virtual_destroy(&group);
}

/* An end mark that vouches for something else is noticed, too. */
static void ap_12_so_is_a_wrong_end_mark(void)
{
    struct virtual_group *group = built(2);

    group->spoil_end = true;
    send(group, 0, 1, 0);
    virtual_run(group, SECOND);
    take(group, 1);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_FAIL, group->members[0].delivered.outcome);
    CHECK_EQUAL(ENDING_FAIL, group->members[1].delivered.outcome);
    virtual_destroy(&group);
}

/* Nothing of it is here to be sent. */
static void credit_for_a_message_that_comes_is_nobodys(void)
{
    struct virtual_group *group = built(2);
    struct msg msg = {.kind = MSG_CREDIT, .credit = {.exchange = 1, .more = 3}};
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};

    send(group, 0, 1, 0);
    virtual_run(group, SECOND);
    take(group, 1); /* its number is 1: it has made no call */
    virtual_step(group, 1, &event);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, group->members[1].delivered.outcome);
    CHECK_EQUAL(1, group->members[0].deliveries);
    virtual_destroy(&group);
}

/* While its memory is being read, of which the program is free afterwards. */
static void what_was_not_sent_yet_has_not_been_received(void)
{
    struct virtual_group *group = built(2);
    struct virtual_member *sender = &group->members[0];
    struct msg msg = {.kind = MSG_CREDIT, .credit = {.exchange = 1, .more = 4}};
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};

    send(group, 0, 1, 0); /* its number is 1: it has made no call */
    virtual_step(group, 0, &event);
    msg = (struct msg){.kind = MSG_OUTCOME,
                       .outcome = {.number = 1, .outcome = ENDING_SUCCESS}};
    virtual_step(group, 0, &event);
    CHECK_EQUAL(0, sender->deliveries);
    virtual_run(group, SECOND);
    CHECK_EQUAL(1, sender->deliveries);
    CHECK_EQUAL(ENDING_FAIL, sender->delivered.outcome);
    CHECK_TEXT("said to be received before it was sent",
               sender->delivered.text);
    virtual_destroy(&group);
}

static void ap_12_who_is_lost_keeps_nobody_waiting(void)
{
    struct virtual_group *group = built(4);
    struct virtual_member *members = group->members;

    send(group, 0, 1, 0); /* the receiver is lost before it takes it */
    virtual_run(group, SECOND);
    virtual_kill(group, 1);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_FAIL, members[0].delivered.outcome);
    CHECK_TEXT("the receiver is lost", members[0].delivered.text);
    send(group, 0, 9, 0); /* nobody has that rank */
    virtual_run(group, SECOND);
    CHECK_EQUAL(2, members[0].deliveries);
    CHECK_EQUAL(ENDING_FAIL, members[0].delivered.outcome);
    send(group, 0, 1, 0); /* now the rank of member 2; the sender is lost */
    virtual_run(group, SECOND);
    CHECK_EQUAL(1, members[2].mails);
    take(group, 2);
    virtual_run(group, 3 * MILLISECOND);
    virtual_kill(group, 0);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_FAIL, members[2].delivered.outcome);
    CHECK_TEXT("the sender is lost", members[2].delivered.text);
    send(group, 3, 0, 0); /* withdrawn before it was taken */
    virtual_run(group, SECOND);
    CHECK_EQUAL(1, members[2].mails);
    virtual_kill(group, 3);
    virtual_run(group, SECOND);
    CHECK_EQUAL(0, members[2].mails);
    virtual_destroy(&group);
}

/* ---- with a real hub ---- */

/* Takes one message, and looks what is in it. */
static int take_one(struct star_group *group, int source, int tag)
{
    struct star_message message = {.size = sizeof message};
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
    struct star_message message = {.size = sizeof message};
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
    struct threaded_hub *hub = threaded_new();
    const struct star_group_options elastic = {.size = sizeof elastic,
                                               .manner = STAR_ELASTIC};
    struct program programs[THREADED_MEMBERS];

    CHECK_EQUAL(0, threaded_run(hub, 3, &elastic, exchange, programs));
    threaded_destroy(&hub);
}

static bool was_interrupted(struct star_group *group)
{
    struct star_group_state state = {.size = sizeof state};

    (void)star_group_look(group, &state);
    return strcmp(state.text, "the program interrupted the call") == 0;
}

/* Nobody sends to it, and nobody takes what it sends but itself, in the end. */
static int wait_in_vain(struct program *program)
{
    struct star_group *group = program->group;
    struct star_message message = {.size = sizeof message};
    int data[200] = {[199] = 199}, found, result = 0;
    enum star_group_status status;
    struct interrupter interrupter;
    struct star_request *request;

    if (star_group_build(group) == STAR_GROUP_ABORT)
        return 1;
    interrupter_start(&interrupter, group);
    found = star_group_mprobe(group, STAR_ANY, 0, 30, &message);
    if (found || !was_interrupted(group))
        result = 10;
    request = star_group_isend(group, data, sizeof data, 0, 0);
    status = star_group_wait(group, &request, 30);
    if (status != STAR_GROUP_FAIL || !request || !was_interrupted(group))
        result = 11;
    interrupter_stop(&interrupter);
    if (!result)
        result = take_one(group, 0, 0);
    if (!result && star_group_wait(group, &request, 30) != STAR_GROUP_SUCCESS)
        result = 12;
    return result;
}

static void who_waits_for_a_message_can_be_interrupted(void)
{
    struct threaded_hub *hub = threaded_new();
    const struct star_group_options elastic = {.size = sizeof elastic,
                                               .manner = STAR_ELASTIC};
    struct program programs[THREADED_MEMBERS];

    CHECK_EQUAL(0, threaded_run(hub, 1, &elastic, wait_in_vain, programs));
    threaded_destroy(&hub);
}

void add_collectives_mail_tests(CU_pSuite suite)
{
    TEST(ap_12_a_message_moves_once_its_receiver_has_a_place);
    TEST(one_message_flows_to_a_receiver_at_a_time);
    TEST(a_message_waits_for_the_receivers_bulk);
    TEST(ap_12_a_wrong_checksum_is_reported_at_both_ends);
    TEST(ap_12_so_is_a_wrong_end_mark);
    TEST(credit_for_a_message_that_comes_is_nobodys);
    TEST(what_was_not_sent_yet_has_not_been_received);
    TEST(ap_12_who_is_lost_keeps_nobody_waiting);
    TEST(ap_12_isend_test_improbe_imrecv_by_source_and_tag);
    TEST(who_waits_for_a_message_can_be_interrupted);
}
