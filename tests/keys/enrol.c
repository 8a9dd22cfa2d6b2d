/* Enrolling, and what is said while that does not come about. */
#include "keys/credentials.h"

#include <stdio.h>
#include <time.h>

#include "tests/check.h"
#include "tests/net/strangers.h"

static struct enrol *open_at(unsigned port, const struct key *hub)
{
    static struct key_pair enrolment, own;
    struct enrol_plan plan = {.name = "n1", .hub = *hub};
    struct enrol *enrol = NULL;

    CHECK_OK(key_pair_make(&enrolment, NULL));
    CHECK_OK(key_pair_make(&own, NULL));
    plan.enrolment = enrolment;
    plan.node = own.shown;
    plan.hubs.count = 1;
    plan.hubs.list[0].port = (uint16_t)port;
    (void)snprintf(plan.hubs.list[0].host, sizeof plan.hubs.list[0].host,
                   "127.0.0.1");
    CHECK_OK(enrol_open(&plan, &enrol, NULL));
    return enrol;
}

static bool is_sure_of(struct enrol *enrol, enum net_hindrance by)
{
    const struct net_trouble *trouble = enrol_trouble(enrol);
    struct why why = {""};

    for (int i = 0; i < 1000; i++) {
        CHECK_EQUAL(ENROL_WAITS, enrol_step(enrol, net_now(), &why));
        if (trouble->hindrance == by && net_trouble_is_sure(trouble))
            return true;
        (void)nanosleep(&(struct timespec){0, 10 * MILLISECOND}, NULL);
    }
    return false;
}

static void a_hub_with_other_keys_than_the_line_names_is_told(void)
{
    struct fake_machine *hub = fake_new(true);
    struct key_pair other;
    struct enrol *enrol;
    char text[NOTE_BYTES];

    hub->config.keys.on = true;
    CHECK_OK(key_pair_make(&hub->config.keys.own, NULL));
    CHECK_OK(key_pair_make(&other, NULL));
    fake_start(hub);
    enrol = open_at(hub->config.port, &other.shown);
    CHECK(is_sure_of(enrol, HINDRANCE_UNPROVED));
    CHECK(enrol_trouble(enrol)->times >= REFUSALS_BELIEVED);
    net_trouble_print(enrol_trouble(enrol), true, text, sizeof text);
    CHECK_CONTAINS("has other keys than this node's key is for; take the key "
                   "that starswitch-hub keygen prints",
                   text);
    enrol_close(&enrol);
    fake_destroy(&hub);
}

static void a_hub_that_is_not_there_is_told_while_a_node_would_enrol(void)
{
    struct key_pair other;
    struct enrol *enrol;

    CHECK_OK(key_pair_make(&other, NULL));
    enrol = open_at(port_of_nobody(), &other.shown);
    CHECK(is_sure_of(enrol, HINDRANCE_REFUSED));
    enrol_close(&enrol);
}

static void welcome(struct fake_machine *fake, const struct event *event,
                    struct effects *out)
{
    const struct msg msg = {.kind = MSG_ENROLLED};

    (void)fake;
    if (event->kind == EVENT_MESSAGE && event->msg->kind == MSG_ENROL)
        effects_send(out, event->peer, &msg, NULL);
}

/* It enrols anew at its next start, with a line that may serve no more. */
static void who_cannot_write_down_that_it_is_enrolled_says_so(void)
{
    struct fake_machine *hub = fake_new(true);
    struct credentials own = {.path = "/dev/null/n1.key_secret"};
    struct enrol_plan plan = {.name = "n1"};
    enum enrol_state state = ENROL_WAITS;
    struct why why = {""};

    CHECK_OK(key_pair_make(&hub->config.keys.own, NULL));
    CHECK_OK(key_pair_make(&plan.enrolment, NULL));
    hub->config.keys.on = hub->enrols = true;
    hub->enrolment = plan.enrolment.shown;
    hub->allowed[hub->allowed_count++] = plan.enrolment.shown;
    hub->react = welcome;
    fake_start(hub);
    plan.hub = hub->config.keys.own.shown;
    plan.hubs.count = 1;
    plan.hubs.list[0].port = hub->config.port;
    (void)snprintf(plan.hubs.list[0].host, sizeof plan.hubs.list[0].host,
                   "127.0.0.1");
    CHECK_OK(enrol_open(&plan, &own.enrol, NULL));
    for (int i = 0; i < 1000 && state == ENROL_WAITS; i++) {
        (void)nanosleep(&(struct timespec){0, 10 * MILLISECOND}, NULL);
        state = credentials_step(&own, net_now(), &why);
    }
    CHECK_EQUAL(ENROL_DONE, state);
    CHECK_CONTAINS("/dev/null/n1.key_secret", why.text);
    credentials_close(&own);
    fake_destroy(&hub);
}

void add_keys_enrol_tests(CU_pSuite suite)
{
    TEST(a_hub_with_other_keys_than_the_line_names_is_told);
    TEST(who_cannot_write_down_that_it_is_enrolled_says_so);
    TEST(a_hub_that_is_not_there_is_told_while_a_node_would_enrol);
}
