/* Nodes are not sent what they know: what they gave, were shown, or hold. */
#include <string.h>

#include "tests/check.h"
#include "tests/hub/party.h"

static struct hub_fixture *fixture(const char *policy)
{
    struct hub_fixture *f = hub_fixture_new();

    f->protocol = PROTOCOL_MAX;
    f->config.policy = preset_find(policy)->policy;
    return f;
}

static const struct hand_sent *result(const struct hub_fixture *f,
                                      const struct fake_node *node)
{
    return hand_last(&f->hand, node->bulk, MSG_RESULT);
}

/* That it was last sent this version without its payload, as a change of
 * `base`, and the centre is what it knows. */
static void check_known(struct hub_fixture *f, const struct fake_node *node,
                        uint64_t base, uint64_t version, double value)
{
    const struct hand_sent *sent = result(f, node);
    uint64_t now;
    const float *centre = hub_centre(f->hub, sent->msg.result.chunk, &now);
    struct blob *values = hand_floats(
        f->hand.pool, hub_fixture_length(sent->msg.result.chunk), value);

    CHECK(!sent->payload);
    CHECK_EQUAL(base, sent->msg.result.base);
    CHECK_EQUAL(version, sent->msg.result.version);
    CHECK_NEAR(value, (double)centre[0], 0);
    CHECK_EQUAL(values->checksum, sent->msg.result.checksum);
    blob_unref(&values);
}

static void check_sent(struct hub_fixture *f, const struct fake_node *node,
                       uint64_t version, double value)
{
    const struct hand_sent *sent = result(f, node);

    CHECK(sent->payload != NULL);
    CHECK_EQUAL(version, sent->msg.result.base);
    CHECK_EQUAL(version, sent->msg.result.version);
    CHECK_NEAR(value, sent->payload ? hand_float(sent->payload, 0) : 0, 1e-6);
}

static void who_made_a_round_alone_is_not_sent_it(void)
{
    struct hub_fixture *f = fixture("mean");
    struct fake_node a = fake_node_alone(f);

    fake_node_gives(f, &a, 1, 0.5);
    check_sent(f, &a, 1, 1.5); /* it holds nothing yet */
    fake_node_gives(f, &a, 2, 0.25);
    check_known(f, &a, 1, 2, 1.75);
    fake_node_gives(f, &a, 3, 0.25);
    check_known(f, &a, 2, 3, 2);
    hub_fixture_destroy(&f);
}

static void an_outer_step_is_sent(void)
{
    struct hub_fixture *f = fixture("diloco");
    struct fake_node a = fake_node_alone(f);

    fake_node_gives(f, &a, 1, 0.5);
    fake_node_gives(f, &a, 2, 0.5);
    CHECK(result(f, &a)->payload != NULL);
    hub_fixture_destroy(&f);
}

static void a_former_release_is_sent_all(void)
{
    struct hub_fixture *f = fixture("mean");
    struct fake_node a;

    f->protocol = PROTOCOL_SPARED - 1;
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 0.5);
    fake_node_gives(f, &a, 2, 0.25);
    check_sent(f, &a, 2, 1.75);
    hub_fixture_destroy(&f);
}

static void a_new_connection_knows_nothing(void)
{
    struct hub_fixture *f = fixture("mean");
    struct fake_node a = fake_node_alone(f);

    fake_node_gives(f, &a, 1, 0.5);
    fake_node_breaks(f, &a);
    a.hello.lineage = f->lineage;
    a.hello.run = f->config.run;
    a.hello.base_version = 1;
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GO, fake_node_heard(f, &a, MSG_WELCOME)->welcome.start);
    fake_node_gives(f, &a, 2, 0.25);
    check_sent(f, &a, 2, 1.75);
    hub_fixture_destroy(&f);
}

/* The offer is older than the node's way to the centre: it has dropped it. */
static void who_takes_the_centre_is_sent_all(void)
{
    struct hub_fixture *f = fixture("mean");
    struct fake_node a = fake_node_alone(f);
    const struct msg_offer stray = {.exchange = 2, .lineage = 77, .samples = 1};

    fake_node_gives(f, &a, 1, 0.5);
    fake_node_offer(f, &a, &stray);
    CHECK_EQUAL(START_TAKE, fake_node_heard(f, &a, MSG_WELCOME)->welcome.start);
    fake_node_credits(f, &a, 0, 0);
    check_sent(f, &a, 1, 1.5);
    hub_fixture_destroy(&f);
}

/* Two nodes whose held-out loss is |x - 3| for all that they hold. */
static struct party pair(enum codec_id down)
{
    struct hub_fixture *f = fixture("verified");
    static const double shift[2] = {0.5, 0.75};
    struct party party;

    f->config.codec_down = down;
    party = party_at(f, 2);
    all_give(&party, 1, shift);
    all_evaluate(&party, all_honest);
    for (unsigned i = 0; i < 2; i++)
        fake_node_returns(f, &party.node[i], 1);
    return party;
}

/* Chunk 0 of the last review of node 1 but `before`. */
static const struct hand_sent *review(const struct party *party,
                                      unsigned before)
{
    return hand_nth(&party->f->hand, party->node[1].bulk, MSG_REVIEW,
                    shown_count(party, 1) - FIXTURE_CHUNKS * (1 + before));
}

static void a_review_is_of_what_a_node_holds(void)
{
    struct party party = pair(CODEC_RAW);
    static const double shift[2] = {1, -9};
    const struct hand_sent *centre, *update;

    CHECK(review(&party, 1)->payload != NULL); /* it held nothing then */
    all_give(&party, 2, shift);
    centre = review(&party, 0);
    CHECK(!centre->payload);
    say_reviewed(&party, 1, centre->msg.review.review, true, 1.5);
    update = review(&party, 0);
    CHECK_EQUAL(1, update->msg.review.change);
    CHECK_EQUAL(CODEC_RAW, update->msg.review.codec);
    CHECK_NEAR(1, hand_float(update->payload, 0), 0);
    hub_fixture_destroy(&party.f);
}

/* Node 0's is better, node 1's worse: what passes alone is the centre. */
static void who_was_shown_what_was_chosen_is_not_sent_it(void)
{
    struct party party = pair(CODEC_RAW);
    static const double shift[2] = {1, -9};
    uint64_t first;

    all_give(&party, 2, shift);
    for (unsigned i = 0; i < 2; i++) { /* the centre, then the other's */
        first = shown(&party, i)->msg.review.review;
        say_reviewed(&party, i, first, true, 1.5);
        CHECK(shown(&party, i)->msg.review.review != first);
        fake_node_credits(party.f, &party.node[i], 0, FIXTURE_BYTES);
        say_reviewed(&party, i, shown(&party, i)->msg.review.review, true,
                     i == 1 ? 0.5 : 9);
    }
    CHECK_EQUAL(
        VERDICT_MERGED,
        fake_node_heard(party.f, &party.node[0], MSG_RESULT)->result.verdict);
    check_known(party.f, &party.node[0], 1, 2, 2.625); /* it gave it */
    check_known(party.f, &party.node[1], 2, 2, 2.625); /* it was shown it */
    hub_fixture_destroy(&party.f);
}

/* What nodes hold is not theta then, and a result is a change of that. */
static void with_a_codec_reviews_alone_are_spared(void)
{
    struct party party = pair(CODEC_INT8);
    static const double shift[2] = {1, 1};
    const struct hand_sent *centre;

    all_give(&party, 2, shift);
    centre = review(&party, 0);
    CHECK(!centre->payload);
    say_reviewed(&party, 1, centre->msg.review.review, true, 1.5);
    CHECK_EQUAL(1, review(&party, 0)->msg.review.change);
    say_reviewed(&party, 1, review(&party, 0)->msg.review.review, true, 0.5);
    CHECK(result(party.f, &party.node[1])->payload != NULL);
    hub_fixture_destroy(&party.f);
}

/* An update holds its statistics as they are. The last chunk is a mean. */
static void a_review_has_the_statistics_of_the_update(void)
{
    struct hub_fixture *f = fixture("verified");
    static const double shift[2] = {0.5, 0.75};
    const uint64_t w[] = {4, 2};
    const struct tensor mean = {
        .name = "mean", .rank = 1, .shape = {2}, .kind = TENSOR_AVERAGED};
    struct party party;

    schema_destroy(&f->schema);
    f->schema = schema_new();
    CHECK_OK(schema_add(f->schema, "w", 2, w, NULL));
    CHECK_OK(schema_add_tensor(f->schema, &mean, NULL));
    party = party_at(f, 2);
    all_give(&party, 1, shift);
    say_reviewed(&party, 0, shown(&party, 0)->msg.review.review, true, 1);
    CHECK_NEAR(0.75, hand_float(shown(&party, 0)->payload, 0), 0);
    hub_fixture_destroy(&party.f);
}

void add_hub_spared_tests(CU_pSuite suite)
{
    TEST(who_made_a_round_alone_is_not_sent_it);
    TEST(an_outer_step_is_sent);
    TEST(a_former_release_is_sent_all);
    TEST(a_new_connection_knows_nothing);
    TEST(who_takes_the_centre_is_sent_all);
    TEST(a_review_is_of_what_a_node_holds);
    TEST(who_was_shown_what_was_chosen_is_not_sent_it);
    TEST(with_a_codec_reviews_alone_are_spared);
    TEST(a_review_has_the_statistics_of_the_update);
}
