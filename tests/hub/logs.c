/* Lines of nodes' logs (hub/logs.c). */
#include "hub/logs.h"

#include <stdio.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

static void says(struct hub_fixture *f, const struct fake_node *node,
                 const char *text, uint64_t left_out)
{
    struct msg msg = {.kind = MSG_LOG};

    msg.log.left_out = left_out;
    (void)snprintf(msg.log.text, sizeof msg.log.text, "%s", text);
    hand_say(&f->hand, node->control, &msg, NULL);
}

static const struct logs_node *lines_of(const struct hub_fixture *f,
                                        const char *name)
{
    return logs_of(hub_logs(f->hub), name);
}

static void what_is_more_than_the_rate_is_counted(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    b = fake_node_comes(f, "b");
    says(f, &b, "here", 7);
    for (unsigned i = 0; i < LOGS_RATE + 30; i++)
        says(f, &a, "flood", 0);
    CHECK_EQUAL(LOGS_RATE, lines_of(f, "a")->next - 1);
    CHECK_EQUAL(30, lines_of(f, "a")->left_out);
    hand_wait(&f->hand, SECOND);
    says(f, &a, "last", 5);
    CHECK_EQUAL(35, lines_of(f, "a")->lines[LOGS_RATE + 1].left_out);
    CHECK_TEXT("last", lines_of(f, "a")->lines[LOGS_RATE + 1].text);
    CHECK_EQUAL(0, lines_of(f, "a")->left_out);
    CHECK_EQUAL(2, lines_of(f, "b")->next);
    CHECK_EQUAL(7, lines_of(f, "b")->lines[1].left_out);
    CHECK(!lines_of(f, "c"));
    hub_fixture_destroy(&f);
}

static void the_newest_of_a_node_stay_also_when_it_is_gone(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    char text[16];

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    for (unsigned i = 1; i <= LOGS_LINES + 10; i++) {
        (void)snprintf(text, sizeof text, "%u", i);
        says(f, &a, text, 0);
        hand_wait(&f->hand, SECOND / 10);
    }
    hand_leave(&f->hand, a.control);
    CHECK_EQUAL(11, lines_of(f, "a")->first);
    CHECK_TEXT("11", lines_of(f, "a")->lines[11].text);
    CHECK_TEXT("138", lines_of(f, "a")->lines[138 % LOGS_LINES].text);
    hub_fixture_destroy(&f);
}

static void who_was_silent_longest_makes_room(void)
{
    struct hub_fixture *f = hub_fixture_new();
    char name[16];

    hub_fixture_open(f);
    for (unsigned i = 0; i <= LOGS_NODES; i++) {
        struct fake_node node;

        (void)snprintf(name, sizeof name, "n%u", i);
        node = fake_node_comes(f, name);
        says(f, &node, "here", 0);
        hand_wait(&f->hand, MILLISECOND);
        hand_forget(&f->hand);
    }
    CHECK_EQUAL(LOGS_NODES, hub_logs(f->hub)->count);
    CHECK(!lines_of(f, "n0"));
    CHECK(lines_of(f, "n1") && lines_of(f, name));
    hub_fixture_destroy(&f);
}

void add_hub_logs_tests(CU_pSuite suite)
{
    TEST(what_is_more_than_the_rate_is_counted);
    TEST(the_newest_of_a_node_stay_also_when_it_is_gone);
    TEST(who_was_silent_longest_makes_room);
}
