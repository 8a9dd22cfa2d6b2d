/* What a node says of itself orders who is asked, and no more. */
#include <math.h>
#include <stdio.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

/* For these there is no memory. */
enum { TOO_MUCH = 99 };

/* The hub's held-out data: 3 is best, and a loss is how far it is. */
static void taste_run(struct job *job)
{
    struct score_job *score = (struct score_job *)job;
    double value = (double)blob_floats(job->in[0].blob)[0];

    if (value == TOO_MUCH)
        job->status = STATUS_NO_MEMORY;
    score->loss = fabs(value - 3);
    score->accuracy = -1;
    score->error = 0;
}

static const struct work taste = {.name = "taste", .run = taste_run};

enum { MOST = 8 };

struct crowd {
    struct hub_fixture *f;
    struct fake_node node[MOST];
    unsigned count;
};

/* The centre is 1. */
static struct crowd crowd_by(const struct policy *policy, unsigned count)
{
    struct crowd crowd = {.f = hub_fixture_new(), .count = count};
    char name[8];

    crowd.f->config.policy = *policy;
    crowd.f->config.evaluate = &taste;
    crowd.f->config.evaluate_interval = 1000 * SECOND;
    hub_fixture_open(crowd.f);
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "n%u", i);
        crowd.node[i] = fake_node_comes(crowd.f, name);
    }
    fake_node_founds(crowd.f, &crowd.node[0], 1);
    return crowd;
}

/* Of this preset, tested. */
static struct crowd crowd_of(const char *preset, unsigned count)
{
    struct policy policy = preset_find(preset)->policy;

    policy.reduce = &reduce_verified;
    return crowd_by(&policy, count);
}

/* All offer with the scores that they claim; who is asked delivers. */
static void all_offer(struct crowd *crowd, const double *claim,
                      const double *value)
{
    struct hub_fixture *f = crowd->f;
    bool asked[MOST] = {false};

    for (unsigned i = 0; i < crowd->count; i++) {
        struct msg_offer offer = {
            .exchange = 1, .samples = 1, .score = claim[i]};

        fake_node_offer(f, &crowd->node[i], &offer);
    }
    for (unsigned turn = 0; turn < crowd->count; turn++)
        for (unsigned i = 0; i < crowd->count; i++) {
            if (asked[i] || !fake_node_heard(f, &crowd->node[i], MSG_GRANT) ||
                fake_node_heard(f, &crowd->node[i], MSG_GRANT)
                        ->grant.exchange != 1)
                continue;
            asked[i] = true;
            fake_node_delivers_all(f, &crowd->node[i], 1, value[i]);
        }
}

static void a_claim_is_tested_before_it_is_merged(void)
{
    static const char *const named[] = {"best", "better", "top"};
    static const double claim[3] = {0.001, 1, 1.5}, progress[3] = {-5, 1, 1};

    for (unsigned i = 0; i < 3; i++) {
        struct crowd crowd = crowd_of(named[i], 3);

        fake_node_lives(crowd.f, &crowd.node[0], SECOND);
        all_offer(&crowd, claim, progress);
        CHECK_EQUAL(VERDICT_REFUTED,
                    fake_node_verdict(crowd.f, &crowd.node[0], 1, 0));
        CHECK_NEAR(2, fake_node_result(crowd.f, &crowd.node[1], 1, 0), 0);
        hub_fixture_destroy(&crowd.f);
    }
}

/* It passes, as it makes nothing worse, and keeps others out by no claim; who
 * claims what is true is the only one that is asked. */
static void who_changes_nothing_wins_by_no_claim(void)
{
    static const double claim[3] = {1e-9, 1, 1.5}, progress[3] = {0, 1, 0.5};
    static const double truth[3] = {1.75, 1, 1.5};

    for (unsigned lies = 0; lies < 2; lies++) {
        struct crowd crowd = crowd_of("best", 3);

        all_offer(&crowd, lies ? claim : truth, progress);
        CHECK_NEAR(2, fake_node_result(crowd.f, &crowd.node[1], 1, 0), 0);
        CHECK(fake_node_heard(crowd.f, &crowd.node[2], MSG_GRANT) == NULL);
        CHECK_EQUAL(lies ? VERDICT_REFUTED : VERDICT_DECLINED,
                    fake_node_verdict(crowd.f, &crowd.node[0], 1, 0));
        CHECK_EQUAL(VERDICT_DECLINED,
                    fake_node_verdict(crowd.f, &crowd.node[2], 1, 0));
        hub_fixture_destroy(&crowd.f);
    }
}

static void nobody_follows_a_leader_by_its_word(void)
{
    static const double claim[3] = {0.001, 1, 2}, at[3] = {100, 2, 1.5};
    struct crowd crowd = crowd_of("lsgd", 3);

    all_offer(&crowd, claim, at);
    CHECK_EQUAL(VERDICT_REFUTED,
                fake_node_verdict(crowd.f, &crowd.node[0], 1, 0));
    CHECK_NEAR(2, fake_node_result(crowd.f, &crowd.node[2], 1, 0), 0);
    CHECK_NEAR(2, fake_node_result(crowd.f, &crowd.node[0], 1, 0), 0);
    hub_fixture_destroy(&crowd.f);
}

/* Neither the centre nor anybody follows it, where nodes are believed. */
static void a_boast_is_followed_by_nobody(void)
{
    static const char *const named[] = {"lsgd", "pbt"};
    static const double claim[4] = {1e-27, 1, 2, 3}, at[4] = {1e9, 2, 3, 4};

    for (unsigned i = 0; i < 2; i++) {
        struct crowd crowd = crowd_by(&preset_find(named[i])->policy, 4);

        all_offer(&crowd, claim, at);
        CHECK(fake_node_heard(crowd.f, &crowd.node[1], MSG_GRANT) != NULL);
        CHECK_EQUAL(VERDICT_MERGED,
                    fake_node_verdict(crowd.f, &crowd.node[1], 1, 0));
        for (unsigned j = 0; j < 4; j++)
            CHECK(!(fake_node_result(crowd.f, &crowd.node[j], 1, 0) > 4));
        hub_fixture_destroy(&crowd.f);
    }
}

/* One of the two best by their word is drawn for each of the two worst. The
 * first of them stands the test; the second is a Byzantine node that nobody
 * tested. */
static void what_nobody_has_tested_is_given_to_nobody(void)
{
    static const double claim[MOST] = {1, 1.1, 2, 3, 4, 5, 6, 7};
    static const double at[MOST] = {2.5, 100, 2, 2, 2, 2, 2, 2};
    unsigned given = 0;

    for (uint64_t seed = 0; seed < 8; seed++) {
        struct crowd crowd = {.f = NULL};

        crowd = crowd_of("pbt", MOST);
        all_offer(&crowd, claim, at);
        for (unsigned i = 6; i < MOST; i++) {
            double got = fake_node_result(crowd.f, &crowd.node[i], 1, 0);

            CHECK(isnan(got) || got == 2.5);
            given += isnan(got) ? 0 : 1;
        }
        hub_fixture_destroy(&crowd.f);
    }
    CHECK_EQUAL(16, given);
}

/* Else its nodes would throw away what they have learnt. */
static void what_could_not_be_tested_is_offered_again(void)
{
    static const double claim[3] = {1, 1, 1}, at[3] = {1, TOO_MUCH - 1, 1};
    struct crowd crowd = crowd_by(&preset_find("soup")->policy, 3);

    all_offer(&crowd, claim, at);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(VERDICT_LOST,
                    fake_node_verdict(crowd.f, &crowd.node[i], 1, 0));
    CHECK(hand_note(&crowd.f->hand, NOTE_DECLINED) == NULL);
    CHECK_CONTAINS("could not be judged: not enough memory",
                   hand_note(&crowd.f->hand, NOTE_NO_MEMORY)->text);
    hub_fixture_destroy(&crowd.f);
}

void add_hub_scores_tests(CU_pSuite suite)
{
    TEST(what_could_not_be_tested_is_offered_again);
    TEST(a_claim_is_tested_before_it_is_merged);
    TEST(who_changes_nothing_wins_by_no_claim);
    TEST(nobody_follows_a_leader_by_its_word);
    TEST(a_boast_is_followed_by_nobody);
    TEST(what_nobody_has_tested_is_given_to_nobody);
}
