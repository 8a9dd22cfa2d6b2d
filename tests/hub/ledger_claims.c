/* What nodes say that they have of the tasks of a hub that was killed, or of a
 * session that is over. */
#include "hub/ledger.h"
#include "tests/check.h"

enum { PARTS = 10, EPOCHS = 3, TWO_EPOCHS = 2 * PARTS };

static struct ledger new_ledger(void)
{
    struct ledger ledger;

    ledger_init(&ledger, PARTS, EPOCHS, 7, 0);
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

/* A node had tasks of another hub, whose order was another one. */
static void a_claim_is_held_until_it_is_reported(void)
{
    struct ledger ledger = new_ledger();

    CHECK(ledger_claim(&ledger, 1, 0, 3));
    CHECK(!ledger_claim(&ledger, 2, 0, 3));
    CHECK_EQUAL(1, ledger.count[TASK_DOING]);
    for (unsigned i = 0; i < PARTS - 1; i++)
        CHECK(take(&ledger, 2).part != 2);
    CHECK(ledger_report(&ledger, 1, 3, true));
    CHECK(!ledger_claim(&ledger, 1, 0, 3));
    CHECK_EQUAL(1, ledger.count[TASK_DONE]);
    sound(&ledger);
    ledger_free(&ledger);
}

static void a_task_has_the_same_number_whatever_the_seed(void)
{
    struct ledger ledger;
    struct task task;

    for (uint64_t seed = 1; seed < 5; seed++) {
        ledger_init(&ledger, PARTS, 0, seed, 0);
        for (unsigned i = 0; i < 2 * PARTS; i++) {
            task = take(&ledger, 0);
            CHECK_EQUAL(task.epoch * PARTS + task.part + 1, task.id);
            CHECK(ledger_report(&ledger, 0, task.id, true));
        }
        ledger_free(&ledger);
    }
}

/* The hub is back in epoch 0, nodes were in epochs 1 and 2. */
static void claims_of_later_epochs_count_when_these_begin(void)
{
    struct ledger ledger = new_ledger();

    CHECK(ledger_claim(&ledger, 1, 0, PARTS + 1));
    CHECK(ledger_claim(&ledger, 1, 0, PARTS + 2));
    CHECK(ledger_claim(&ledger, 2, 0, PARTS + 3));
    CHECK(ledger_claim(&ledger, 2, 0, 2 * PARTS + 1));
    CHECK(!ledger_claim(&ledger, 2, 0, PARTS + 1));
    CHECK(!ledger_claim(&ledger, 2, 0, 0));
    CHECK(!ledger_claim(&ledger, 2, 0, EPOCHS * PARTS + 1));
    CHECK(!ledger_claim(&ledger, 2, 0, UINT64_MAX));
    CHECK(ledger_report(&ledger, 1, PARTS + 1, true));
    CHECK(!ledger_report(&ledger, 1, PARTS + 1, true));
    CHECK(!ledger_report(&ledger, 1, PARTS + 3, true));
    sound(&ledger);
    for (unsigned i = 0; i < PARTS; i++)
        CHECK(ledger_report(&ledger, 3, take(&ledger, 3).id, true));
    CHECK_EQUAL(1, ledger.epoch);
    CHECK_EQUAL(1, ledger.count[TASK_DONE]);
    CHECK_EQUAL(2, ledger.count[TASK_DOING]);
    CHECK(ledger_report(&ledger, 1, PARTS + 2, true));
    CHECK_EQUAL(1, ledger_lost(&ledger, 2));
    CHECK_EQUAL(0, ledger.claim_count);
    sound(&ledger);
    ledger_free(&ledger);
}

/* All of epochs 0 and 1 but a task were reported to a hub that is gone. */
static void an_epoch_that_is_claimed_whole_is_over_at_once(void)
{
    struct ledger ledger = new_ledger();

    for (uint64_t id = 2; id <= TWO_EPOCHS; id++) {
        CHECK(ledger_claim(&ledger, 1, 0, id));
        CHECK(ledger_report(&ledger, 1, id, true));
        sound(&ledger);
    }
    CHECK_EQUAL(0, ledger.epoch);
    CHECK(ledger_report(&ledger, 2, take(&ledger, 2).id, true));
    CHECK_EQUAL(2, ledger.epoch);
    CHECK_EQUAL(PARTS, ledger.count[TASK_TODO]);
    sound(&ledger);
    ledger_free(&ledger);
}

static void claims_are_bounded(void)
{
    struct ledger ledger;
    uint64_t id = LEDGER_MAX_TASKS + 1;
    unsigned held = 0;

    ledger_init(&ledger, LEDGER_MAX_TASKS, 0, 1, 0);
    for (unsigned i = 0; i < 2 * LEDGER_MAX_HELD; i++)
        held += ledger_claim(&ledger, 1, 0, id++);
    CHECK_EQUAL(LEDGER_MAX_HELD, held);
    while (ledger_claim(&ledger, 2, 0, id) &&
           ledger_report(&ledger, 2, id, true))
        id++;
    CHECK_EQUAL(LEDGER_MAX_CLAIMS, ledger.claim_count);
    (void)ledger_lost(&ledger, 1);
    CHECK_EQUAL(LEDGER_MAX_CLAIMS - LEDGER_MAX_HELD, ledger.claim_count);
    ledger_free(&ledger);
}

static void what_is_doubted_is_its_nodes_until_that_is_settled(void)
{
    struct ledger ledger = new_ledger();
    struct task kept = take(&ledger, 1), lost = take(&ledger, 1), spare;

    CHECK(ledger_claim(&ledger, 1, 0, PARTS + 1));
    CHECK(ledger_claim(&ledger, 1, 0, PARTS + 2));
    ledger_doubt(&ledger, 1);
    CHECK(!ledger_claim(&ledger, 2, 0, kept.id));
    CHECK(!ledger_claim(&ledger, 2, 0, PARTS + 1));
    CHECK(ledger_claim(&ledger, 1, 0, kept.id));
    CHECK(ledger_claim(&ledger, 1, 0, PARTS + 1));
    CHECK(!ledger_claim(&ledger, 1, 0, kept.id));
    CHECK_EQUAL(1, ledger_settle(&ledger, 1));
    CHECK_EQUAL(0, ledger_settle(&ledger, 1));
    spare = take(&ledger, 2);
    CHECK_EQUAL(lost.id, spare.id);
    CHECK_EQUAL(1, ledger.claim_count);
    CHECK(ledger_report(&ledger, 1, kept.id, true));
    sound(&ledger);
    ledger_free(&ledger);
}

void add_hub_ledger_claims_tests(CU_pSuite suite)
{
    TEST(a_claim_is_held_until_it_is_reported);
    TEST(a_task_has_the_same_number_whatever_the_seed);
    TEST(claims_of_later_epochs_count_when_these_begin);
    TEST(an_epoch_that_is_claimed_whole_is_over_at_once);
    TEST(claims_are_bounded);
    TEST(what_is_doubted_is_its_nodes_until_that_is_settled);
}
