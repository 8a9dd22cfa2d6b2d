/* What a node keeps of the centre, and gives to a hub that has lost its own. */
#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/node/keeper.h"

static uint64_t kept(struct node_fixture *f)
{
    node_fixture_breaks(f);
    hand_forget(&f->hand);
    node_fixture_connects(f);
    return node_fixture_sent(f, MSG_HELLO)->hello.kept;
}

static void a_version_that_came_whole_is_kept(void)
{
    struct node_fixture *f = node_fixture_offering();

    CHECK_EQUAL(0, node_fixture_sent(f, MSG_HELLO)->hello.kept);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    CHECK(hand_note(&f->hand, NOTE_KEPT) != NULL);
    CHECK_EQUAL(1 + 1, kept(f));
    CHECK_EQUAL(7, node_fixture_sent(f, MSG_HELLO)->hello.run);
    node_fixture_destroy(&f);
}

/* Its parameters are those of the run, before anything is merged. */
static void who_founds_keeps_what_it_gave(void)
{
    for (int taken = 0; taken < 2; taken++) {
        struct node_fixture *f = node_fixture_new();

        node_fixture_begins(f, 1);
        node_fixture_connects(f);
        node_fixture_welcomes(f, START_FOUND);
        node_fixture_grants(f, 0, FIXTURE_CHUNKS);
        CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 0));
        node_fixture_restarts(f, taken ? START_GO : START_HOLD);
        node_fixture_restarts(f, START_GO);
        keeper_says(f, 0, 0, NULL);
        CHECK_EQUAL(taken, kept(f));
        node_fixture_destroy(&f);
    }
}

static void what_the_trainer_skips_is_kept_all_the_same(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_skips(f, 1);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    CHECK_EQUAL(1 + 1, kept(f));
    node_fixture_destroy(&f);
}

static void a_version_of_which_a_chunk_is_missing_is_not_kept(void)
{
    static const uint64_t other[FIXTURE_CHUNKS] = {2, 1, 2};
    struct node_fixture *f = node_fixture_offering();
    struct msg_result result = {.exchange = 2, .version = 2, .weight = 1};

    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    node_fixture_result(f, &result, 6);
    result.chunk = 2;
    node_fixture_result(f, &result, 6);
    keeper_says(f, 2, 2, NULL);
    CHECK_EQUAL(1 + 1, kept(f));
    node_fixture_welcomes(f, START_GO);
    keeper_says(f, 2, 2, other); /* a fragment: the rest stays as it is */
    CHECK_EQUAL(1 + 2, kept(f));
    node_fixture_destroy(&f);
}

static void what_is_kept_never_goes_back(void)
{
    struct node_fixture *f = node_fixture_offering();

    f->version = 1;
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 2, 1, NULL);
    node_fixture_offers(f, 2, 6);
    f->version = 0;
    node_fixture_answers(f, 2, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    CHECK_EQUAL(1 + 2, kept(f));
    node_fixture_destroy(&f);
}

static void results_that_are_still_being_decoded_are_waited_for(void)
{
    for (int breaks = 0; breaks < 2; breaks++) {
        struct node_fixture *f = node_fixture_new();

        f->welcome.codec_down = CODEC_F16;
        node_fixture_ready(f, 1);
        node_fixture_offers(f, 1, 3);
        f->hand.holds_jobs = true;
        node_fixture_answers(f, 1, VERB_REBASE, 5);
        keeper_says(f, 1, 1, NULL);
        CHECK(!hand_note(&f->hand, NOTE_KEPT));
        if (breaks)
            node_fixture_breaks(f);
        f->hand.holds_jobs = false;
        hand_work(&f->hand);
        CHECK_EQUAL(!breaks, hand_note(&f->hand, NOTE_KEPT) != NULL);
        node_fixture_destroy(&f);
    }
}

static void a_manifest_without_sense_drops_the_hub(void)
{
    for (unsigned i = 0; i < 4; i++) {
        struct node_fixture *f = node_fixture_offering();
        struct blob *manifest = keeper_manifest(
            f, i == 0 ? FIXTURE_CHUNKS + 1 : FIXTURE_CHUNKS, 1, NULL);
        struct msg msg = {.kind = MSG_KEEP, .keep = {.version = 1}};

        node_fixture_answers(f, 1, VERB_REBASE, 5);
        manifest->size -= i == 1;
        if (i == 2)
            memset(manifest->bytes, 0xff, 8);
        if (i == 3)
            msg.keep.version = UINT64_MAX;
        hand_say(&f->hand, PEER_BULK, &msg, manifest);
        CHECK(hand_dropped(&f->hand, PEER_CONTROL));
        CHECK_CONTAINS("manifest", hand_note(&f->hand, NOTE_DETACHED)->text);
        blob_unref(&manifest);
        node_fixture_destroy(&f);
    }
}

/* The hub asks for what is kept. */
static void gives(struct node_fixture *f)
{
    node_fixture_breaks(f);
    hand_forget(&f->hand);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_GIVE);
}

static void what_is_kept_is_given_bit_for_bit(void)
{
    struct node_fixture *f = node_fixture_offering();
    const struct hand_sent *sent;

    node_fixture_answers(f, 1, VERB_REBASE, 5.3);
    keeper_says(f, 1, 1, NULL);
    gives(f);
    sent = hand_last(&f->hand, PEER_BULK, MSG_KEPT);
    CHECK(sent != NULL);
    if (sent) {
        struct blob *manifest = keeper_manifest(f, FIXTURE_CHUNKS, 1, NULL);

        CHECK_EQUAL(1, sent->msg.kept.version);
        CHECK_EQUAL(manifest->size, sent->payload->size);
        CHECK(memcmp(manifest->bytes, sent->payload->bytes, manifest->size) ==
              0);
        blob_unref(&manifest);
    }
    CHECK_EQUAL(0, node_fixture_chunks(f, 0));
    node_fixture_grants(f, 0, FIXTURE_CHUNKS);
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 0));
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        const struct hand_sent *chunk =
            hand_nth(&f->hand, PEER_BULK, MSG_CHUNK, i);
        struct blob *value =
            hand_floats(f->hand.pool, node_fixture_length(i), 5.3);

        CHECK_EQUAL(CODEC_RAW, chunk->msg.chunk.codec);
        CHECK_EQUAL(value->checksum, chunk->msg.chunk.checksum);
        CHECK_EQUAL(value->size, chunk->payload->size);
        CHECK(memcmp(value->bytes, chunk->payload->bytes, value->size) == 0);
        blob_unref(&value);
    }
    node_fixture_destroy(&f);
}

static void who_gives_makes_no_offers_and_then_goes_on(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    gives(f);
    CHECK_EQUAL(0, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.offering);
    node_fixture_offers(f, 2, 6);
    CHECK(node_fixture_forgot(f, 2));
    f->welcome.merged = 1;
    node_fixture_restarts(f, START_GO);
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.offering);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 3, 6);
    CHECK_NEAR(1, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void the_manifest_waits_for_its_connection(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    node_fixture_breaks(f);
    hand_forget(&f->hand);
    hand_join(&f->hand, PEER_CONTROL, CHANNEL_CONTROL);
    node_fixture_welcomes(f, START_GIVE);
    node_fixture_grants(f, 0, FIXTURE_CHUNKS);
    CHECK(!node_fixture_sent(f, MSG_KEPT));
    hand_join(&f->hand, PEER_BULK, CHANNEL_BULK);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_BULK, MSG_KEPT));
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 0));
    node_fixture_destroy(&f);
}

static void who_is_asked_for_what_it_has_not_leaves_the_hub(void)
{
    struct node_fixture *f = node_fixture_member();

    gives(f);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(!node_fixture_sent(f, MSG_KEPT));
    node_fixture_destroy(&f);
}

static void what_is_not_finite_is_not_given(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_skips(f, 1);
    node_fixture_answers(f, 1, VERB_REBASE, (double)NAN);
    keeper_says(f, 1, 1, NULL);
    gives(f);
    node_fixture_grants(f, 0, FIXTURE_CHUNKS);
    CHECK_EQUAL(0, node_fixture_chunks(f, 0));
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(!node_ended(f->node));
    CHECK_EQUAL(0, kept(f));
    node_fixture_destroy(&f);
}

/* A later life that began with version 1 has all that is kept; one that began
 * with version 0 is given again what 1 has beyond that. */
static void what_a_later_life_began_without_is_not_kept(void)
{
    for (uint64_t origin = 0; origin < 2; origin++) {
        struct node_fixture *f = node_fixture_offering();

        node_fixture_answers(f, 1, VERB_REBASE, 5);
        keeper_says(f, 1, 1, NULL);
        f->welcome.origin = origin;
        node_fixture_welcomes(f, START_GO); /* in the same life that is as it
                                               was */
        CHECK_EQUAL(1 + 1, kept(f));
        f->welcome.epoch += LIFE;
        node_fixture_welcomes(f, START_HOLD);
        CHECK_EQUAL(1 + 1, kept(f));
        node_fixture_welcomes(f, START_GO);
        CHECK_EQUAL(origin ? 1 + 1 : 0, kept(f));
        node_fixture_destroy(&f);
    }
}

/* The node was sent another version 1, in the former life; it may hear of the
 * later one before that knows what it begins with. */
static void what_it_sent_beyond_is_no_version_of_the_later_one(void)
{
    for (int told = 0; told < 2; told++) {
        struct node_fixture *f = node_fixture_offering();
        struct msg view = {.kind = MSG_VIEW};

        node_fixture_answers(f, 1, VERB_REBASE, 5);
        f->welcome.epoch += LIFE;
        view.view.epoch = f->welcome.epoch;
        if (told) {
            node_fixture_welcomes(f, START_HOLD);
            hand_say(&f->hand, PEER_CONTROL, &view, NULL);
        }
        node_fixture_welcomes(f, START_GO);
        keeper_says(f, 1, 1, NULL);
        CHECK_EQUAL(0, kept(f));
        node_fixture_destroy(&f);
    }
}

/* A hub that comes back with version 1 from its disk has the values themselves,
 * and none that a codec has rounded. */
static void what_a_codec_has_made_of_it_is_no_version_of_the_later_one(void)
{
    for (int lossy = 0; lossy < 2; lossy++) {
        struct node_fixture *f = node_fixture_new();

        f->welcome.codec_down = lossy ? CODEC_INT8 : CODEC_RAW;
        node_fixture_ready(f, 1);
        node_fixture_offers(f, 1, 3);
        node_fixture_answers(f, 1, VERB_REBASE, 5);
        f->welcome.origin = 1;
        f->welcome.epoch += LIFE;
        f->welcome.codec_down = CODEC_RAW;
        node_fixture_welcomes(f, START_GO);
        keeper_says(f, 1, 1, NULL);
        CHECK_EQUAL(lossy ? 0 : 1 + 1, kept(f));
        node_fixture_destroy(&f);
    }
}

static void another_run_forgets_what_was_kept(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    f->welcome.run = 8;
    node_fixture_welcomes(f, START_HOLD); /* this one may yet find its own */
    CHECK_EQUAL(1 + 1, kept(f));
    node_fixture_welcomes(f, START_GO);
    CHECK_EQUAL(0, kept(f));
    CHECK_EQUAL(8, node_fixture_sent(f, MSG_HELLO)->hello.run);
    node_fixture_destroy(&f);
}

static uint64_t epoch_said(struct node_fixture *f)
{
    (void)kept(f);
    return node_fixture_sent(f, MSG_HELLO)->hello.epoch;
}

static void hello_tells_the_newest_epoch(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg view = {.kind = MSG_VIEW};

    f->welcome.epoch = 3;
    node_fixture_ready(f, 1);
    CHECK_EQUAL(3, epoch_said(f));
    node_fixture_welcomes(f, START_GO);
    view.view.epoch = 5;
    hand_say(&f->hand, PEER_CONTROL, &view, NULL);
    CHECK_EQUAL(5, epoch_said(f));
    node_fixture_destroy(&f);
}

/* That of the former life cannot know, so it asks: it is told. */
static void a_hub_of_a_former_life_that_asks_gets_the_proof(void)
{
    struct node_fixture *f = node_fixture_new();
    const struct hand_sent *sent;

    f->welcome.epoch = 2 * LIFE;
    node_fixture_ready(f, 1);
    node_fixture_welcomes(f, START_GO);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    keeper_says(f, 1, 1, NULL);
    f->welcome.epoch = LIFE + 9;
    gives(f);
    sent = hand_last(&f->hand, PEER_BULK, MSG_KEPT);
    CHECK(sent != NULL && sent->msg.kept.version == 1);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    CHECK_EQUAL(2 * LIFE, epoch_said(f));
    node_fixture_destroy(&f);
}

void add_node_keep_tests(CU_pSuite suite)
{
    TEST(a_version_that_came_whole_is_kept);
    TEST(who_founds_keeps_what_it_gave);
    TEST(what_the_trainer_skips_is_kept_all_the_same);
    TEST(a_version_of_which_a_chunk_is_missing_is_not_kept);
    TEST(what_is_kept_never_goes_back);
    TEST(results_that_are_still_being_decoded_are_waited_for);
    TEST(a_manifest_without_sense_drops_the_hub);
    TEST(what_is_kept_is_given_bit_for_bit);
    TEST(who_gives_makes_no_offers_and_then_goes_on);
    TEST(the_manifest_waits_for_its_connection);
    TEST(who_is_asked_for_what_it_has_not_leaves_the_hub);
    TEST(what_is_not_finite_is_not_given);
    TEST(what_a_later_life_began_without_is_not_kept);
    TEST(what_it_sent_beyond_is_no_version_of_the_later_one);
    TEST(what_a_codec_has_made_of_it_is_no_version_of_the_later_one);
    TEST(another_run_forgets_what_was_kept);
    TEST(hello_tells_the_newest_epoch);
    TEST(a_hub_of_a_former_life_that_asks_gets_the_proof);
}
