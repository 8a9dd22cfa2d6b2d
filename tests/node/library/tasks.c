/* Tasks on somebody's training thread, given by a hub that is a toy. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <starswitch.h>

#include "tests/check.h"
#include "tests/node/tutor.h"

#define PATIENCE (30 * SECOND)

static void keep_quiet(void *context, enum star_level level, const char *event,
                       const char *sentence)
{
    (void)context;
    (void)level;
    (void)event;
    (void)sentence;
}

static struct star_link *attach(struct tutor *tutor,
                                float values[TUTOR_ELEMENTS])
{
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, values, NULL, TUTOR_ELEMENTS);
    struct star_options options = {
        .size = sizeof options, .hub = tutor->hub, .log = keep_quiet};
    struct star_link *link = NULL;
    char error[256];

    memset(values, 0, TUTOR_ELEMENTS * sizeof *values);
    CHECK_EQUAL(STAR_OK,
                star_attach(&options, &tensor, 1, &link, error, sizeof error));
    return link;
}

static void step(struct star_link *link)
{
    const struct timespec moment = {0, 1000000};

    (void)nanosleep(&moment, NULL);
    CHECK_EQUAL(STAR_GO, star_step(link, NULL));
}

/* Trains until a task has come. */
static enum star_next train_until_task(struct star_link *link,
                                       struct star_task *task)
{
    nanos until = net_now() + PATIENCE;
    enum star_next next;

    while ((next = star_task_next(link, task)) == STAR_NO_TASK &&
           net_now() < until)
        step(link);
    return next;
}

static uint64_t look(struct tutor *tutor, const uint64_t *counter)
{
    uint64_t value;

    (void)pthread_mutex_lock(&tutor->toy->lock);
    value = *counter;
    (void)pthread_mutex_unlock(&tutor->toy->lock);
    return value;
}

static void train_until_reported(struct star_link *link, struct tutor *tutor,
                                 uint64_t count)
{
    nanos until = net_now() + PATIENCE;

    while (look(tutor, &tutor->reported) < count && net_now() < until)
        step(link);
    CHECK_EQUAL(count, look(tutor, &tutor->reported));
}

static void ef_08_a_task_comes_while_training_goes_on(void)
{
    struct tutor *tutor = tutor_new();
    float values[TUTOR_ELEMENTS];
    struct star_task first = {.size = sizeof first}, second = first;
    struct star_link *link;

    tutor_start(tutor);
    link = attach(tutor, values);
    CHECK_EQUAL(STAR_NO_TASK, star_task_next(link, &first));
    CHECK_EQUAL(STAR_TASK, train_until_task(link, &first));
    CHECK_EQUAL(1, first.id);
    CHECK_EQUAL(1, first.part);
    CHECK_EQUAL(8, first.parts);
    /* The next one comes into the hand meanwhile, and no more than that. */
    CHECK(tutor_wait(tutor, &tutor->asked, 2));
    for (int i = 0; i < 20; i++)
        step(link);
    CHECK_EQUAL(2, look(tutor, &tutor->asked));
    CHECK_EQUAL(0, look(tutor, &tutor->reported));
    CHECK_EQUAL(1, star_task_done(link, first.id, 1));
    CHECK_EQUAL(0, star_task_done(link, first.id, 1));
    CHECK_EQUAL(0, star_task_done(link, 99, 1));
    train_until_reported(link, tutor, 1);
    CHECK_EQUAL(1, look(tutor, &tutor->done));
    CHECK_EQUAL(STAR_TASK, train_until_task(link, &second));
    CHECK_EQUAL(2, second.id);
    star_task_done(link, second.id, 0);
    CHECK(tutor_wait(tutor, &tutor->reported, 2));
    CHECK_EQUAL(1, look(tutor, &tutor->done));
    star_detach(&link);
    tutor_destroy(&tutor);
}

static void without_a_hub_there_is_no_task(void)
{
    struct tutor *tutor = tutor_new();
    float values[TUTOR_ELEMENTS];
    struct star_task task = {.size = sizeof task};
    struct star_link *link;

    (void)snprintf(tutor->hub, sizeof tutor->hub, "127.0.0.1:1");
    link = attach(tutor, values);
    for (int i = 0; i < 20; i++) {
        CHECK_EQUAL(STAR_NO_TASK, star_task_next(link, &task));
        step(link);
    }
    star_detach(&link);
    tutor_start(tutor);
    tutor_destroy(&tutor);
}

static void the_last_offer_holds_the_last_task(void)
{
    struct tutor *tutor = tutor_new();
    float values[TUTOR_ELEMENTS];
    struct star_task task = {.size = sizeof task};
    struct star_link *link;

    tutor->welcome.every = 1000000;
    tutor_start(tutor);
    link = attach(tutor, values);
    CHECK_EQUAL(STAR_TASK, train_until_task(link, &task));
    star_task_done(link, task.id, 1);
    star_detach(&link);
    CHECK(tutor_wait(tutor, &tutor->reported, 1));
    CHECK_EQUAL(1, look(tutor, &tutor->done));
    tutor_destroy(&tutor);
}

void add_node_library_tasks_tests(CU_pSuite suite)
{
    TEST(ef_08_a_task_comes_while_training_goes_on);
    TEST(without_a_hub_there_is_no_task);
    TEST(the_last_offer_holds_the_last_task);
}
