/* How much of what a hub has merged a node remembers. */
#include "node/promise.h"
#include "tests/check.h"
#include "tests/node/keeper.h"

enum { MODEL = FIXTURE_ELEMENTS * sizeof(float) };

/* Exchanges `first` to `last`, of 1 each, are merged. */
static void are_merged(struct node_fixture *f, uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i <= last; i++) {
        node_fixture_offers(f, i, 1 + (double)i);
        node_fixture_answers(f, i, VERB_REBASE, 1 + (double)i);
        node_fixture_applied(f, i);
    }
}

/* The hub comes back with those up to `merged`, of 9. */
static void check_back(struct node_fixture *f, uint64_t merged,
                       const char *words, double offered)
{
    const struct note *note;

    keeper_comes_back(f, merged, START_GO);
    note = hand_note(&f->hand, NOTE_RESTORED);
    if (CHECK(note != NULL))
        CHECK_CONTAINS(words, note->text);
    node_fixture_offers(f, 10, 10);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(offered, node_fixture_chunk(f, 10, i), 0);
    node_fixture_destroy(&f);
}

static void what_is_beyond_the_room_is_added_up(void)
{
    struct node_fixture *f = node_fixture_promising(UINT64_C(2) * MODEL);

    are_merged(f, 1, 9);
    check_back(f, 0, "9 merged exchanges are offered again, 0 are lost", 9);
}

/* The node keeps a version with the first 5 of 9, and that is lost. */
static void check_kept(struct node_fixture *f, const char *words,
                       double offered)
{
    are_merged(f, 1, 5);
    keeper_says(f, f->version, 5, NULL);
    are_merged(f, 6, 9);
    check_back(f, 0, words, offered);
}

static void of_what_is_kept_a_model_is_remembered(void)
{
    check_kept(node_fixture_promising(UINT64_C(6) * MODEL),
               "5 merged exchanges are offered again, 4 are lost", 5);
}

/* What is room for many exchanges of a few elements is not for those of the
 * model that they stand for. */
static void of_a_larger_model_as_much_of_a_surrogate_is_remembered(void)
{
    check_kept(node_fixture_surrogate(1),
               "9 merged exchanges are offered again, 0 are lost", 9);
    check_kept(node_fixture_surrogate(PROMISED_BYTES / (6 * MODEL)),
               "5 merged exchanges are offered again, 4 are lost", 5);
}

/* It does not have this version: another node may. */
static void what_a_version_has_is_not_added_to_what_comes_later(void)
{
    static const uint64_t other[FIXTURE_CHUNKS] = {7, 7, 7};

    for (int saved = 0; saved < 2; saved++) {
        struct node_fixture *f = node_fixture_promising(UINT64_C(3) * MODEL);

        are_merged(f, 1, 4);
        if (saved)
            keeper_saves(f, 4);
        else
            keeper_says(f, 7, 4, other);
        are_merged(f, 5, 9);
        check_back(f, 4, "5 merged exchanges are offered again, 0 are lost", 5);
    }
}

static void what_cannot_be_told_apart_is_lost_and_that_is_said(void)
{
    struct node_fixture *f = node_fixture_promising(MODEL);

    are_merged(f, 1, 9);
    check_back(f, 4, "1 merged exchanges are offered again, 4 are lost", 1);
}

/* Of 3 that are merged 2 are being added up. */
static struct node_fixture *node_fixture_adding(void)
{
    struct node_fixture *f = node_fixture_promising(UINT64_C(2) * MODEL);

    are_merged(f, 1, 2);
    node_fixture_offers(f, 3, 4);
    f->hand.holds_jobs = true;
    node_fixture_answers(f, 3, VERB_REBASE, 4);
    return f;
}

static void work_is_done(struct node_fixture *f)
{
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
}

/* A sum of what was given again looked as if it had not been. */
static void what_is_given_again_is_not_added_up_any_more(void)
{
    struct node_fixture *f = node_fixture_adding();

    keeper_comes_back(f, 0, START_GO);
    work_is_done(f);
    check_back(f, 0, "3 merged exchanges are offered again, 0 are lost", 9);
}

static void what_a_hub_tells_of_one_is_not_lost_in_a_sum(void)
{
    struct node_fixture *f = node_fixture_adding();

    node_fixture_breaks(f);
    f->welcome.epoch += LIFE;
    f->welcome.merged = 3;
    node_fixture_connects(f);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_LOST);
    work_is_done(f);
    node_fixture_welcomes(f, START_GO);
    node_fixture_offers(f, 4, 10); /* 6 since, and exchange 1 */
    CHECK_NEAR(7, node_fixture_chunk(f, 4, 0), 0);
    node_fixture_destroy(&f);
}

void add_node_promise_room_tests(CU_pSuite suite)
{
    TEST(what_is_beyond_the_room_is_added_up);
    TEST(of_what_is_kept_a_model_is_remembered);
    TEST(of_a_larger_model_as_much_of_a_surrogate_is_remembered);
    TEST(what_a_version_has_is_not_added_to_what_comes_later);
    TEST(what_cannot_be_told_apart_is_lost_and_that_is_said);
    TEST(what_is_given_again_is_not_added_up_any_more);
    TEST(what_a_hub_tells_of_one_is_not_lost_in_a_sum);
}
