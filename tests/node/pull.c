/* Results that pull a node part of the way to the centre. */
#include "tests/check.h"
#include "tests/node/node_fixture.h"

/* After a pull the node is still away from the centre, and says so; what is
 * under way counts as if it were there. */
static void after_a_pull_offers_are_measured_from_the_centre(void)
{
    struct node_fixture *f = node_fixture_new();

    f->weight = 0.5;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4); /* u = 1 */
    node_fixture_answers(f, 1, VERB_PULL, 10);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 3, 7.5); /* 0.5 x 4 + 0.5 x 10, and its own 0.5 */
    CHECK_NEAR(7.5 - (10 + 1), node_fixture_chunk(f, 3, 0), 0);
    node_fixture_answers(f, 2, VERB_PULL, 13);
    node_fixture_applied(f, 2);
    node_fixture_answers(f, 3, VERB_PULL, 14);
    node_fixture_applied(f, 3);
    node_fixture_offers(f, 4, 20);
    CHECK_NEAR(20 - 14, node_fixture_chunk(f, 4, 0), 0);
    node_fixture_destroy(&f);
}

/* What was not merged is given once: the part that x still holds because x is
 * away from the centre, the rest because it is put back. */
static void after_a_pull_what_was_not_merged_is_offered_once(void)
{
    for (int i = 0; i <= 4; i++) {
        struct node_fixture *f = node_fixture_new();
        struct msg_result result = {.exchange = 1,
                                    .verb = VERB_PULL,
                                    .verdict = VERDICT_EXPIRED,
                                    .version = 1,
                                    .weight = 0.25 * i};

        node_fixture_ready(f, 1);
        node_fixture_offers(f, 1, 3); /* u = 2 */
        for (; result.chunk < FIXTURE_CHUNKS; result.chunk++)
            node_fixture_result(f, &result, 1);
        node_fixture_applied(f, 1);
        node_fixture_offers(f, 2, (1 - result.weight) * 3 + result.weight * 1);
        CHECK_NEAR(2, node_fixture_chunk(f, 2, 0), 0);
        node_fixture_destroy(&f);
    }
}

/* x holds none of it then. */
static void what_was_not_merged_is_whole_where_no_pull_is_applied(void)
{
    for (int breaks = 0; breaks < 2; breaks++) {
        struct node_fixture *f = node_fixture_new();
        struct msg_result result = {.exchange = 1,
                                    .verb = VERB_PULL,
                                    .verdict = VERDICT_EXPIRED,
                                    .version = 1,
                                    .weight = 0.5};

        f->welcome.miss = MISS_SKIP;
        node_fixture_ready(f, 1);
        node_fixture_offers(f, 1, 3); /* u = 2 */
        for (; result.chunk < (breaks ? 1 : FIXTURE_CHUNKS); result.chunk++)
            node_fixture_result(f, &result, 1);
        if (breaks) {
            node_fixture_breaks(f);
            node_fixture_rejoins(f);
        } else {
            node_fixture_skips(f, 1);
        }
        node_fixture_offers(f, 2, 3);
        CHECK_NEAR(2, node_fixture_chunk(f, 2, 0), 0);
        node_fixture_destroy(&f);
    }
}

/* A skipped pull leaves both x and r alone. */
static void a_skipped_pull_changes_nothing(void)
{
    struct node_fixture *f = node_fixture_new();

    f->weight = 0.5;
    f->welcome.miss = MISS_SKIP;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_PULL, 10);
    node_fixture_skips(f, 1);
    CHECK(node_fixture_forgot(f, 1)); /* it has its verdicts */
    node_fixture_offers(f, 2, 4);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_answers(f, 2, VERB_PULL, 12);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 9);
    CHECK_NEAR(9 - 12, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

void add_node_pull_tests(CU_pSuite suite)
{
    TEST(after_a_pull_offers_are_measured_from_the_centre);
    TEST(after_a_pull_what_was_not_merged_is_offered_once);
    TEST(what_was_not_merged_is_whole_where_no_pull_is_applied);
    TEST(a_skipped_pull_changes_nothing);
}
