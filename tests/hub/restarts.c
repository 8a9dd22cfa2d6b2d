/* A hub goes on from a directory with other options than before. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hub/saved.h"
#include "hub/state.h"
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static const char head[] =
    "run 7\nepoch 0\nversion 2\nlineage 5\nchunk 4\nexact ";

/* Restores such a state, with a slot of the merge rule. */
static enum status restore(struct hub_fixture *f, const char *scores,
                           const char *lines, struct why *why)
{
    static const float values[FIXTURE_ELEMENTS];
    struct hub_saved saved = {.schema = f->schema, .theta = values};
    char state[STATE_ROOM];

    (void)snprintf(state, sizeof state, "%s%s\nbest 1 0.5\n%s", head, scores,
                   lines);
    saved.state = state;
    saved.slot[0] = values;
    hub_fixture_open(f);
    return hub_restore(f->hub, &saved, why);
}

/* Whether a hub of this preset and exchange takes what `merge` says. */
static void check_taken(const char *preset, enum exchange exchange,
                        const char *merge, bool kept)
{
    struct hub_fixture *f = hub_fixture_new();
    const struct centre_chunk *chunk;
    struct why why;

    f->config.policy = preset_find(preset)->policy;
    f->config.policy.exchange = exchange;
    CHECK_OK(restore(f, "0 0 0", merge, &why));
    chunk = &f->hub->centre.chunk[0];
    CHECK_EQUAL(kept, chunk->slot[0] != NULL);
    CHECK_EQUAL(kept ? 8 : 0, chunk->updates_before);
    hub_fixture_destroy(&f);
}

/* A momentum of gradients is some ten times as long as one of progress. Where
 * nothing is kept, neither is the count of what it is of. */
static void a_rule_goes_on_with_what_it_has_kept_of_the_same(void)
{
    check_taken("diloco", EXCHANGE_DELTA, "merge mean 10 8\n", true);
    check_taken("diloco", EXCHANGE_DELTA, "merge mean/gradient 10 8\n", false);
    check_taken("diloco", EXCHANGE_GRADIENT, "merge mean 10 8\n", false);
    check_taken("diloco", EXCHANGE_GRADIENT, "merge mean/gradient 10 8\n",
                true);
    check_taken("auto", EXCHANGE_DELTA, "merge schedule-free 10 8\n", true);
    check_taken("auto", EXCHANGE_DELTA, "merge mean 10 8\n", false);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The best that a hub goes on from: of a loss of 0.5 and an accuracy of 0.9,
 * which nodes have told (0) or the hub has measured (1). */
static double best_of(bool tests, enum goal_kind goal, int tested)
{
    struct hub_fixture *f = hub_fixture_new();
    char scores[100];
    struct why why;
    double best;

    if (tests)
        store_lend(&store, f);
    f->config.goal = goal;
    (void)snprintf(scores, sizeof scores,
                   "%" PRIu64 " %" PRIu64 " %" PRIu64 " %d", bits_of(0.5),
                   bits_of(0.25), bits_of(0.9), tested);
    CHECK_OK(restore(f, scores, "", &why));
    best = f->hub->memory.best_measure;
    hub_fixture_destroy(&f);
    return best;
}

static void the_best_is_the_best_by_the_same_measure(void)
{
    CHECK_NEAR(0.25, best_of(false, GOAL_NONE, 0), 0);
    CHECK_NEAR(0.5, best_of(true, GOAL_NONE, 1), 0);
    CHECK_NEAR(0.1, best_of(true, GOAL_ACCURACY, 1), 1e-9);
    CHECK(!score_known(best_of(true, GOAL_NONE, 0)));
    CHECK(!score_known(best_of(false, GOAL_NONE, 1)));
}

/* The next life measures others' updates by it, and not those of one alone. */
static void check_lengths(unsigned nodes, bool told)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node node[2];
    struct blob *state;

    f->config.policy = preset_find("async")->policy;
    node[0] = fake_node_alone(f);
    if (nodes > 1)
        node[1] = fake_node_comes(f, "b");
    for (unsigned i = 0; i < nodes; i++)
        fake_node_gives(f, &node[i], 1, 1);
    state = saved_write(f->hub);
    CHECK_EQUAL(told, !strstr((const char *)state->bytes, "\nlengths 0\n"));
    blob_unref(&state);
    hub_fixture_destroy(&f);
}

static void one_that_was_alone_is_no_measure_in_the_next_life(void)
{
    check_lengths(1, false);
    check_lengths(2, true);
}

void add_hub_restarts_tests(CU_pSuite suite)
{
    TEST(a_rule_goes_on_with_what_it_has_kept_of_the_same);
    TEST(the_best_is_the_best_by_the_same_measure);
    TEST(one_that_was_alone_is_no_measure_in_the_next_life);
}
