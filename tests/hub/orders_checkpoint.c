#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

/* Whether it is not answered yet. */
static bool is_open(const struct hub_fixture *f, uint64_t ticket)
{
    char text[MSG_TEXT_BYTES];

    return hub_fixture_answer(f, ticket, text) == STATUSES;
}

static void a_checkpoint_is_answered_when_it_is_on_the_disk(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    uint64_t ticket;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    f->hand.holds_jobs = true;
    ticket = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK(is_open(f, ticket));
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    hub_fixture_answered(f, ticket, STATUS_OK, "saved version 1");
    CHECK_EQUAL(1, store.saves);
    CHECK_NEAR(2, (double)store.theta[0], 0);
    CHECK_TEXT("checkpoint", hand_note(&f->hand, NOTE_ORDERED)->text);
    hub_fixture_destroy(&f);
}

static void what_is_saved_already_is_not_saved_again(void)
{
    struct hub_fixture *f = hub_fixture_new();
    uint64_t ticket;

    store_lend(&store, f);
    (void)fake_node_alone(f);
    (void)hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(1, store.saves);
    ticket = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    hub_fixture_answered(f, ticket, STATUS_OK, "saved already");
    CHECK_EQUAL(1, store.saves);
    hub_fixture_destroy(&f);
}

static void a_checkpoint_is_of_the_version_that_there_was(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    uint64_t first, second;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    f->hand.holds_jobs = true;
    first = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(1, f->hand.job_count);
    fake_node_gives(f, &a, 2, 1);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK_EQUAL(2, hub_fixture_look(f)->version);
    hub_fixture_answered(f, first, STATUS_OK, "saved version 1");
    second = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    hub_fixture_answered(f, second, STATUS_OK, "saved version 2");
    CHECK_NEAR(3, (double)store.theta[9], 0);
    hub_fixture_destroy(&f);
}

static void a_checkpoint_waits_for_the_save_before_it(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    uint64_t first, second;
    struct job *save;

    store_lend(&store, f);
    a = fake_node_alone(f);
    f->hand.holds_jobs = true;
    first = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    save = f->hand.jobs[--f->hand.job_count]; /* it takes its time */
    f->hand.holds_jobs = false;
    fake_node_gives(f, &a, 1, 1);
    second = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK(is_open(f, first));
    CHECK(is_open(f, second));
    f->hand.jobs[f->hand.job_count++] = save;
    hand_work(&f->hand);
    hub_fixture_answered(f, first, STATUS_OK, "saved version 0");
    hub_fixture_answered(f, second, STATUS_OK, "saved version 1");
    hub_fixture_destroy(&f);
}

static void a_checkpoint_waits_for_a_complete_version(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    uint64_t ticket;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_offers(f, &a, 1);
    fake_node_delivers(f, &a, 1, 0, 1);
    ticket = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK(is_open(f, ticket));
    fake_node_delivers(f, &a, 1, 1, 1);
    fake_node_delivers(f, &a, 1, 2, 1);
    hub_fixture_answered(f, ticket, STATUS_OK, "saved version 1");
    hub_fixture_destroy(&f);
}

static void a_checkpoint_that_fails_says_so(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    uint64_t ticket;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    store.fails = true;
    ticket = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    hub_fixture_answered(f, ticket, STATUS_IO, "version 1 could not be saved");
    store.fails = false;
    ticket = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    hub_fixture_answered(f, ticket, STATUS_OK, "saved version 1");
    hub_fixture_destroy(&f);
}

static void there_is_no_checkpoint_of_nothing(void)
{
    struct hub_fixture *f = hub_fixture_new();
    uint64_t ticket;

    store_lend(&store, f);
    hub_fixture_open(f);
    ticket = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    hub_fixture_answered(f, ticket, STATUS_AGAIN, "no centre yet");
    CHECK_EQUAL(0, store.saves);
    hub_fixture_destroy(&f);
}

static void a_hub_that_saves_nothing_has_no_checkpoints(void)
{
    struct hub_fixture *f = hub_fixture_new();
    uint64_t ticket;

    (void)fake_node_alone(f);
    ticket = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    hub_fixture_answered(f, ticket, STATUS_CONFIG, "saves nothing");
    hub_fixture_destroy(&f);
}

static void of_many_checkpoints_at_once_the_last_are_refused(void)
{
    struct hub_fixture *f = hub_fixture_new();
    uint64_t first = 0, last = 0;
    unsigned given = 0;

    store_lend(&store, f);
    (void)fake_node_alone(f);
    f->hand.holds_jobs = true;
    while (given < 100 && is_open(f, last)) {
        last = hub_fixture_order(f, COMMAND_CHECKPOINT, "");
        first = first ? first : last;
        given++;
    }
    CHECK_EQUAL(17, given);
    hub_fixture_answered(f, last, STATUS_AGAIN, "16 checkpoints are under way");
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    for (uint64_t ticket = first; ticket < last; ticket++)
        hub_fixture_answered(f, ticket, STATUS_OK, "saved version 0");
    hub_fixture_destroy(&f);
}

/* Its version is on the disk, and was found to be the best one afterwards. */
static struct hub_fixture *scored_after_its_save(struct fake_node *node)
{
    struct hub_fixture *f = hub_fixture_new();

    store_lend(&store, f);
    *node = fake_node_alone(f);
    (void)hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(1, store.saves);
    fake_node_lives(f, node, 2 * SECOND);
    CHECK(hand_note(&f->hand, NOTE_BEST) != NULL);
    CHECK_EQUAL(0, store.bests);
    return f;
}

static void a_checkpoint_saves_a_best_centre_that_was_scored_late(void)
{
    struct fake_node a;
    struct hub_fixture *f = scored_after_its_save(&a);

    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_CHECKPOINT, ""),
                         STATUS_OK, "saved version 0");
    CHECK_EQUAL(1, store.bests);
    hub_fixture_destroy(&f);
}

static void a_hub_that_stops_saves_a_best_centre_that_was_scored_late(void)
{
    struct fake_node a;
    struct hub_fixture *f = scored_after_its_save(&a);

    (void)hub_fixture_order(f, COMMAND_STOP, "");
    CHECK(hub_ended(f->hub));
    CHECK_EQUAL(1, store.bests);
    hub_fixture_destroy(&f);
}

static void a_hub_that_stands_saves_a_best_centre_that_was_scored_late(void)
{
    struct fake_node a;
    struct hub_fixture *f = scored_after_its_save(&a);

    fake_node_lives(f, &a, 40 * SECOND);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(2, store.saves);
    hub_fixture_destroy(&f);
}

void add_hub_orders_checkpoint_tests(CU_pSuite suite)
{
    TEST(a_checkpoint_is_answered_when_it_is_on_the_disk);
    TEST(what_is_saved_already_is_not_saved_again);
    TEST(a_checkpoint_is_of_the_version_that_there_was);
    TEST(a_checkpoint_waits_for_the_save_before_it);
    TEST(a_checkpoint_waits_for_a_complete_version);
    TEST(a_checkpoint_that_fails_says_so);
    TEST(there_is_no_checkpoint_of_nothing);
    TEST(a_hub_that_saves_nothing_has_no_checkpoints);
    TEST(of_many_checkpoints_at_once_the_last_are_refused);
    TEST(a_checkpoint_saves_a_best_centre_that_was_scored_late);
    TEST(a_hub_that_stops_saves_a_best_centre_that_was_scored_late);
    TEST(a_hub_that_stands_saves_a_best_centre_that_was_scored_late);
}
