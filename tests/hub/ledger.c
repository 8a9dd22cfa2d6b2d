#include "hub/ledger.h"

#include <string.h>

#include "core/prng.h"
#include "tests/check.h"

enum { PARTS = 10, EPOCHS = 3, NODES = 4 };

static struct ledger new_ledger(nanos limit)
{
    struct ledger ledger;

    ledger_init(&ledger, PARTS, EPOCHS, 7, limit);
    return ledger;
}

static struct task take(struct ledger *ledger, unsigned node)
{
    struct task task = {0};

    CHECK(ledger_assign(ledger, node, 0, &task));
    return task;
}

static void sound(const struct ledger *ledger)
{
    CHECK_TEXT(NULL, ledger_check(ledger));
}

static void ef_08_an_epoch_gives_out_each_part_once(void)
{
    struct ledger ledger = new_ledger(0);
    unsigned seen[PARTS] = {0};
    struct task task;

    for (unsigned i = 0; i < PARTS; i++) {
        task = take(&ledger, i % NODES);
        CHECK_EQUAL(0, task.epoch);
        seen[task.part]++;
    }
    CHECK(!ledger_assign(&ledger, 0, 0, &task));
    for (unsigned i = 0; i < PARTS; i++)
        CHECK_EQUAL(1, seen[i]);
    sound(&ledger);
    ledger_free(&ledger);
}

static void ef_08_the_next_epoch_begins_when_every_task_is_done(void)
{
    struct ledger ledger = new_ledger(0);
    struct task task, spare;

    for (unsigned epoch = 0; epoch < EPOCHS; epoch++)
        for (unsigned i = 0; i < PARTS; i++) {
            CHECK_EQUAL(epoch, ledger.epoch);
            CHECK(!ledger_over(&ledger));
            task = take(&ledger, 0);
            CHECK_EQUAL(epoch, task.epoch);
            CHECK(ledger_report(&ledger, 0, task.id, true));
            sound(&ledger);
        }
    CHECK(ledger_over(&ledger));
    CHECK(!ledger_assign(&ledger, 0, 0, &spare));
    CHECK(!ledger_report(&ledger, 0, task.id, true));
    ledger_free(&ledger);
}

/* The parts of an epoch in the order in which they are given out. */
static void order_of(uint64_t seed, unsigned epochs, uint32_t order[PARTS])
{
    struct ledger ledger;

    ledger_init(&ledger, PARTS, 0, seed, 0);
    for (unsigned i = 0; i < epochs * PARTS; i++) {
        struct task task = take(&ledger, 0);

        order[i % PARTS] = task.part;
        CHECK(ledger_report(&ledger, 0, task.id, true));
    }
    ledger_free(&ledger);
}

static void ef_08_the_order_follows_from_the_seed(void)
{
    uint32_t first[PARTS], again[PARTS], other[PARTS], next[PARTS];

    order_of(1, 1, first);
    order_of(1, 1, again);
    order_of(2, 1, other);
    order_of(1, 2, next);
    CHECK(memcmp(first, again, sizeof first) == 0);
    CHECK(memcmp(first, other, sizeof first) != 0);
    CHECK(memcmp(first, next, sizeof first) != 0);
}

static void ef_08_a_task_that_failed_is_todo_again(void)
{
    struct ledger ledger = new_ledger(0);
    struct task task = take(&ledger, 1), again;

    CHECK(ledger_report(&ledger, 1, task.id, false));
    again = take(&ledger, 2);
    CHECK_EQUAL(task.id, again.id);
    CHECK_EQUAL(task.part, again.part);
    sound(&ledger);
    ledger_free(&ledger);
}

static void only_the_node_that_has_it_can_report_it(void)
{
    struct ledger ledger = new_ledger(0);
    struct task task = take(&ledger, 1);

    CHECK(!ledger_report(&ledger, 2, task.id, true));
    CHECK(!ledger_report(&ledger, 1, task.id + 1, true));
    CHECK(!ledger_report(&ledger, 1, 0, true));
    CHECK(!ledger_report(&ledger, 1, task.id + PARTS, true));
    CHECK(!ledger_report(&ledger, 1, UINT64_MAX, true));
    CHECK_EQUAL(0, ledger.count[TASK_DONE]);
    CHECK(ledger_report(&ledger, 1, task.id, true));
    CHECK(!ledger_report(&ledger, 1, task.id, true));
    CHECK_EQUAL(1, ledger.count[TASK_DONE]);
    ledger_free(&ledger);
}

static void ef_08_what_a_lost_node_was_doing_is_todo_again(void)
{
    struct ledger ledger = new_ledger(0);
    struct task kept, done;

    (void)take(&ledger, 1);
    kept = take(&ledger, 2);
    done = take(&ledger, 1);
    (void)take(&ledger, 1);
    CHECK(ledger_report(&ledger, 1, done.id, true));
    CHECK_EQUAL(2, ledger_lost(&ledger, 1));
    CHECK_EQUAL(0, ledger_lost(&ledger, 1));
    CHECK_EQUAL(PARTS - 2, ledger.count[TASK_TODO]);
    CHECK_EQUAL(1, ledger.count[TASK_DONE]);
    CHECK(ledger_report(&ledger, 2, kept.id, true));
    sound(&ledger);
    ledger_free(&ledger);
}

static void ef_08_what_takes_too_long_is_todo_again(void)
{
    struct ledger ledger = new_ledger(10 * SECOND);
    struct task slow, late, again;

    CHECK(ledger_assign(&ledger, 1, 0, &slow));
    CHECK(ledger_assign(&ledger, 1, 5 * SECOND, &late));
    CHECK_EQUAL(0, ledger_expire(&ledger, 10 * SECOND - 1));
    CHECK_EQUAL(1, ledger_expire(&ledger, 10 * SECOND));
    again = take(&ledger, 2);
    CHECK_EQUAL(slow.id, again.id);
    CHECK(!ledger_report(&ledger, 1, slow.id, true));
    CHECK(ledger_report(&ledger, 2, slow.id, true));
    CHECK(ledger_report(&ledger, 1, late.id, true));
    sound(&ledger);
    ledger_free(&ledger);
}

static void one_node_cannot_take_everything(void)
{
    struct ledger ledger;
    struct task task;

    ledger_init(&ledger, 1000, 0, 1, 0);
    for (unsigned i = 0; i < LEDGER_MAX_HELD; i++)
        (void)take(&ledger, 1);
    CHECK(!ledger_assign(&ledger, 1, 0, &task));
    task = take(&ledger, 2);
    CHECK(ledger_report(&ledger, 2, task.id, true));
    ledger_free(&ledger);
}

static void without_parts_there_are_no_tasks(void)
{
    struct ledger ledger;
    struct task task;

    ledger_init(&ledger, 0, 5, 1, SECOND);
    CHECK(!ledger_assign(&ledger, 0, 0, &task));
    CHECK(!ledger_report(&ledger, 0, 1, true));
    CHECK(!ledger_claim(&ledger, 0, 0, 1));
    CHECK_EQUAL(0, ledger_lost(&ledger, 0));
    CHECK_EQUAL(0, ledger_expire(&ledger, 10 * SECOND));
    CHECK(!ledger_over(&ledger));
    CHECK(!ledger_read(&ledger, "tasks 0 0 \n"));
    sound(&ledger);
    ledger_free(&ledger);
}

/* Nodes take, report, fail, die and are late, as a seed will have it. */
static void live(uint64_t seed)
{
    unsigned done[EPOCHS][PARTS] = {{0}};
    struct ledger ledger = new_ledger(20);
    struct task held[NODES] = {{0}};
    struct prng prng;

    prng_seed(&prng, seed);
    for (nanos now = 0; now < 100000 && !ledger_over(&ledger); now++) {
        unsigned node = (unsigned)prng_below(&prng, NODES);
        uint64_t die = prng_below(&prng, 10);
        struct task *task = &held[node];

        (void)ledger_expire(&ledger, now);
        if (die < 4)
            (void)ledger_assign(&ledger, node, now, task);
        else if (die < 8 && task->id &&
                 ledger_report(&ledger, node, task->id, die < 7))
            done[task->epoch][task->part] += die < 7;
        else if (die == 9)
            (void)ledger_lost(&ledger, node);
        sound(&ledger);
    }
    CHECK(ledger_over(&ledger));
    for (unsigned i = 0; i < EPOCHS * PARTS; i++)
        CHECK_EQUAL(1, done[i / PARTS][i % PARTS]);
    ledger_free(&ledger);
}

static void ef_08_whatever_nodes_do_each_task_is_done_once_an_epoch(void)
{
    for (uint64_t seed = 1; seed <= (runs_slowly() ? 10 : 200); seed++)
        live(seed);
}

/* ---- as text ---- */

static void what_is_done_stays_done_on_paper(void)
{
    struct ledger ledger = new_ledger(0), again = new_ledger(0);
    char text[LEDGER_TEXT_BYTES], second[LEDGER_TEXT_BYTES];

    for (unsigned i = 0; i < PARTS + 7; i++) {
        struct task task = take(&ledger, 0);

        CHECK(ledger_report(&ledger, 0, task.id, true));
    }
    (void)take(&ledger, 0);
    (void)ledger_print(&ledger, text, sizeof text);
    CHECK(ledger_read(&again, text));
    CHECK_EQUAL(1, again.epoch);
    CHECK_EQUAL(7, again.count[TASK_DONE]);
    CHECK_EQUAL(3, again.count[TASK_TODO]);
    sound(&again);
    (void)ledger_print(&again, second, sizeof second);
    CHECK_TEXT(text, second);
    ledger_free(&ledger);
    ledger_free(&again);
}

static void what_is_over_stays_over_on_paper(void)
{
    struct ledger ledger = new_ledger(0), again = new_ledger(0);
    char text[LEDGER_TEXT_BYTES];

    while (!ledger_over(&ledger))
        CHECK(ledger_report(&ledger, 0, take(&ledger, 0).id, true));
    (void)ledger_print(&ledger, text, sizeof text);
    CHECK(ledger_read(&again, text));
    CHECK(ledger_over(&again));
    ledger_free(&ledger);
    ledger_free(&again);
}

static void the_longest_ledger_has_room(void)
{
    char text[LEDGER_TEXT_BYTES];
    struct ledger ledger;
    size_t length;

    ledger_init(&ledger, LEDGER_MAX_TASKS, 0, 1, 0);
    ledger.epoch = UINT64_MAX / 3 / LEDGER_MAX_TASKS;
    length = ledger_print(&ledger, text, sizeof text);
    CHECK_EQUAL(strlen(text), length);
    CHECK(ledger_read(&ledger, text));
    ledger_free(&ledger);
}

static void paper_that_makes_no_sense_is_refused(void)
{
    static const char *const lines[] = {
        "",
        "tasks",
        "tasks 10",
        "tasks 10 0\n",
        "tasks 10 0 \n",
        "tasks 10 0 00\n",
        "tasks 10 0 0000\n",
        "tasks 10 0 00g\n",
        "tasks 10 0 000",
        "tasks 11 0 000\n",
        "tasks 10 -1 000\n",
        "tasks 10 99999999999999999999999 000\n",
        "task 10 0 000\n",
    };
    struct ledger ledger = new_ledger(0);

    (void)take(&ledger, 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        CHECK(!ledger_read(&ledger, lines[i]));
        CHECK_EQUAL(1, ledger.count[TASK_DOING]);
    }
    CHECK(ledger_read(&ledger, "tasks 10 1 fff\n"));
    CHECK_EQUAL(2, ledger.epoch);
    sound(&ledger);
    ledger_free(&ledger);
}

void add_hub_ledger_tests(CU_pSuite suite)
{
    TEST(ef_08_an_epoch_gives_out_each_part_once);
    TEST(ef_08_the_next_epoch_begins_when_every_task_is_done);
    TEST(ef_08_the_order_follows_from_the_seed);
    TEST(ef_08_a_task_that_failed_is_todo_again);
    TEST(only_the_node_that_has_it_can_report_it);
    TEST(ef_08_what_a_lost_node_was_doing_is_todo_again);
    TEST(ef_08_what_takes_too_long_is_todo_again);
    TEST(one_node_cannot_take_everything);
    TEST(without_parts_there_are_no_tasks);
    TEST(ef_08_whatever_nodes_do_each_task_is_done_once_an_epoch);
    TEST(what_is_done_stays_done_on_paper);
    TEST(what_is_over_stays_over_on_paper);
    TEST(the_longest_ledger_has_room);
    TEST(paper_that_makes_no_sense_is_refused);
}
