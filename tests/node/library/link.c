/* The library in somebody's process, alone and with a real hub. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <starswitch.h>

#include "hub/hub.h"
#include "tests/check.h"
#include "tests/net/fake_machine.h"

enum { ELEMENTS = 10 };
#define PATIENCE (30 * SECOND)

/* A hub on a thread of this process. */
struct server {
    struct hub_config config;
    struct pool *pool;
    struct hub *hub;
    struct net *net;
    pthread_t thread;
    pthread_mutex_t lock;
    unsigned notes[NOTE_KINDS];
    char address[32];
};

static void count_note(void *self, nanos now, const struct note *note)
{
    struct server *server = self;

    (void)now;
    (void)pthread_mutex_lock(&server->lock);
    server->notes[note->kind]++;
    (void)pthread_mutex_unlock(&server->lock);
}

static unsigned notes_of(struct server *server, enum note_kind kind)
{
    unsigned count;

    (void)pthread_mutex_lock(&server->lock);
    count = server->notes[kind];
    (void)pthread_mutex_unlock(&server->lock);
    return count;
}

static void *serve(void *self)
{
    struct server *server = self;

    net_run(server->net);
    return NULL;
}

static struct server *server_new(void)
{
    struct server *server = calloc(1, sizeof *server);
    const struct preset *mean = preset_find("mean");

    if (!server || !mean)
        abort();
    server->config = (struct hub_config){.policy = mean->policy,
                                         .run = 7,
                                         .every = 2,
                                         .delay = 2,
                                         .wait = 20 * SECOND,
                                         .nodes = 1,
                                         .chunk_elements = 4,
                                         .window = 8,
                                         .staleness = 1000,
                                         .save_interval = SECOND,
                                         .evaluate_interval = SECOND};
    (void)pthread_mutex_init(&server->lock, NULL);
    return server;
}

static void server_start(struct server *server)
{
    struct net_owner owner = {.self = server, .note = count_note};
    struct net_config config = {.chunk_bytes = 1 << 20, .workers = 1};
    enum status status = STATUS_UNAVAILABLE;
    struct why why;

    (void)sigemptyset(&config.signals);
    (void)snprintf(config.host, sizeof config.host, "127.0.0.1");
    server->pool = pool_new();
    server->hub = hub_new(&server->config, server->pool);
    for (int tries = 0; status != STATUS_OK && tries < 200; tries++) {
        config.port = fake_next_port();
        status = net_open_hub(&config, hub_machine(server->hub), server->pool,
                              &owner, &server->net, &why);
    }
    if (status != STATUS_OK ||
        pthread_create(&server->thread, NULL, serve, server) != 0)
        abort();
    (void)snprintf(server->address, sizeof server->address, "127.0.0.1:%u",
                   config.port);
}

static void server_destroy(struct server **reference)
{
    struct server *server = *reference;

    *reference = NULL;
    net_stop(server->net);
    (void)pthread_join(server->thread, NULL);
    net_close(&server->net);
    hub_destroy(&server->hub);
    pool_destroy(&server->pool);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}

static void keep_quiet(void *context, enum star_level level, const char *event,
                       const char *sentence)
{
    (void)context;
    (void)level;
    (void)event;
    (void)sentence;
}

static enum star_status attach(const char *hub, const char *name, float *w,
                               struct star_link **link)
{
    const struct star_tensor tensor = STAR_TENSOR("w", 1, w, NULL, ELEMENTS);
    const struct star_options options = {
        .size = sizeof options, .hub = hub, .name = name, .log = keep_quiet};
    char error[256];

    return star_attach(&options, &tensor, 1, link, error, sizeof error);
}

static void rest(void)
{
    const struct timespec moment = {0, 1000000};

    (void)nanosleep(&moment, NULL);
}

/* ---- without a hub ---- */

static void without_a_hub_the_loop_goes_on(void)
{
    struct star_link *link = NULL;
    struct star_state state = {.size = sizeof state};
    float w[ELEMENTS] = {1};
    char hub[32];
    nanos begin = net_now();

    (void)snprintf(hub, sizeof hub, "127.0.0.1:%u", port_of_nobody());
    CHECK_EQUAL(STAR_OK, attach(hub, "alone", w, &link));
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
    float w[ELEMENTS];
    const struct star_tensor tensor = STAR_TENSOR("w", 1, w, NULL, ELEMENTS);
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
    CHECK_EQUAL(0, star_wants_gradient(NULL));
    CHECK_EQUAL(STAR_NO_TASK, star_task_next(NULL, &task));
    CHECK_EQUAL(0, star_task_done(NULL, 1, 1));
    CHECK_EQUAL(0, star_due(NULL));
    CHECK_EQUAL(STAR_OK, star_retarget(NULL, NULL, 0, NULL, 0));
    CHECK_EQUAL(STAR_OK, star_look(NULL, &state));
    CHECK_EQUAL(0, state.attached);
    CHECK_TEXT("training alone", state.text);
    CHECK_EQUAL(STAR_OK, star_look(NULL, NULL));
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

static void two_loops_with_different_aims_agree(void)
{
    static const float aims[2] = {0, 2};
    static const char *const names[2] = {"a", "b"};
    struct server *server = server_new();
    float w[2][ELEMENTS] = {{0}};
    struct star_link *links[2];
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + PATIENCE;
    pthread_t leaving;

    server_start(server);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(STAR_OK,
                    attach(server->address, names[i], w[i], &links[i]));
    while (state.applied < 200 && net_now() < until) {
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < ELEMENTS; j++)
                w[i][j] += 0.01f * (aims[i] - w[i][j]);
            CHECK_EQUAL(STAR_GO, star_step(links[i], NULL));
        }
        star_look(links[1], &state);
        rest();
    }
    CHECK(state.applied >= 200);
    CHECK_EQUAL(2, state.shards);
    CHECK(w[0][9] > 0.3f && w[1][9] < 1.7f);
    CHECK_EQUAL(0, pthread_create(&leaving, NULL, leave, &links[0]));
    for (until += PATIENCE; net_now() < until; rest())
        if (star_step(links[1], NULL) != STAR_GO || notes_of(server, NOTE_LEFT))
            break;
    (void)pthread_join(leaving, NULL);
    star_detach(&links[1]);
    while (notes_of(server, NOTE_LEFT) < 2 && net_now() < until)
        rest();
    CHECK_EQUAL(2, notes_of(server, NOTE_LEFT));
    CHECK_EQUAL(0, notes_of(server, NOTE_LOST));
    CHECK_EQUAL(0, notes_of(server, NOTE_OFFENCE));
    server_destroy(&server);
}

static void with_a_delay_of_zero_a_step_waits_for_its_result(void)
{
    struct server *server = server_new();
    float w[ELEMENTS] = {0};
    struct star_link *link;
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + PATIENCE;

    server->config.every = 1;
    server->config.delay = 0;
    server_start(server);
    CHECK_EQUAL(STAR_OK, attach(server->address, "a", w, &link));
    while (state.offered < 20 && net_now() < until) {
        w[0] += 1;
        CHECK_EQUAL(STAR_GO, star_step(link, NULL));
        star_look(link, &state);
        CHECK_EQUAL(state.offered, state.applied);
        rest();
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
    float w[ELEMENTS] = {0};
    const struct star_tensor other = STAR_TENSOR("v", 1, w, NULL, 3);
    struct star_options options = {
        .size = sizeof options, .name = "b", .log = keep_quiet};
    struct star_link *first, *link;
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + PATIENCE;
    enum star_advice advice = STAR_GO;

    server_start(server);
    options.hub = server->address;
    CHECK_EQUAL(STAR_OK, attach(server->address, "a", w, &first));
    for (; !state.attached && net_now() < until; rest()) {
        (void)star_step(first, NULL);
        star_look(first, &state);
    }
    CHECK_EQUAL(STAR_OK, star_attach(&options, &other, 1, &link, NULL, 0));
    for (; advice == STAR_GO && net_now() < until; rest())
        advice = star_step(link, NULL);
    CHECK_EQUAL(STAR_REFUSED, advice);
    star_look(link, &state);
    CHECK_EQUAL(78, state.exit_code);
    CHECK_CONTAINS("\"v\"", state.text);
    star_detach(&link);
    star_detach(&first);
    server_destroy(&server);
}

void add_node_library_link_tests(CU_pSuite suite)
{
    TEST(without_a_hub_the_loop_goes_on);
    TEST(a_loop_without_a_link_trains_alone);
    TEST(a_hub_that_cannot_be_is_refused_with_a_sentence);
    TEST(two_loops_with_different_aims_agree);
    TEST(with_a_delay_of_zero_a_step_waits_for_its_result);
    TEST(another_model_is_refused_and_the_loop_is_told);
}
