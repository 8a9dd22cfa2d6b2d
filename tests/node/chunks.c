/* Runs are cut into chunks for good; another run may be cut otherwise. */
#include "tests/check.h"
#include "tests/node/keeper.h"

/* A hub of the next run cuts the model in two. */
static void another_run(struct node_fixture *f)
{
    node_fixture_breaks(f);
    node_fixture_connects(f);
    f->welcome.run++;
    f->welcome.chunk_elements = 5;
    node_fixture_welcomes(f, START_GO);
}

/* What was granted in the former run is left there: the founder of this one may
 * have been sent it. */
static void another_run_that_is_cut_otherwise_is_followed(void)
{
    struct node_fixture *f = node_fixture_offering();

    another_run(f);
    CHECK(!node_ended(f->node));
    CHECK_EQUAL(
        5, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.chunk_elements);
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.offering);
    hand_forget(&f->hand);
    node_fixture_offers(f, 2, 4);
    CHECK_EQUAL(2, node_fixture_chunks(f, 2));
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 1), 0);
    node_fixture_destroy(&f);
}

/* The trainer is still to apply what is cut as before. */
static void another_cut_waits_for_what_is_to_be_applied(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_answers(f, 1, VERB_REBASE, 5);
    another_run(f);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(!node_ended(f->node));
    node_fixture_applied(f, 1);
    hand_wait(&f->hand, SECOND);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_GO);
    hand_forget(&f->hand);
    node_fixture_offers(f, 2, 7);
    CHECK_EQUAL(2, node_fixture_chunks(f, 2));
    CHECK_NEAR(2, node_fixture_chunk(f, 2, 1), 0);
    node_fixture_destroy(&f);
}

/* Nothing is lost by it, and the next hub may be in order. */
static void a_hub_that_cuts_the_run_otherwise_is_left(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_breaks(f);
    node_fixture_connects(f);
    f->welcome.chunk_elements = 5;
    node_fixture_welcomes(f, START_GO);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK_CONTAINS("other chunks than it has",
                   hand_note(&f->hand, NOTE_DETACHED)->text);
    CHECK(!node_ended(f->node));
    hand_forget(&f->hand);
    node_fixture_connects(f);
    CHECK(!node_fixture_sent(f, MSG_HELLO));
    hand_wait(&f->hand, 4 * SECOND);
    CHECK(node_fixture_sent(f, MSG_HELLO) != NULL);
    f->welcome.chunk_elements = FIXTURE_CHUNK;
    node_fixture_welcomes(f, START_GO);
    hand_forget(&f->hand);
    node_fixture_offers(f, 2, 4);
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 2));
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* A hub that looks for its centre does not know yet how that is cut. */
static void what_is_kept_is_given_as_it_is_cut(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    node_fixture_breaks(f);
    hand_forget(&f->hand);
    node_fixture_connects(f);
    CHECK_EQUAL(FIXTURE_CHUNK,
                node_fixture_sent(f, MSG_HELLO)->hello.kept_chunk);
    f->welcome.run++; /* what a run would be if nobody kept one */
    f->welcome.chunk_elements = 5;
    node_fixture_welcomes(f, START_HOLD);
    node_fixture_restarts(f, START_GIVE);
    node_fixture_grants(f, 0, FIXTURE_CHUNKS);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_BULK, MSG_KEPT));
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 0));
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    node_fixture_destroy(&f);
}

/* What was to found the former run is formed when this one is to be founded. */
static void jobs_of_the_former_cut_are_left_out(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_connects(f);
    f->hand.holds_jobs = true;
    node_fixture_welcomes(f, START_FOUND);
    node_fixture_breaks(f);
    node_fixture_connects(f);
    f->welcome.run++;
    f->welcome.chunk_elements = FIXTURE_ELEMENTS;
    node_fixture_welcomes(f, START_FOUND);
    hand_work(&f->hand);
    f->hand.holds_jobs = false;
    node_fixture_grants(f, 0, FIXTURE_CHUNKS);
    CHECK_EQUAL(1, node_fixture_chunks(f, 0));
    node_fixture_destroy(&f);
}

/* As above, of what was to be taken. */
static void results_of_the_former_cut_are_left_out(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_TAKE);
    f->hand.holds_jobs = true;
    node_fixture_answers(f, 0, VERB_REPLACE, 5);
    CHECK_EQUAL(FIXTURE_CHUNKS, f->hand.job_count);
    node_fixture_breaks(f);
    node_fixture_connects(f);
    f->welcome.run++;
    f->welcome.chunk_elements = FIXTURE_ELEMENTS;
    node_fixture_welcomes(f, START_TAKE);
    hand_work(&f->hand);
    CHECK(!node_fixture_told(f, MSG_LOCAL_RESULT));
    CHECK(!node_ended(f->node));
    node_fixture_destroy(&f);
}

void add_node_chunks_tests(CU_pSuite suite)
{
    TEST(another_run_that_is_cut_otherwise_is_followed);
    TEST(another_cut_waits_for_what_is_to_be_applied);
    TEST(a_hub_that_cuts_the_run_otherwise_is_left);
    TEST(what_is_kept_is_given_as_it_is_cut);
    TEST(jobs_of_the_former_cut_are_left_out);
    TEST(results_of_the_former_cut_are_left_out);
}
