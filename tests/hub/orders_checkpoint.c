#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

/* Whether it is not answered yet. */
static bool is_open(const struct bench *bench, uint64_t ticket)
{
    char text[MSG_TEXT_BYTES];

    return bench_answer(bench, ticket, text) == STATUSES;
}

static void a_checkpoint_is_answered_when_it_is_on_the_disk(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    uint64_t ticket;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    bench->hand.holds_jobs = true;
    ticket = bench_order(bench, COMMAND_CHECKPOINT, "");
    CHECK(is_open(bench, ticket));
    bench->hand.holds_jobs = false;
    hand_work(&bench->hand);
    bench_answered(bench, ticket, STATUS_OK, "saved version 1");
    CHECK_EQUAL(1, store.saves);
    CHECK_NEAR(2, (double)store.theta[0], 0);
    CHECK_TEXT("checkpoint", hand_note(&bench->hand, NOTE_ORDERED)->text);
    bench_destroy(&bench);
}

static void what_is_saved_already_is_not_saved_again(void)
{
    struct bench *bench = bench_new();
    uint64_t ticket;

    store_lend(&store, bench);
    (void)guest_alone(bench);
    (void)bench_order(bench, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(1, store.saves);
    ticket = bench_order(bench, COMMAND_CHECKPOINT, "");
    bench_answered(bench, ticket, STATUS_OK, "saved already");
    CHECK_EQUAL(1, store.saves);
    bench_destroy(&bench);
}

static void a_checkpoint_is_of_the_version_that_there_was(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    uint64_t first, second;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    bench->hand.holds_jobs = true;
    first = bench_order(bench, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(1, bench->hand.job_count);
    guest_gives(bench, &a, 2, 1);
    bench->hand.holds_jobs = false;
    hand_work(&bench->hand);
    CHECK_EQUAL(2, bench_look(bench)->version);
    bench_answered(bench, first, STATUS_OK, "saved version 1");
    second = bench_order(bench, COMMAND_CHECKPOINT, "");
    bench_answered(bench, second, STATUS_OK, "saved version 2");
    CHECK_NEAR(3, (double)store.theta[9], 0);
    bench_destroy(&bench);
}

static void a_checkpoint_waits_for_the_save_before_it(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    uint64_t first, second;
    struct job *save;

    store_lend(&store, bench);
    a = guest_alone(bench);
    bench->hand.holds_jobs = true;
    first = bench_order(bench, COMMAND_CHECKPOINT, "");
    save = bench->hand.jobs[--bench->hand.job_count]; /* it takes its time */
    bench->hand.holds_jobs = false;
    guest_gives(bench, &a, 1, 1);
    second = bench_order(bench, COMMAND_CHECKPOINT, "");
    CHECK(is_open(bench, first));
    CHECK(is_open(bench, second));
    bench->hand.jobs[bench->hand.job_count++] = save;
    hand_work(&bench->hand);
    bench_answered(bench, first, STATUS_OK, "saved version 0");
    bench_answered(bench, second, STATUS_OK, "saved version 1");
    bench_destroy(&bench);
}

static void a_checkpoint_waits_for_a_complete_version(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    uint64_t ticket;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_offers(bench, &a, 1);
    guest_delivers(bench, &a, 1, 0, 1);
    ticket = bench_order(bench, COMMAND_CHECKPOINT, "");
    CHECK(is_open(bench, ticket));
    guest_delivers(bench, &a, 1, 1, 1);
    guest_delivers(bench, &a, 1, 2, 1);
    bench_answered(bench, ticket, STATUS_OK, "saved version 1");
    bench_destroy(&bench);
}

static void a_checkpoint_that_fails_says_so(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    uint64_t ticket;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    store.fails = true;
    ticket = bench_order(bench, COMMAND_CHECKPOINT, "");
    bench_answered(bench, ticket, STATUS_IO, "version 1 could not be saved");
    store.fails = false;
    ticket = bench_order(bench, COMMAND_CHECKPOINT, "");
    bench_answered(bench, ticket, STATUS_OK, "saved version 1");
    bench_destroy(&bench);
}

static void there_is_no_checkpoint_of_nothing(void)
{
    struct bench *bench = bench_new();
    uint64_t ticket;

    store_lend(&store, bench);
    bench_open(bench);
    ticket = bench_order(bench, COMMAND_CHECKPOINT, "");
    bench_answered(bench, ticket, STATUS_AGAIN, "no centre yet");
    CHECK_EQUAL(0, store.saves);
    bench_destroy(&bench);
}

static void a_hub_that_saves_nothing_has_no_checkpoints(void)
{
    struct bench *bench = bench_new();
    uint64_t ticket;

    (void)guest_alone(bench);
    ticket = bench_order(bench, COMMAND_CHECKPOINT, "");
    bench_answered(bench, ticket, STATUS_CONFIG, "saves nothing");
    bench_destroy(&bench);
}

static void of_many_checkpoints_at_once_the_last_are_refused(void)
{
    struct bench *bench = bench_new();
    uint64_t first = 0, last = 0;
    unsigned given = 0;

    store_lend(&store, bench);
    (void)guest_alone(bench);
    bench->hand.holds_jobs = true;
    while (given < 100 && is_open(bench, last)) {
        last = bench_order(bench, COMMAND_CHECKPOINT, "");
        first = first ? first : last;
        given++;
    }
    CHECK_EQUAL(17, given);
    bench_answered(bench, last, STATUS_AGAIN, "16 checkpoints are under way");
    bench->hand.holds_jobs = false;
    hand_work(&bench->hand);
    for (uint64_t ticket = first; ticket < last; ticket++)
        bench_answered(bench, ticket, STATUS_OK, "saved version 0");
    bench_destroy(&bench);
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
}
