/* Tasks on somebody's training thread, given by a hub that is fake. */
#include <stdio.h>
#include <string.h>

#include <starswitch.h>

#include "tests/check.h"
#include "tests/node/fake_hub.h"

static struct star_link *attach(struct fake_hub *hub,
                                float values[FAKE_HUB_ELEMENTS])
{
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, values, NULL, FAKE_HUB_ELEMENTS);
    struct star_options options = {
        .size = sizeof options, .hub = hub->address, .quiet = 1};
    struct star_link *link = NULL;
    char error[256];

    memset(values, 0, FAKE_HUB_ELEMENTS * sizeof *values);
    CHECK_EQUAL(STAR_OK,
                star_attach(&options, &tensor, 1, &link, error, sizeof error));
    return link;
}

static void step(struct star_link *link)
{
    fake_rest();
    CHECK_EQUAL(STAR_GO, star_step(link, NULL));
}

/* Trains until a task has come. */
static enum star_next train_until_task(struct star_link *link,
                                       struct star_task *task)
{
    nanos until = net_now() + FAKE_PATIENCE;
    enum star_next next;

    while ((next = star_task_next(link, task)) == STAR_NO_TASK &&
           net_now() < until)
        step(link);
    return next;
}

static uint64_t look(struct fake_hub *hub, const uint64_t *counter)
{
    uint64_t value;

    (void)pthread_mutex_lock(&hub->fake->lock);
    value = *counter;
    (void)pthread_mutex_unlock(&hub->fake->lock);
    return value;
}

static void train_until_reported(struct star_link *link, struct fake_hub *hub,
                                 uint64_t count)
{
    nanos until = net_now() + FAKE_PATIENCE;

    while (look(hub, &hub->reported) < count && net_now() < until)
        step(link);
    CHECK_EQUAL(count, look(hub, &hub->reported));
}

static void ef_08_a_task_comes_while_training_goes_on(void)
{
    struct fake_hub *hub = fake_hub_new();
    float values[FAKE_HUB_ELEMENTS];
    struct star_task first = {.size = sizeof first}, second = first;
    struct star_link *link;

    fake_hub_start(hub);
    link = attach(hub, values);
    CHECK_EQUAL(STAR_NO_TASK, star_task_next(link, &first));
    CHECK_EQUAL(STAR_TASK, train_until_task(link, &first));
    CHECK_EQUAL(1, first.id);
    CHECK_EQUAL(1, first.part);
    CHECK_EQUAL(8, first.parts);
    /* The next one comes into the hand meanwhile, and no more than that. */
    CHECK(fake_hub_wait(hub, &hub->asked, 2));
    for (int i = 0; i < 20; i++)
        step(link);
    CHECK_EQUAL(2, look(hub, &hub->asked));
    CHECK_EQUAL(0, look(hub, &hub->reported));
    CHECK_EQUAL(1, star_task_done(link, first.id, 1));
    CHECK_EQUAL(0, star_task_done(link, first.id, 1));
    CHECK_EQUAL(0, star_task_done(link, 99, 1));
    train_until_reported(link, hub, 1);
    CHECK_EQUAL(1, look(hub, &hub->done));
    CHECK_EQUAL(STAR_TASK, train_until_task(link, &second));
    CHECK_EQUAL(2, second.id);
    star_task_done(link, second.id, 0);
    CHECK(fake_hub_wait(hub, &hub->reported, 2));
    CHECK_EQUAL(1, look(hub, &hub->done));
    star_detach(&link);
    fake_hub_destroy(&hub);
}

static void without_a_hub_there_is_no_task(void)
{
    struct fake_hub *hub = fake_hub_new();
    float values[FAKE_HUB_ELEMENTS];
    struct star_task task = {.size = sizeof task};
    struct star_link *link;

    (void)snprintf(hub->address, sizeof hub->address, "127.0.0.1:1");
    link = attach(hub, values);
    for (int i = 0; i < 20; i++) {
        CHECK_EQUAL(STAR_NO_TASK, star_task_next(link, &task));
        step(link);
    }
    star_detach(&link);
    fake_hub_start(hub);
    fake_hub_destroy(&hub);
}

static void the_last_offer_holds_the_last_task(void)
{
    struct fake_hub *hub = fake_hub_new();
    float values[FAKE_HUB_ELEMENTS];
    struct star_task task = {.size = sizeof task};
    struct star_link *link;

    hub->welcome.every = 1000000;
    fake_hub_start(hub);
    link = attach(hub, values);
    CHECK_EQUAL(STAR_TASK, train_until_task(link, &task));
    star_task_done(link, task.id, 1);
    star_detach(&link);
    CHECK(fake_hub_wait(hub, &hub->reported, 1));
    CHECK_EQUAL(1, look(hub, &hub->done));
    fake_hub_destroy(&hub);
}

void add_node_library_tasks_tests(CU_pSuite suite)
{
    TEST(ef_08_a_task_comes_while_training_goes_on);
    TEST(without_a_hub_there_is_no_task);
    TEST(the_last_offer_holds_the_last_task);
}
