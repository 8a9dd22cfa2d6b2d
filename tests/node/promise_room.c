/* How much of what a hub has merged a node remembers. */
#include "tests/check.h"
#include "tests/node/keeper.h"

enum { MODEL = DESK_ELEMENTS * sizeof(float) };

/* Exchanges `first` to `last`, of 1 each, are merged. */
static void are_merged(struct desk *desk, uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i <= last; i++) {
        desk_offers(desk, i, 1 + (double)i);
        desk_answers(desk, i, VERB_REBASE, 1 + (double)i);
        desk_applied(desk, i);
    }
}

/* The hub comes back with those up to `merged`, of 9. */
static void check_back(struct desk *desk, uint64_t merged, const char *words,
                       double offered)
{
    const struct note *note;

    keeper_comes_back(desk, merged, START_GO);
    note = hand_note(&desk->hand, NOTE_RESTORED);
    if (CHECK(note != NULL))
        CHECK_CONTAINS(words, note->text);
    desk_offers(desk, 10, 10);
    for (uint32_t i = 0; i < DESK_CHUNKS; i++)
        CHECK_NEAR(offered, desk_chunk(desk, 10, i), 0);
    desk_destroy(&desk);
}

static void what_is_beyond_the_room_is_added_up(void)
{
    struct desk *desk = desk_promising(UINT64_C(2) * MODEL);

    are_merged(desk, 1, 9);
    check_back(desk, 0, "9 merged exchanges are offered again, 0 are lost", 9);
}

static void of_what_is_kept_a_model_is_remembered(void)
{
    struct desk *desk = desk_promising(UINT64_C(6) * MODEL);

    are_merged(desk, 1, 5);
    keeper_says(desk, desk->version, 5, NULL);
    are_merged(desk, 6, 9);
    check_back(desk, 0, "5 merged exchanges are offered again, 4 are lost", 5);
}

/* It does not have this version: another node may. */
static void what_a_version_has_is_not_added_to_what_comes_later(void)
{
    static const uint64_t other[DESK_CHUNKS] = {7, 7, 7};

    for (int saved = 0; saved < 2; saved++) {
        struct desk *desk = desk_promising(UINT64_C(3) * MODEL);

        are_merged(desk, 1, 4);
        if (saved)
            keeper_saves(desk, 4);
        else
            keeper_says(desk, 7, 4, other);
        are_merged(desk, 5, 9);
        check_back(desk, 4, "5 merged exchanges are offered again, 0 are lost",
                   5);
    }
}

static void what_cannot_be_told_apart_is_lost_and_that_is_said(void)
{
    struct desk *desk = desk_promising(MODEL);

    are_merged(desk, 1, 9);
    check_back(desk, 4, "1 merged exchanges are offered again, 4 are lost", 1);
}

void add_node_promise_room_tests(CU_pSuite suite)
{
    TEST(what_is_beyond_the_room_is_added_up);
    TEST(of_what_is_kept_a_model_is_remembered);
    TEST(what_a_version_has_is_not_added_to_what_comes_later);
    TEST(what_cannot_be_told_apart_is_lost_and_that_is_said);
}
