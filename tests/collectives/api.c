/* The C interface to collectives, with a real hub. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/check.h"
#include "tests/collectives/threaded_hub.h"

static const struct star_group_options elastic = {.size = sizeof elastic,
                                                  .manner = STAR_ELASTIC};
static const struct star_group_options patient = {
    .size = sizeof patient, .manner = STAR_PATIENT, .patience = 10};

/* ---- FTLib ---- */

static void ft_02_names_that_ftlib_does_not_know_are_refused(void)
{
    struct threaded_hub *hub = threaded_new();
    struct star_group *group = threaded_join(hub, "alone", &elastic);
    struct star_group_state state = {.size = sizeof state};

    CHECK_EQUAL(STAR_REBUILD_ABORT, star_group_init(group, "raft", "NCCL"));
    star_group_look(group, &state);
    CHECK_TEXT("there is no consensus raft", state.text);
    CHECK_EQUAL(STAR_REBUILD_ABORT, star_group_init(group, "gossip", "MPI"));
    star_group_look(group, &state);
    CHECK_TEXT("there is no library MPI", state.text);
    CHECK_EQUAL(STAR_REBUILD_SKIP_ALLREDUCE,
                star_group_init(group, "gossip", "pytorch"));
    CHECK_EQUAL(STAR_REBUILD_SKIP_ALLREDUCE,
                star_group_init(group, "shared_storage", "dummy_NCCL"));
    CHECK_EQUAL(0, star_group_rank(group));
    CHECK_EQUAL(1, star_group_size(group));
    star_group_leave(&group);
    threaded_destroy(&hub);
}

static int times_two(void *argument)
{
    int *number = argument;

    *number *= 2;
    return 0;
}

static int breaks(void *argument)
{
    (void)argument;
    return 1;
}

static int execute_twice(struct program *program)
{
    struct star_group *group = program->group;
    int number = 4, result = 0;

    if (star_group_execute(group, times_two, &number, &result) !=
            STAR_GROUP_SUCCESS ||
        number != 8 || !star_group_initialized(group))
        return 1;
    if (star_group_execute(group, breaks, NULL, &result) != STAR_GROUP_FAIL ||
        result != 1 || star_group_initialized(group))
        return 2;
    return star_group_barrier(group) == STAR_GROUP_SUCCESS ? 0 : 3;
}

static void ft_09_execute_manual_join_consensus_joined(void)
{
    struct threaded_hub *hub = threaded_new();
    struct program programs[THREADED_MEMBERS];
    struct star_group *group = threaded_join(hub, "alone", &elastic);
    struct star_group_options nowhere = {.size = sizeof nowhere,
                                         .timeout = 0.2};
    int number = 1, result = 0;

    CHECK(star_group_manual_join(group, 15));
    CHECK(star_group_consensus_joined(group));
    CHECK_EQUAL(STAR_REBUILD_SKIP_ALLREDUCE,
                star_group_init(group, NULL, NULL));
    CHECK_EQUAL(STAR_GROUP_SUCCESS,
                star_group_execute(group, times_two, &number, &result));
    CHECK_EQUAL(2, number);
    star_group_leave(&group);
    CHECK_EQUAL(0, threaded_run(hub, 2, &elastic, execute_twice, programs));
    threaded_destroy(&hub);
    CHECK_EQUAL(STAR_OK, star_group_join("127.0.0.1:1", "lost", &nowhere,
                                         &group, NULL, 0));
    CHECK(!star_group_manual_join(group, 0.1));
    CHECK(!star_group_consensus_joined(group));
    CHECK_EQUAL(STAR_GROUP_ABORT,
                star_group_execute(group, times_two, &number, &result));
    CHECK_EQUAL(2, number);
    star_group_leave(&group);
}

/* ---- keys ---- */

static void a_word_that_is_no_key_is_refused_before_anything_is_sent(void)
{
    struct star_group_options options = {.size = sizeof options,
                                         .key = "Enough"};
    struct star_group *group = NULL;
    char error[256] = "";

    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_group_join("127.0.0.1:1", "m", &options, &group, error,
                                sizeof error));
    CHECK(!group);
    CHECK(strstr(error, "key") && !strstr(error, "Enough"));
}

/* ---- ElasticDL's facade: no list of addresses, blocking calls ---- */

static int facade(struct program *program)
{
    struct star_group *group = program->group;
    float *values = program->values;
    struct star_group_tensor tensors[2] = {{sizeof *tensors, values, 3},
                                           {sizeof *tensors, values + 10, 30}};

    for (unsigned i = 0; i < 40; i++)
        values[i] = (float)(program->place + 1);
    if (star_group_init(group, NULL, NULL) != STAR_REBUILD_SUCCESS)
        return 1;
    if (star_group_allreduce_average(group, tensors, 2) != STAR_GROUP_SUCCESS)
        return 2;
    if (star_group_barrier(group) != STAR_GROUP_SUCCESS)
        return 3;
    values[5] = (float)star_group_rank(group);
    if (star_group_broadcast(group, values + 5, sizeof *values, 2) !=
        STAR_GROUP_SUCCESS)
        return 4;
    if (star_group_wait_weights_ready(group, tensors, 1) != STAR_GROUP_SUCCESS)
        return 5;
    return star_group_stop(group) == STAR_GROUP_SUCCESS ? 0 : 6;
}

static void ed_01_three_calls_two_statuses_no_list_of_addresses(void)
{
    struct threaded_hub *hub = threaded_new();
    struct program programs[THREADED_MEMBERS];

    CHECK_EQUAL(0, threaded_run(hub, 3, &elastic, facade, programs));
    for (unsigned i = 0; i < 3; i++) {
        const float *values = programs[i].values;

        CHECK_NEAR(2, (double)values[0], 0);     /* the mean, in place */
        CHECK_NEAR(2, (double)values[39], 0);    /* both in one collective */
        CHECK_NEAR(i + 1, (double)values[4], 0); /* between them: untouched */
        CHECK_NEAR(2, (double)values[5], 0);
    }
    threaded_destroy(&hub);
}

/* ---- Rabit ---- */

static void add_all(const void *one, void *into, size_t count)
{
    const float *from = one;
    float *to = into;

    for (size_t i = 0; i < count; i++)
        to[i] = to[i] * 10 + from[i];
}

static void fill(void *argument)
{
    struct program *program = argument;

    program->values[0] = (float)star_group_rank(program->group);
}

/* A reduction of one's own, all slices, a reduction that is prepared. */
static int gather(struct program *program)
{
    struct star_group *group = program->group;
    float *values = program->values, all[8] = {0};
    size_t received = 0;
    float own[2];

    own[0] = own[1] = (float)(star_group_rank(group) + 1);
    if (star_group_allreduce_custom(group, own, sizeof *own, 2, add_all) !=
            STAR_GROUP_SUCCESS ||
        own[0] != 123.0f || own[1] != 123.0f)
        return 11;
    own[0] = (float)star_group_rank(group);
    if (star_group_allgather(group, own, sizeof *own, all, 2 * sizeof *own,
                             &received) != STAR_GROUP_FAIL ||
        received != 3 * sizeof *own)
        return 14;
    if (star_group_allgather(group, own, sizeof *own, all, received,
                             &received) != STAR_GROUP_SUCCESS ||
        received != 3 * sizeof *own || all[2] != 2.0f)
        return 12;
    if (star_group_allreduce(group, values, 1, STAR_F32, STAR_MAX, fill,
                             program) != STAR_GROUP_SUCCESS ||
        values[0] != 2.0f)
        return 13;
    return 0;
}

static int rabit(struct program *program)
{
    struct star_group *group = program->group;
    int64_t model[20] = {1, 2, 3};
    const void *loaded = NULL;
    size_t bytes = 0;
    int result;

    if (star_group_init(group, NULL, NULL) != STAR_REBUILD_SUCCESS ||
        !star_group_is_distributed(group) || star_group_size(group) != 3)
        return 1;
    if (star_group_load_checkpoint(group, &loaded, &bytes) != 0 || loaded)
        return 2;
    result = gather(program);
    if (result)
        return result;
    model[19] = 19;
    if (star_group_checkpoint(group, model, sizeof model) !=
            STAR_GROUP_SUCCESS ||
        star_group_version_number(group) != 1)
        return 3;
    if (star_group_lazy_checkpoint(group, model, 0) != STAR_GROUP_ABORT)
        return 4;
    if (star_group_load_checkpoint(group, &loaded, &bytes) != 1 ||
        bytes != sizeof model || memcmp(loaded, model, sizeof model) != 0)
        return 5;
    star_group_tracker_print(group, "one version is done");
    return star_group_barrier(group) == STAR_GROUP_SUCCESS ? 0 : 6;
}

static void one_alone_sums_and_gathers_what_is_its_own(void)
{
    struct threaded_hub *hub = threaded_new();
    struct program program = {.values = {3}};
    size_t received = 0;
    float all[2];

    program.group = threaded_join(hub, "alone", &elastic);
    CHECK(star_group_manual_join(program.group, 15));
    CHECK_EQUAL(STAR_GROUP_NO_NEED,
                star_group_allreduce(program.group, program.values, 1, STAR_F32,
                                     STAR_SUM, fill, &program));
    CHECK_NEAR(0, (double)program.values[0], 0); /* its rank */
    CHECK_EQUAL(STAR_GROUP_FAIL,
                star_group_allgather(program.group, program.values, 12, all,
                                     sizeof all, &received));
    CHECK_EQUAL(12, received);
    star_group_leave(&program.group);
    threaded_destroy(&hub);
}

static void rb_13_rabits_calls_in_c(void)
{
    struct threaded_hub *hub = threaded_new();
    struct program programs[THREADED_MEMBERS];

    CHECK_EQUAL(0, threaded_run(hub, 3, &patient, rabit, programs));
    CHECK_EQUAL(3, threaded_notes(hub, NOTE_SAID));
    CHECK_TEXT("one version is done", hub->said);
    threaded_destroy(&hub);
}

static void rb_12_rabits_arguments_and_gathered_slices(void)
{
    struct threaded_hub *hub = threaded_new();
    char uri[] = "rabit_tracker_uri=127.0.0.1", port[40] = "";
    char task[] = "rabit_task_id=seven", mock[] = "mock=0,0,0,0";
    char size[] = "rabit_world_size=1", debug[] = "rabit_debug=1";
    char *arguments[] = {uri, port, task, mock, size, debug};
    struct star_group *group = NULL;
    char error[256];

    (void)snprintf(port, sizeof port, "rabit_tracker_port=%s",
                   strrchr(hub->address, ':') + 1);
    CHECK_EQUAL(STAR_OK, star_group_join_arguments(6, arguments, &group, error,
                                                   sizeof error));
    CHECK(star_group_manual_join(group, 15));
    CHECK_TEXT("seven", star_group_processor_name(group));
    CHECK_EQUAL(STAR_REBUILD_SUCCESS, star_group_init(group, NULL, NULL));
    CHECK(!star_group_is_distributed(group));
    star_group_leave(&group);
    threaded_destroy(&hub);
}

/* ---- what a call leaves behind ---- */

static void a_call_that_fails_changes_nothing(void)
{
    struct threaded_hub *hub = threaded_new();
    struct star_group_options two = {
        .size = sizeof two, .members = 2, .timeout = 0.3};
    struct star_group *group = threaded_join(hub, "one", &two);
    float values[3] = {1, 2, 3};
    const struct star_group_tensor tensor = {sizeof tensor, values, 3};
    struct star_group_state state = {.size = sizeof state};

    CHECK(star_group_wait_joined(group, 15)); /* the rest is not timed */
    CHECK_EQUAL(STAR_GROUP_ABORT,
                star_group_allreduce_average(group, &tensor, 1));
    CHECK_NEAR(3, (double)values[2], 0);
    star_group_look(group, &state);
    CHECK_TEXT("waited 0.3 s for the members that the group begins with",
               state.text);
    CHECK_EQUAL(STAR_GROUP_ABORT,
                star_group_allreduce(group, values, 3, STAR_F32, STAR_BITOR,
                                     NULL, NULL));
    star_group_leave(&group);
    threaded_destroy(&hub);
}

static enum star_group_status interrupted_barrier(struct star_group *group)
{
    struct interrupter interrupter;
    enum star_group_status status;

    interrupter_start(&interrupter, group);
    status = star_group_barrier(group);
    interrupter_stop(&interrupter);
    return status;
}

static atomic_bool was_interrupted;

/* Members 0 and 1 wait for 2, and 0 is interrupted; then all meet. */
static int meet_after_an_interrupt(struct program *program)
{
    const struct timespec moment = {0, 1000000};
    struct star_group *group = program->group;
    struct star_group_state state = {.size = sizeof state};
    enum star_group_status status = STAR_GROUP_FAIL;

    if (star_group_build(group) != STAR_GROUP_SUCCESS)
        return 1;
    if (program->place == 0) {
        status = interrupted_barrier(group);
        star_group_look(group, &state);
        was_interrupted = true;
        if (!strstr(state.text, "interrupted"))
            return 2;
    } else if (program->place == 1) {
        status = star_group_barrier(group);
    }
    while (!was_interrupted)
        (void)nanosleep(&moment, NULL);
    if (status != STAR_GROUP_FAIL)
        return 3;
    for (unsigned i = 0; i < 8 && status == STAR_GROUP_FAIL; i++)
        status = star_group_barrier(group);
    return status == STAR_GROUP_SUCCESS ? 0 : 4;
}

static void a_call_that_is_interrupted_fails_for_all_at_once(void)
{
    struct threaded_hub *hub = threaded_new();
    struct program programs[THREADED_MEMBERS];

    was_interrupted = false;
    CHECK_EQUAL(
        0, threaded_run(hub, 3, &elastic, meet_after_an_interrupt, programs));
    threaded_destroy(&hub);
}

void add_collectives_api_tests(CU_pSuite suite)
{
    TEST(ft_02_names_that_ftlib_does_not_know_are_refused);
    TEST(ft_09_execute_manual_join_consensus_joined);
    TEST(a_word_that_is_no_key_is_refused_before_anything_is_sent);
    TEST(ed_01_three_calls_two_statuses_no_list_of_addresses);
    TEST(rb_12_rabits_arguments_and_gathered_slices);
    TEST(one_alone_sums_and_gathers_what_is_its_own);
    TEST(rb_13_rabits_calls_in_c);
    TEST(a_call_that_fails_changes_nothing);
    TEST(a_call_that_is_interrupted_fails_for_all_at_once);
}
