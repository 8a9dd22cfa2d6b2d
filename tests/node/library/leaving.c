/* Waiting for a hub, hearing of events, and leaving within a time. */
#include <math.h>
#include <string.h>

#include <starswitch.h>
#include <starswitch_group.h>

#include "node/library/shell.h"
#include "tests/check.h"
#include "tests/node/fake_hub.h"

#define PATIENCE 30.0

static struct star_link *attach(const char *hub, float *values,
                                struct star_options options)
{
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, values, NULL, FAKE_HUB_ELEMENTS);
    struct star_link *link = NULL;
    char error[256];

    options.size = sizeof options;
    options.hub = hub;
    options.quiet = 1;
    CHECK_EQUAL(STAR_OK,
                star_attach(&options, &tensor, 1, &link, error, sizeof error));
    return link;
}

static double seconds_since(nanos began)
{
    return (double)(net_now() - began) / (double)SECOND;
}

static void one_can_wait_until_a_hub_has_taken_the_link_in(void)
{
    struct fake_hub *hub = fake_hub_new();
    float values[FAKE_HUB_ELEMENTS] = {0};
    struct star_state state = {.size = sizeof state};
    struct star_link *link;

    fake_hub_start(hub);
    link = attach(hub->address, values, (struct star_options){.hub = NULL});
    CHECK_EQUAL(STAR_OK, star_wait(link, PATIENCE));
    CHECK_EQUAL(STAR_OK, star_look(link, &state));
    CHECK_EQUAL(1, state.attached);
    star_detach(&link);
    fake_hub_destroy(&hub);
}

static void the_wait_for_a_hub_has_an_end(void)
{
    float values[FAKE_HUB_ELEMENTS] = {0};
    struct star_link *link =
        attach("127.0.0.1:1", values, (struct star_options){.hub = NULL});
    nanos began = net_now();

    CHECK_EQUAL(STAR_TIMEOUT, star_wait(link, 0));
    CHECK_EQUAL(STAR_TIMEOUT, star_wait(link, 0.3));
    CHECK(seconds_since(began) >= 0.3);
    CHECK(seconds_since(began) < PATIENCE);
    CHECK_EQUAL(STAR_TIMEOUT, star_wait(NULL, PATIENCE));
    CHECK_EQUAL(STAR_TIMEOUT, star_detach_within(&link, 0.3));
}

static void what_is_never_over_is_a_time_all_the_same(void)
{
    CHECK_EQUAL(SECOND / 2, shell_span(0.5));
    CHECK(shell_span(1e10) > (nanos)1 << 60);
    CHECK_EQUAL(shell_span(1e300), shell_span((double)INFINITY));
    CHECK(net_now() + 2 * shell_span((double)INFINITY) > 0);
}

static void who_is_not_attached_has_no_link(void)
{
    struct star_link *link = (struct star_link *)&link;
    struct star_group *group = (struct star_group *)&group;
    const struct star_group_options wrong = {.size = 1};

    CHECK_EQUAL(STAR_BAD_ARGUMENT, star_attach(NULL, NULL, 0, &link, NULL, 0));
    CHECK(!link);
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_group_join("127.0.0.1:1", "n", &wrong, &group, NULL, 0));
    CHECK(!group);
}

static int at_once(void *context)
{
    (void)context;
    return 1;
}

static void who_is_in_a_hurry_does_not_wait_for_a_hub(void)
{
    float values[FAKE_HUB_ELEMENTS] = {0};
    struct star_link *link =
        attach("127.0.0.1:1", values, (struct star_options){.hurry = at_once});

    CHECK_EQUAL(STAR_TIMEOUT, star_wait(link, -1));
    star_detach_within(&link, 0);
}

static void events_can_be_asked_for(void)
{
    float values[FAKE_HUB_ELEMENTS] = {0};
    struct star_event event = {.size = sizeof event}, none = {.size = 0};
    struct star_link *link =
        attach("127.0.0.1:1", values, (struct star_options){.hub = NULL});
    nanos began = net_now();
    bool told = false;

    while (!told && seconds_since(began) < PATIENCE) {
        told = star_poll(link, &event) && !strcmp(event.event, "hub_unreached");
        (void)star_wait(link, 0.01);
    }
    CHECK(told);
    CHECK_CONTAINS("127.0.0.1:1", event.text);
    CHECK_EQUAL(STAR_WARNING, event.level);
    CHECK_EQUAL(0, event.lost);
    CHECK_EQUAL(0, star_poll(link, &none));
    CHECK_EQUAL(0, star_poll(NULL, &event));
    star_say(link, STAR_INFO, "script", "for the hub: it is no event");
    star_say(link, STAR_INFO, "script", NULL);
    star_say(NULL, STAR_INFO, "script", "alone");
    CHECK_EQUAL(0, star_poll(link, NULL));
    star_detach_within(&link, 0);
}

static void the_newest_events_are_kept_and_the_lost_are_counted(void)
{
    const struct star_progress unread = {.loss = 1};
    float values[FAKE_HUB_ELEMENTS] = {0};
    struct star_event event = {.size = sizeof event};
    struct star_link *link =
        attach("127.0.0.1:1", values, (struct star_options){.hub = NULL});
    int count = 0;

    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(STAR_GO, star_step(link, &unread));
    CHECK_EQUAL(1, star_poll(link, &event));
    CHECK(event.lost >= 36);
    if (!strcmp(event.event, "hub_unreached")) { /* that came in between */
        CHECK_EQUAL(1, star_poll(link, &event));
        count++;
    }
    CHECK_TEXT("progress_unread", event.event);
    CHECK_CONTAINS("size of struct star_progress is not set", event.text);
    while (star_poll(link, &event))
        count++;
    CHECK(count >= 63);
    CHECK_EQUAL(0, event.lost);
    star_detach_within(&link, 0);
}

static void a_link_is_left_within_the_time_given(void)
{
    static const double limits[] = {0, 0.5};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct fake_hub *hub = fake_hub_new();
        float values[FAKE_HUB_ELEMENTS] = {0};
        struct star_link *link;
        nanos began;

        hub->mute = true; /* it never takes the last offer */
        fake_hub_start(hub);
        link = attach(hub->address, values, (struct star_options){.hub = NULL});
        CHECK_EQUAL(STAR_OK, star_wait(link, PATIENCE));
        CHECK_EQUAL(STAR_GO, star_step(link, NULL));
        began = net_now();
        CHECK_EQUAL(STAR_TIMEOUT, star_detach_within(&link, limits[i]));
        CHECK(link == NULL);
        CHECK(seconds_since(began) < limits[i] + 5); /* of machines that swap */
        fake_hub_destroy(&hub);
    }
}

static void who_leaves_in_time_is_told_so(void)
{
    struct fake_hub *hub = fake_hub_new();
    float values[FAKE_HUB_ELEMENTS] = {0};
    struct star_link *link;

    fake_hub_start(hub);
    link = attach(hub->address, values, (struct star_options){.hub = NULL});
    CHECK_EQUAL(STAR_OK, star_wait(link, PATIENCE));
    CHECK_EQUAL(STAR_OK, star_detach_within(&link, PATIENCE));
    CHECK(fake_hub_wait(hub, &hub->goodbyes, 1));
    CHECK_EQUAL(STAR_OK, star_detach_within(&link, PATIENCE));
    CHECK_EQUAL(STAR_OK, star_detach_within(NULL, PATIENCE));
    fake_hub_destroy(&hub);
}

void add_node_library_leaving_tests(CU_pSuite suite)
{
    TEST(one_can_wait_until_a_hub_has_taken_the_link_in);
    TEST(the_wait_for_a_hub_has_an_end);
    TEST(what_is_never_over_is_a_time_all_the_same);
    TEST(who_is_not_attached_has_no_link);
    TEST(who_is_in_a_hurry_does_not_wait_for_a_hub);
    TEST(events_can_be_asked_for);
    TEST(the_newest_events_are_kept_and_the_lost_are_counted);
    TEST(a_link_is_left_within_the_time_given);
    TEST(who_leaves_in_time_is_told_so);
}
