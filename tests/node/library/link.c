/* The library in somebody's process, alone and with a real hub. */
#include <stdio.h>
#include <string.h>

#include "node/library/inside.h"
#include "tests/check.h"
#include "tests/node/library/server.h"

/* ---- without a hub ---- */

static void without_a_hub_the_loop_goes_on(void)
{
    struct star_link *link = NULL;
    struct star_state state = {.size = sizeof state};
    float w[SERVER_ELEMENTS] = {1};
    char hub[32];
    nanos begin = net_now();

    (void)snprintf(hub, sizeof hub, "127.0.0.1:%u", port_of_nobody());
    CHECK_EQUAL(STAR_OK, server_attach(hub, "alone", w, &link));
    CHECK(net_now() - begin < 5 * SECOND);
    begin = net_now();
    for (int i = 0; i < 100000; i++)
        if (star_step(link, NULL) != STAR_GO)
            break;
    CHECK(net_now() - begin < 60 * SECOND);
    star_look(link, &state);
    CHECK_EQUAL(100000, state.iteration);
    CHECK_EQUAL(0, state.attached);
    CHECK_EQUAL(0, state.offered);
    CHECK_NEAR(0, state.waited, 0);
    CHECK_CONTAINS("training alone; ", state.text);
    CHECK_NEAR(1, (double)w[0], 0);
    begin = net_now();
    star_detach(&link);
    CHECK(net_now() - begin < 10 * SECOND);
    CHECK(link == NULL);
    star_detach(&link);
}

static void a_hub_that_cannot_be_is_refused_with_a_sentence(void)
{
    float w[SERVER_ELEMENTS];
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, w, NULL, SERVER_ELEMENTS);
    struct star_options options = {.size = sizeof options, .hub = "host:99999"};
    struct star_link *link = NULL;
    char error[256] = "", tiny[4];

    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_attach(&options, &tensor, 1, &link, error, sizeof error));
    CHECK(error[0] != '\0');
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_attach(&options, &tensor, 1, &link, tiny, sizeof tiny));
    CHECK_EQUAL(3, strlen(tiny));
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_attach(&options, &tensor, 1, &link, NULL, 0));
    CHECK(link == NULL);
}

static void a_loop_without_a_link_trains_alone(void)
{
    struct star_link *link = NULL;
    struct star_state state = {.size = sizeof state, .attached = 1};
    struct star_task task = {.size = sizeof task};

    CHECK_EQUAL(STAR_GO, star_step(NULL, NULL));
    CHECK_EQUAL(STAR_GO, star_idle(NULL));
    CHECK_EQUAL(0, star_wants_gradient(NULL));
    CHECK_EQUAL(STAR_NO_TASK, star_task_next(NULL, &task));
    CHECK_EQUAL(0, star_task_done(NULL, 1, 1));
    CHECK_EQUAL(0, star_due(NULL));
    CHECK_EQUAL(STAR_OK, star_retarget(NULL, NULL, 0, NULL, 0));
    CHECK_EQUAL(STAR_OK, star_look(NULL, &state));
    CHECK_EQUAL(0, state.attached);
    CHECK_TEXT("training alone", state.text);
    CHECK_EQUAL(STAR_OK, star_look(NULL, NULL));
    CHECK_EQUAL(STAR_BAD_ARGUMENT, star_centre(NULL, NULL, 0, NULL, NULL, 0));
    star_detach(&link);
    star_detach(NULL);
}

/* ---- with a hub ---- */

/* Its last offer is merged with the next one of the other. */
static void *leave(void *link)
{
    star_detach(link);
    return NULL;
}

/* One step of both. */
static void step_towards(const float aims[2], float w[2][SERVER_ELEMENTS],
                         struct star_link *const links[2])
{
    static const struct star_progress progress = {
        .size = sizeof progress, .loss = 1, .samples = 3, .accuracy = -1};

    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < SERVER_ELEMENTS; j++)
            w[i][j] += 0.01f * (aims[i] - w[i][j]);
        CHECK_EQUAL(STAR_GO, star_step(links[i], &progress));
    }
}

static void two_loops_with_different_aims_agree(void)
{
    static const float aims[2] = {0, 2};
    static const char *const names[2] = {"a", "b"};
    struct server *server = server_new();
    float w[2][SERVER_ELEMENTS] = {{0}};
    struct star_link *links[2];
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + FAKE_PATIENCE;
    pthread_t leaving;

    server_start(server);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(STAR_OK,
                    server_attach(server->address, names[i], w[i], &links[i]));
    while ((state.applied < 200 || !state.global_samples) &&
           net_now() < until) {
        step_towards(aims, w, links);
        star_look(links[1], &state);
        fake_rest();
    }
    CHECK(state.applied >= 200);
    CHECK_EQUAL(2, state.shards);
    CHECK_EQUAL(2, state.members);
    CHECK(state.version > 0);
    CHECK(state.global_samples > 0 && state.global_samples % 3 == 0);
    CHECK(w[0][9] > 0.3f && w[1][9] < 1.7f);
    CHECK_EQUAL(0, pthread_create(&leaving, NULL, leave, &links[0]));
    for (until += FAKE_PATIENCE; net_now() < until; fake_rest())
        if (star_step(links[1], NULL) != STAR_GO ||
            server_notes(server, NOTE_LEFT))
            break;
    (void)pthread_join(leaving, NULL);
    star_detach(&links[1]);
    while (server_notes(server, NOTE_LEFT) < 2 && net_now() < until)
        fake_rest();
    CHECK_EQUAL(2, server_notes(server, NOTE_LEFT));
    CHECK_EQUAL(0, server_notes(server, NOTE_LOST));
    CHECK_EQUAL(0, server_notes(server, NOTE_OFFENCE));
    server_destroy(&server);
}

static void with_a_delay_of_zero_a_step_waits_for_its_result(void)
{
    struct server *server = server_new();
    float w[SERVER_ELEMENTS] = {0};
    struct star_link *link;
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + FAKE_PATIENCE;

    server->config.every = 1;
    server->config.delay = 0;
    server_start(server);
    CHECK_EQUAL(STAR_OK, server_attach(server->address, "a", w, &link));
    while (state.offered < 20 && net_now() < until) {
        w[0] += 1;
        CHECK_EQUAL(STAR_GO, star_step(link, NULL));
        star_look(link, &state);
        CHECK_EQUAL(state.offered, state.applied);
        fake_rest();
    }
    CHECK_EQUAL(20, state.offered);
    CHECK_EQUAL(0, state.missed);
    CHECK(state.waited > 0);
    star_detach(&link);
    server_destroy(&server);
}

static void another_model_is_refused_and_the_loop_is_told(void)
{
    struct server *server = server_new();
    float w[SERVER_ELEMENTS] = {0};
    const struct star_tensor other = STAR_TENSOR("v", 1, w, NULL, 3);
    struct star_options options = {
        .size = sizeof options, .name = "b", .quiet = 1};
    struct star_link *first, *link;
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + FAKE_PATIENCE;
    enum star_advice advice = STAR_GO;

    server_start(server);
    options.hub = server->address;
    CHECK_EQUAL(STAR_OK, server_attach(server->address, "a", w, &first));
    for (; !state.attached && net_now() < until; fake_rest()) {
        (void)star_step(first, NULL);
        star_look(first, &state);
    }
    CHECK_EQUAL(STAR_OK, star_attach(&options, &other, 1, &link, NULL, 0));
    for (; advice == STAR_GO && net_now() < until; fake_rest())
        advice = star_step(link, NULL);
    CHECK_EQUAL(STAR_REFUSED, advice);
    star_look(link, &state);
    CHECK_EQUAL(78, state.exit_code);
    CHECK_CONTAINS("\"v\"", state.text);
    star_detach(&link);
    star_detach(&first);
    server_destroy(&server);
}

static void who_gives_no_gradients_is_told_where_they_are_exchanged(void)
{
    struct server *server = server_new();
    float w[SERVER_ELEMENTS] = {0};
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, w, NULL, SERVER_ELEMENTS);
    struct star_options options = {
        .size = sizeof options, .name = "a", .quiet = 1};
    struct star_link *link;
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + FAKE_PATIENCE;
    enum star_advice advice = STAR_GO;

    server->config.policy = preset_find("ddp")->policy;
    server_start(server);
    options.hub = server->address;
    CHECK_EQUAL(STAR_OK, star_attach(&options, &tensor, 1, &link, NULL, 0));
    for (; advice == STAR_GO && net_now() < until; fake_rest())
        advice = star_step(link, NULL);
    CHECK_EQUAL(STAR_REFUSED, advice);
    star_look(link, &state);
    CHECK_EQUAL(78, state.exit_code);
    CHECK_CONTAINS("exchanges gradients", state.text);
    CHECK_EQUAL(0, link->training.agenda.pacer.schedule.attached);
    CHECK_EQUAL(STAR_TIMEOUT, star_detach_within(&link, 1));
    server_destroy(&server);
}

void add_node_library_link_tests(CU_pSuite suite)
{
    TEST(who_gives_no_gradients_is_told_where_they_are_exchanged);
    TEST(without_a_hub_the_loop_goes_on);
    TEST(a_loop_without_a_link_trains_alone);
    TEST(a_hub_that_cannot_be_is_refused_with_a_sentence);
    TEST(two_loops_with_different_aims_agree);
    TEST(with_a_delay_of_zero_a_step_waits_for_its_result);
    TEST(another_model_is_refused_and_the_loop_is_told);
}
