/* What a node keeps of the centre, and gives to a hub that has lost its own. */
#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/node/keeper.h"

static uint64_t kept(struct desk *desk)
{
    desk_breaks(desk);
    hand_forget(&desk->hand);
    desk_connects(desk);
    return desk_sent(desk, MSG_HELLO)->hello.kept;
}

static void a_version_that_came_whole_is_kept(void)
{
    struct desk *desk = desk_offering();

    CHECK_EQUAL(0, desk_sent(desk, MSG_HELLO)->hello.kept);
    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    CHECK(hand_note(&desk->hand, NOTE_KEPT) != NULL);
    CHECK_EQUAL(1 + 1, kept(desk));
    CHECK_EQUAL(7, desk_sent(desk, MSG_HELLO)->hello.run);
    desk_destroy(&desk);
}

/* Its parameters are those of the run, before anything is merged. */
static void who_founds_keeps_what_it_gave(void)
{
    for (int taken = 0; taken < 2; taken++) {
        struct desk *desk = desk_new();

        desk_begins(desk, 1);
        desk_connects(desk);
        desk_welcomes(desk, START_FOUND);
        desk_grants(desk, 0, DESK_CHUNKS);
        CHECK_EQUAL(DESK_CHUNKS, desk_chunks(desk, 0));
        desk_restarts(desk, taken ? START_GO : START_HOLD);
        desk_restarts(desk, START_GO);
        keeper_says(desk, 0, 0, NULL);
        CHECK_EQUAL(taken, kept(desk));
        desk_destroy(&desk);
    }
}

static void what_the_trainer_skips_is_kept_all_the_same(void)
{
    struct desk *desk = desk_offering();

    desk_skips(desk, 1);
    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    CHECK_EQUAL(1 + 1, kept(desk));
    desk_destroy(&desk);
}

static void a_version_of_which_a_chunk_is_missing_is_not_kept(void)
{
    static const uint64_t other[DESK_CHUNKS] = {2, 1, 2};
    struct desk *desk = desk_offering();
    struct msg_result result = {.exchange = 2, .version = 2, .weight = 1};

    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    desk_result(desk, &result, 6);
    result.chunk = 2;
    desk_result(desk, &result, 6);
    keeper_says(desk, 2, 2, NULL);
    CHECK_EQUAL(1 + 1, kept(desk));
    desk_welcomes(desk, START_GO);
    keeper_says(desk, 2, 2, other); /* a fragment: the rest stays as it is */
    CHECK_EQUAL(1 + 2, kept(desk));
    desk_destroy(&desk);
}

static void what_is_kept_never_goes_back(void)
{
    struct desk *desk = desk_offering();

    desk->version = 1;
    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 2, 1, NULL);
    desk_offers(desk, 2, 6);
    desk->version = 0;
    desk_answers(desk, 2, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    CHECK_EQUAL(1 + 2, kept(desk));
    desk_destroy(&desk);
}

static void results_that_are_still_being_decoded_are_waited_for(void)
{
    for (int breaks = 0; breaks < 2; breaks++) {
        struct desk *desk = desk_new();

        desk->welcome.codec_down = CODEC_F16;
        desk_ready(desk, 1);
        desk_offers(desk, 1, 3);
        desk->hand.holds_jobs = true;
        desk_answers(desk, 1, VERB_REBASE, 5);
        keeper_says(desk, 1, 1, NULL);
        CHECK(!hand_note(&desk->hand, NOTE_KEPT));
        if (breaks)
            desk_breaks(desk);
        desk->hand.holds_jobs = false;
        hand_work(&desk->hand);
        CHECK_EQUAL(!breaks, hand_note(&desk->hand, NOTE_KEPT) != NULL);
        desk_destroy(&desk);
    }
}

static void a_manifest_without_sense_drops_the_hub(void)
{
    for (unsigned i = 0; i < 4; i++) {
        struct desk *desk = desk_offering();
        struct blob *manifest = keeper_manifest(
            desk, i == 0 ? DESK_CHUNKS + 1 : DESK_CHUNKS, 1, NULL);
        struct msg msg = {.kind = MSG_KEEP, .keep = {.version = 1}};

        desk_answers(desk, 1, VERB_REBASE, 5);
        manifest->size -= i == 1;
        if (i == 2)
            memset(manifest->bytes, 0xff, 8);
        if (i == 3)
            msg.keep.version = UINT64_MAX;
        hand_say(&desk->hand, PEER_BULK, &msg, manifest);
        CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
        CHECK_CONTAINS("manifest", hand_note(&desk->hand, NOTE_DETACHED)->text);
        blob_unref(&manifest);
        desk_destroy(&desk);
    }
}

/* The hub asks for what is kept. */
static void gives(struct desk *desk)
{
    desk_breaks(desk);
    hand_forget(&desk->hand);
    desk_connects(desk);
    desk_welcomes(desk, START_GIVE);
}

static void what_is_kept_is_given_bit_for_bit(void)
{
    struct desk *desk = desk_offering();
    const struct hand_sent *sent;

    desk_answers(desk, 1, VERB_REBASE, 5.3);
    keeper_says(desk, 1, 1, NULL);
    gives(desk);
    sent = hand_last(&desk->hand, PEER_BULK, MSG_KEPT);
    CHECK(sent != NULL);
    if (sent) {
        struct blob *manifest = keeper_manifest(desk, DESK_CHUNKS, 1, NULL);

        CHECK_EQUAL(1, sent->msg.kept.version);
        CHECK_EQUAL(manifest->size, sent->payload->size);
        CHECK(memcmp(manifest->bytes, sent->payload->bytes, manifest->size) ==
              0);
        blob_unref(&manifest);
    }
    CHECK_EQUAL(0, desk_chunks(desk, 0));
    desk_grants(desk, 0, DESK_CHUNKS);
    CHECK_EQUAL(DESK_CHUNKS, desk_chunks(desk, 0));
    for (uint32_t i = 0; i < DESK_CHUNKS; i++) {
        const struct hand_sent *chunk =
            hand_nth(&desk->hand, PEER_BULK, MSG_CHUNK, i);
        struct blob *value = hand_floats(desk->hand.pool, desk_length(i), 5.3);

        CHECK_EQUAL(CODEC_RAW, chunk->msg.chunk.codec);
        CHECK_EQUAL(value->checksum, chunk->msg.chunk.checksum);
        CHECK_EQUAL(value->size, chunk->payload->size);
        CHECK(memcmp(value->bytes, chunk->payload->bytes, value->size) == 0);
        blob_unref(&value);
    }
    desk_destroy(&desk);
}

static void who_gives_makes_no_offers_and_then_goes_on(void)
{
    struct desk *desk = desk_offering();

    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    gives(desk);
    CHECK_EQUAL(0, desk_told(desk, MSG_SCHEDULE)->schedule.offering);
    desk_offers(desk, 2, 6);
    CHECK(desk_forgot(desk, 2));
    desk->welcome.merged = 1;
    desk_restarts(desk, START_GO);
    CHECK_EQUAL(1, desk_told(desk, MSG_SCHEDULE)->schedule.offering);
    desk_applied(desk, 1);
    desk_offers(desk, 3, 6);
    CHECK_NEAR(1, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void the_manifest_waits_for_its_connection(void)
{
    struct desk *desk = desk_offering();

    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    desk_breaks(desk);
    hand_forget(&desk->hand);
    hand_join(&desk->hand, PEER_CONTROL, CHANNEL_CONTROL);
    desk_welcomes(desk, START_GIVE);
    desk_grants(desk, 0, DESK_CHUNKS);
    CHECK(!desk_sent(desk, MSG_KEPT));
    hand_join(&desk->hand, PEER_BULK, CHANNEL_BULK);
    CHECK_EQUAL(1, hand_count(&desk->hand, PEER_BULK, MSG_KEPT));
    CHECK_EQUAL(DESK_CHUNKS, desk_chunks(desk, 0));
    desk_destroy(&desk);
}

static void who_is_asked_for_what_it_has_not_leaves_the_hub(void)
{
    struct desk *desk = desk_member();

    gives(desk);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK(!desk_sent(desk, MSG_KEPT));
    desk_destroy(&desk);
}

static void what_is_not_finite_is_not_given(void)
{
    struct desk *desk = desk_offering();

    desk_skips(desk, 1);
    desk_answers(desk, 1, VERB_REBASE, (double)NAN);
    keeper_says(desk, 1, 1, NULL);
    gives(desk);
    desk_grants(desk, 0, DESK_CHUNKS);
    CHECK_EQUAL(0, desk_chunks(desk, 0));
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK(!node_ended(desk->node));
    CHECK_EQUAL(0, kept(desk));
    desk_destroy(&desk);
}

/* A later life that began with version 1 has all that is kept; one that began
 * with version 0 is given again what 1 has beyond that. */
static void what_a_later_life_began_without_is_not_kept(void)
{
    for (uint64_t origin = 0; origin < 2; origin++) {
        struct desk *desk = desk_offering();

        desk_answers(desk, 1, VERB_REBASE, 5);
        keeper_says(desk, 1, 1, NULL);
        desk->welcome.origin = origin;
        desk_welcomes(desk, START_GO); /* in the same life that is as it was */
        CHECK_EQUAL(1 + 1, kept(desk));
        desk->welcome.epoch += LIFE;
        desk_welcomes(desk, START_HOLD);
        CHECK_EQUAL(1 + 1, kept(desk));
        desk_welcomes(desk, START_GO);
        CHECK_EQUAL(origin ? 1 + 1 : 0, kept(desk));
        desk_destroy(&desk);
    }
}

/* The node was sent another version 1, in the former life; it may hear of the
 * later one before that knows what it begins with. */
static void what_it_sent_beyond_is_no_version_of_the_later_one(void)
{
    for (int told = 0; told < 2; told++) {
        struct desk *desk = desk_offering();
        struct msg view = {.kind = MSG_VIEW};

        desk_answers(desk, 1, VERB_REBASE, 5);
        desk->welcome.epoch += LIFE;
        view.view.epoch = desk->welcome.epoch;
        if (told) {
            desk_welcomes(desk, START_HOLD);
            hand_say(&desk->hand, PEER_CONTROL, &view, NULL);
        }
        desk_welcomes(desk, START_GO);
        keeper_says(desk, 1, 1, NULL);
        CHECK_EQUAL(0, kept(desk));
        desk_destroy(&desk);
    }
}

/* A hub that comes back with version 1 from its disk has the values themselves,
 * and none that a codec has rounded. */
static void what_a_codec_has_made_of_it_is_no_version_of_the_later_one(void)
{
    for (int lossy = 0; lossy < 2; lossy++) {
        struct desk *desk = desk_new();

        desk->welcome.codec_down = lossy ? CODEC_INT8 : CODEC_RAW;
        desk_ready(desk, 1);
        desk_offers(desk, 1, 3);
        desk_answers(desk, 1, VERB_REBASE, 5);
        desk->welcome.origin = 1;
        desk->welcome.epoch += LIFE;
        desk->welcome.codec_down = CODEC_RAW;
        desk_welcomes(desk, START_GO);
        keeper_says(desk, 1, 1, NULL);
        CHECK_EQUAL(lossy ? 0 : 1 + 1, kept(desk));
        desk_destroy(&desk);
    }
}

static void another_run_forgets_what_was_kept(void)
{
    struct desk *desk = desk_offering();

    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    desk->welcome.run = 8;
    desk_welcomes(desk, START_HOLD); /* this one may yet find its own */
    CHECK_EQUAL(1 + 1, kept(desk));
    desk_welcomes(desk, START_GO);
    CHECK_EQUAL(0, kept(desk));
    CHECK_EQUAL(8, desk_sent(desk, MSG_HELLO)->hello.run);
    desk_destroy(&desk);
}

static uint64_t epoch_said(struct desk *desk)
{
    (void)kept(desk);
    return desk_sent(desk, MSG_HELLO)->hello.epoch;
}

static void hello_tells_the_newest_epoch(void)
{
    struct desk *desk = desk_new();
    struct msg view = {.kind = MSG_VIEW};

    desk->welcome.epoch = 3;
    desk_ready(desk, 1);
    CHECK_EQUAL(3, epoch_said(desk));
    desk_welcomes(desk, START_GO);
    view.view.epoch = 5;
    hand_say(&desk->hand, PEER_CONTROL, &view, NULL);
    CHECK_EQUAL(5, epoch_said(desk));
    desk_destroy(&desk);
}

/* That of the former life cannot know, so it asks: it is told. */
static void a_hub_of_a_former_life_that_asks_gets_the_proof(void)
{
    struct desk *desk = desk_new();
    const struct hand_sent *sent;

    desk->welcome.epoch = 2 * LIFE;
    desk_ready(desk, 1);
    desk_welcomes(desk, START_GO);
    desk_offers(desk, 1, 3);
    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    desk->welcome.epoch = LIFE + 9;
    gives(desk);
    sent = hand_last(&desk->hand, PEER_BULK, MSG_KEPT);
    CHECK(sent != NULL && sent->msg.kept.version == 1);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK_EQUAL(2 * LIFE, epoch_said(desk));
    desk_destroy(&desk);
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
