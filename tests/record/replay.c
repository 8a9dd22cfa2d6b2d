#include "record/replay.h"

#include <string.h>

#include "hub/configure.h"
#include "tests/check.h"
#include "tests/record/journaled_star.h"
#include "tests/sim/policy_sweep.h"
#include "tests/store/folder.h"

static struct folder folder;

/* What a star's hub has done, it does again: everything is in its journal, and
 * it is scored and saves meanwhile. */
static bool is_done_again(struct lab *lab, nanos span)
{
    const char *path = folder_file(&folder, "j");
    struct hub_config config =
        journaled_star_sweep(path, lab, SWEEP_NODES, span);
    struct replay replay;
    struct why why = {""};
    bool same;

    same = journaled_star_replay(path, &config, &replay, &why) == STATUS_OK;
    CHECK_TEXT("", why.text);
    return same && replay.steps > 100 && replay.jobs > 20 && replay.bytes > 200;
}

static bool a_policy_is_done_again(const struct policy *policy)
{
    struct seen seen;

    return is_done_again(sweep_lab(policy, &seen),
                         (runs_slowly() ? 3 : 4) * SECOND);
}

static void under_each_policy_a_hub_does_the_same_again(void)
{
    if (!CHECK(folder_new(&folder)))
        return;
    policy_sweep(a_policy_is_done_again);
    sweep_codecs(a_policy_is_done_again);
    folder_remove(&folder);
}

static bool a_tournament_is_done_again(void)
{
    const struct policy policy = preset_find("diloco")->policy;
    struct seen seen;
    struct lab *lab = sweep_lab(&policy, &seen);

    lab->config.hub.init = INIT_TOURNAMENT;
    lab->config.hub.tournament = 20;
    lab->config.hub.iterations = 60;
    return is_done_again(lab, 12 * SECOND);
}

static void it_does_so_from_the_tournament_to_the_end_of_the_run(void)
{
    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(a_tournament_is_done_again());
    folder_remove(&folder);
}

/* ---- a hub that goes on ---- */

static void start_again(void *context, struct world *world)
{
    struct lab *lab = context;
    const struct world_saved *from = world_saved(world);
    const struct hub_saved saved = {
        lab->schema, from->theta, {from->slot[0], from->slot[1]}, from->state};

    CHECK(from->count > 0);
    CHECK(from->slot[0] != NULL);
    journaled_star_begin(lab, folder_file(&folder, "j"), &saved);
    world_start(world, WORLD_HUB);
}

static void crash(void *context, struct world *world)
{
    (void)context;
    world_crash(world, WORLD_HUB, false);
}

static void a_hub_that_goes_on_does_the_same_again(void)
{
    const struct policy diloco = preset_find("diloco")->policy;
    struct hub_config config;
    struct replay replay;
    struct why why = {""};
    struct seen seen;
    struct lab *lab;

    if (!CHECK(folder_new(&folder)))
        return;
    lab = sweep_star(&diloco, &seen);
    config = journaled_star_config(lab);
    world_at(lab->world, 4020 * MILLISECOND, crash, lab);
    world_at(lab->world, 5 * SECOND, start_again, lab);
    (void)lab_run(lab, 12 * SECOND);
    journaled_star_end(lab);
    lab_destroy(&lab);
    CHECK_OK(journaled_star_replay(folder_file(&folder, "j"), &config, &replay,
                                   &why));
    CHECK_TEXT("", why.text);
    CHECK(replay.jobs > 20);
    folder_remove(&folder);
}

/* ---- what is not the same ---- */

static void another_policy_is_found_at_its_first_step(void)
{
    struct hub_config config;
    struct replay replay;
    struct why why = {""};

    if (!CHECK(folder_new(&folder)))
        return;
    config = journaled_star_star(folder_file(&folder, "j"), 3, 4 * SECOND);
    config.policy = preset_find("diloco")->policy;
    CHECK_STATUS(STATUS_BUG, journaled_star_replay(folder_file(&folder, "j"),
                                                   &config, &replay, &why));
    CHECK_CONTAINS(" s: the hub did something else: ", why.text);
    CHECK_CONTAINS("done merge #", replay.event);
    CHECK_CONTAINS("send ", replay.said);
    CHECK_CONTAINS("result exchange=1 ", replay.said);
    CHECK_CONTAINS("result exchange=1 ", replay.done);
    CHECK(strcmp(replay.said, replay.done) != 0);
    CHECK(replay.steps > 10);
    folder_remove(&folder);
}

static void one_bit_less_in_a_number_of_the_policy_is_found(void)
{
    struct hub_config config;
    struct replay replay;
    struct why why = {""};

    if (!CHECK(folder_new(&folder)))
        return;
    config = journaled_star_star(folder_file(&folder, "j"), 3, 4 * SECOND);
    config.policy.numbers.outer_lr = 1 - 0x1p-24;
    CHECK_STATUS(STATUS_BUG, journaled_star_replay(folder_file(&folder, "j"),
                                                   &config, &replay, &why));
    CHECK_CONTAINS("result exchange=1 ", replay.done);
    folder_remove(&folder);
}

static void a_hub_that_should_not_save_is_found(void)
{
    struct hub_config config;
    struct replay replay;
    struct why why = {""};

    if (!CHECK(folder_new(&folder)))
        return;
    config = journaled_star_star(folder_file(&folder, "j"), 3, 4 * SECOND);
    config.save = NULL;
    CHECK_STATUS(STATUS_BUG, journaled_star_replay(folder_file(&folder, "j"),
                                                   &config, &replay, &why));
    CHECK_CONTAINS("  job save #", replay.said);
    CHECK(!strstr(replay.done, "save"));
    folder_remove(&folder);
}

/* ---- orders and settings ---- */

static void step(struct hub *hub, struct journal *journal,
                 const struct event *event)
{
    const struct machine machine = hub_machine(hub);
    struct effects effects = {NULL, 0, 0};

    machine.step(machine.self, event, &effects);
    journal_step(journal, event, &effects);
    effects_free(&effects);
}

static void orders_are_in_the_journal(void)
{
    struct msg order = {.kind = MSG_ORDER}, stop = {.kind = MSG_STOP};
    const struct event events[] = {{.now = 5 * SECOND, .kind = EVENT_WAKE},
                                   {.now = 6 * SECOND,
                                    .kind = EVENT_MESSAGE,
                                    .peer = PEER_OPERATOR,
                                    .channel = CHANNEL_LOCAL,
                                    .msg = &order},
                                   {.now = 7 * SECOND,
                                    .kind = EVENT_MESSAGE,
                                    .peer = PEER_OPERATOR,
                                    .channel = CHANNEL_LOCAL,
                                    .msg = &stop}};
    const struct hub_config config = {
        .policy = preset_find("mean")->policy, .run = 3, .chunk_elements = 4};
    const struct journal_of of = {"", &config, NULL};
    struct journal *journal = NULL;
    struct pool *pool = pool_new();
    struct replay replay;
    struct why why = {""};
    struct hub *hub = hub_new(&config, pool);

    order.order.ticket = 8;
    order.order.command = COMMAND_DRAIN;
    memcpy(order.order.node, "n7", 3);
    memcpy(stop.stop.reason, "enough", 7);
    if (CHECK(folder_new(&folder)) &&
        CHECK_OK(journal_open(folder_file(&folder, "j"), &of,
                              (struct spool_complaint){NULL, NULL}, &journal,
                              &why))) {
        for (size_t i = 0; i < sizeof events / sizeof *events; i++)
            step(hub, journal, &events[i]);
        journal_close(&journal);
        CHECK_OK(journaled_star_replay(folder_file(&folder, "j"), &config,
                                       &replay, &why));
        CHECK_TEXT("", why.text);
        CHECK_EQUAL(3, replay.steps);
        CHECK(replay.effects >= 2);
        CHECK_EQUAL(2 * SECOND, replay.last - replay.first);
    }
    hub_destroy(&hub);
    pool_destroy(&pool);
    folder_remove(&folder);
}

static void the_journals_settings_are_the_hubs(void)
{
    static char settings[OPTIONS_PAGE_BYTES];
    struct journal_head head = {
        .settings = settings, .run = 17, .save = "save"};
    struct hub_config first = {0}, again = {0};
    struct replay_works works;
    struct options options;
    struct text text;
    struct why why = {""};

    options_defaults(&options);
    CHECK_OK(options_set(&options, PROGRAM_HUB, "policy", "easgd",
                         OPTION_ARGUMENT, &why));
    CHECK_OK(options_set(&options, PROGRAM_HUB, "elastic", "0.3",
                         OPTION_ARGUMENT, &why));
    CHECK_OK(options_set(&options, PROGRAM_HUB, "save", "7s", OPTION_ARGUMENT,
                         &why));
    text_init(&text, settings, sizeof settings);
    options_print_config(&options, PROGRAM_HUB, &text);
    CHECK_OK(hub_configure(&options, &first, &why));
    CHECK_OK(replay_configure(&head, &works, &again, &why));
    CHECK_EQUAL(17, again.run);
    CHECK_EQUAL(7 * SECOND, again.save_interval);
    CHECK_TEXT("save", again.save ? again.save->name : NULL);
    CHECK(!again.evaluate);
    CHECK(again.policy.merge == first.policy.merge);
    CHECK(again.policy.numbers.elastic == 0.3);
    CHECK(again.policy.numbers.pull == first.policy.numbers.pull);
    CHECK_EQUAL(EXCHANGE_PARAMETERS, again.policy.exchange);
    CHECK_EQUAL(first.init, again.init);
    CHECK_EQUAL(first.codec_up, again.codec_up);
    CHECK_EQUAL(first.chunk_elements, again.chunk_elements);
    CHECK_EQUAL(first.budget, again.budget);
}

static void settings_of_another_version_are_refused(void)
{
    char settings[] = "policy = tomorrow\n";
    const struct journal_head head = {.settings = settings};
    struct replay_works works;
    struct hub_config config = {0};
    struct why why = {""};

    CHECK_STATUS(STATUS_CONFIG, replay_configure(&head, &works, &config, &why));
    CHECK_CONTAINS("another version", why.text);
    CHECK_CONTAINS("tomorrow", why.text);
}

void add_record_replay_tests(CU_pSuite suite)
{
    TEST(under_each_policy_a_hub_does_the_same_again);
    TEST(it_does_so_from_the_tournament_to_the_end_of_the_run);
    TEST(a_hub_that_goes_on_does_the_same_again);
    TEST(another_policy_is_found_at_its_first_step);
    TEST(one_bit_less_in_a_number_of_the_policy_is_found);
    TEST(a_hub_that_should_not_save_is_found);
    TEST(orders_are_in_the_journal);
    TEST(the_journals_settings_are_the_hubs);
    TEST(settings_of_another_version_are_refused);
}
