/* Links that need seconds for a chunk: training together begins, and goes on.
 * The model weighs as one of a million parameters, in chunks of a MiB. */
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "sim/trace/trace.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 16, SCALE = 65536, NODES = 4, RATES = 4 };

#define MINUTE (60 * SECOND)

/* Bytes per second of 0.5, 1, 2 and 5 Mbit/s. */
static const uint64_t rates[RATES] = {62500, 125000, 250000, 625000};

static double climb(const void *context, uint64_t iteration, const float *x,
                    size_t elements, float *gradient)
{
    static const float origin[ELEMENTS];
    static const struct quadratic bowl = {1, origin};

    (void)context;
    return trainer_quadratic(&bowl, iteration, x, elements, gradient);
}

static struct lab *lab_with(const char *policy, uint64_t rate)
{
    struct lab *lab = lab_new(ELEMENTS);
    struct hub_config *hub = &lab->config.hub;

    hub->policy = preset_find(policy)->policy;
    hub->init = hub->policy.exchange == EXCHANGE_PARAMETERS ? INIT_ELASTIC
                                                            : INIT_TOURNAMENT;
    if (hub->policy.merge->verb == VERB_REPLACE)
        hub->init = INIT_POPULATION;
    hub->every = hub->policy.exchange == EXCHANGE_GRADIENT ? 1 : 20;
    hub->delay = 4;
    hub->window = 0;
    hub->scale = SCALE;
    hub->staleness = 64;
    lab->config.link.up = lab->config.link.down = rate;
    return lab;
}

/* Nodes with first parameters of their own. */
static void begin(struct lab *lab, unsigned nodes)
{
    static float starts[NODES][ELEMENTS];
    static const struct model model = {climb, NULL, 0.01, 0, NULL, NULL};
    float *own = lab->start;

    lab->config.hub.nodes = nodes;
    lab_open(lab, 5);
    for (unsigned i = 0; i < nodes; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "n%u", i + 1);
        for (unsigned j = 0; j < ELEMENTS; j++)
            starts[i][j] = (float)(i + 1);
        lab->start = starts[i];
        world_start(lab->world, lab_describe(lab, name, &model));
    }
    lab->start = own;
}

/* Every policy, with changes as they are, the longest: rounds go on, and what
 * nodes offered is in them. */
static void check_policy(const char *policy, unsigned nodes, uint64_t rate)
{
    struct lab *lab = lab_with(policy, rate);
    const struct hub_view *view;
    uint64_t merged, rounds;

    begin(lab, nodes);
    (void)lab_run(lab, 15 * MINUTE);
    rounds = lab_look(lab)->rounds;
    (void)lab_run(lab, 15 * MINUTE);
    view = lab_look(lab);
    merged = 0;
    for (unsigned i = 0; i < view->count; i++)
        merged += view->nodes[i].moved.exchanges;
    if (!CHECK(view->founded) || !CHECK(view->rounds >= rounds + 3) ||
        !CHECK(merged >= view->rounds))
        (void)printf("%s, %u nodes at %llu bytes/s: %llu rounds, %llu merged\n",
                     policy, nodes, (unsigned long long)rate,
                     (unsigned long long)view->rounds,
                     (unsigned long long)merged);
    lab_destroy(&lab);
}

static void check_rates(const char *policy)
{
    for (unsigned i = 0; i < RATES; i++) {
        check_policy(policy, 2, rates[i]);
        check_policy(policy, NODES, rates[i]);
    }
}

static void the_default_begins_and_goes_on_at_half_a_megabit(void)
{
    check_rates("diloco");
}

/* 0.1 Mbit/s: 84 s for a chunk as it is. */
static void a_chunk_may_take_minutes(void)
{
    struct lab *lab = lab_with("diloco", 12500);

    begin(lab, 2);
    (void)lab_run(lab, 120 * MINUTE);
    CHECK(lab_look(lab)->founded);
    CHECK(lab_look(lab)->rounds >= 5);
    CHECK_EQUAL(0, lab->view.verdicts[VERDICT_EXPIRED]);
    lab_destroy(&lab);
}

static void so_does_every_other_policy(void)
{
    for (unsigned i = 0; i < preset_count; i++)
        if (strcmp(presets[i].name, "diloco") != 0)
            check_policy(presets[i].name, NODES, rates[0]);
}

/* Each node's link is away for 3 to 8 s of every 30, at times of its own. */
static void add_outages(struct text *text)
{
    for (unsigned second = 0; second < 1200; second++)
        for (unsigned i = 1; i <= NODES; i++) {
            unsigned phase = (second + 7 * i) % 30;
            unsigned long rate = phase < 2 + i ? 0 : 125000;

            if (phase == 0 || phase == 2 + i)
                text_add(text, "%us n%u up %luB\n%us n%u down %luB\n", second,
                         i, rate, second, i, rate);
        }
}

static struct trace *outages(void)
{
    static char bytes[65536];
    struct why why = {""};
    struct trace *trace = NULL;
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    text_add(&text, "starswitch-trace 1\nspan 1200s\n");
    add_outages(&text);
    text_add(&text, "end\n");
    CHECK(!text.cut);
    CHECK_EQUAL(STATUS_OK, trace_parse(bytes, text.length, &trace, &why));
    CHECK_TEXT("", why.text);
    return trace;
}

static void links_may_be_away_for_some_seconds(void)
{
    struct lab *lab = lab_with("diloco", 125000);
    struct trace *trace = outages();

    lab->config.trace = trace;
    begin(lab, NODES);
    (void)lab_run(lab, 20 * MINUTE);
    CHECK(lab_look(lab)->founded);
    CHECK(lab_look(lab)->rounds >= 10);
    for (unsigned i = 0; i < NODES; i++)
        CHECK(lab->view.nodes[i].moved.exchanges >= 3);
    lab_destroy(&lab);
    trace_destroy(&trace);
}

/* Without a tournament one node gives the first parameters, all the others take
 * them: 34 s each, and more than is ever there in one piece. */
static struct lab *lab_without_tournament(const char *policy)
{
    struct lab *lab = lab_with(policy, 125000);

    if (lab->config.hub.init == INIT_TOURNAMENT)
        lab->config.hub.init = INIT_HUB;
    return lab;
}

static void check_goes_on(struct lab *lab, const char *policy)
{
    if (!CHECK(lab_look(lab)->founded) || !CHECK(lab_look(lab)->rounds >= 5))
        (void)printf("%s: %llu rounds\n", policy,
                     (unsigned long long)lab->view.rounds);
}

static void a_run_is_founded_on_links_that_are_away_now_and_then(void)
{
    struct trace *trace = outages();

    for (unsigned i = 0; i < preset_count; i++) {
        struct lab *lab = lab_without_tournament(presets[i].name);

        lab->config.trace = trace;
        begin(lab, 2);
        (void)lab_run(lab, 20 * MINUTE);
        check_goes_on(lab, presets[i].name);
        lab_destroy(&lab);
    }
    trace_destroy(&trace);
}

/* Each node's connections are reset every 20 s. */
static void break_links(struct lab *lab, unsigned nodes, nanos span)
{
    for (nanos i = 0; i < span / (20 * SECOND); i++) {
        (void)lab_run(lab, 20 * SECOND);
        for (unsigned node = 0; node < nodes; node++) {
            world_cut(lab->world, node, false);
            (void)lab_run(lab, SECOND);
            world_repair(lab->world, node);
        }
    }
}

static void a_run_is_founded_on_links_that_break_now_and_then(void)
{
    for (unsigned i = 0; i < preset_count; i++) {
        struct lab *lab = lab_without_tournament(presets[i].name);

        begin(lab, 2);
        break_links(lab, 2, 20 * MINUTE);
        check_goes_on(lab, presets[i].name);
        lab_destroy(&lab);
    }
}

static void count_warnings(struct lab *lab, const struct world_step *step)
{
    unsigned *count = lab->own;

    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];

        *count += effect->kind == EFFECT_NOTE &&
                  effect->note.kind == NOTE_BARREN &&
                  strstr(effect->note.text, "--init hub") != NULL;
    }
}

/* It needs all of a node's parameters in one piece. */
static void a_tournament_on_links_that_break_is_warned_of(void)
{
    struct lab *lab = lab_with("diloco", 125000);
    unsigned warnings = 0;

    lab->own = &warnings;
    lab->after_step = count_warnings;
    begin(lab, 2);
    break_links(lab, 2, 5 * MINUTE);
    CHECK(warnings > 0 || lab_look(lab)->founded);
    lab_destroy(&lab);
}

void add_sim_slow_links_tests(CU_pSuite suite)
{
    TEST(the_default_begins_and_goes_on_at_half_a_megabit);
    TEST(a_chunk_may_take_minutes);
    TEST(so_does_every_other_policy);
    TEST(links_may_be_away_for_some_seconds);
    TEST(a_run_is_founded_on_links_that_are_away_now_and_then);
    TEST(a_run_is_founded_on_links_that_break_now_and_then);
    TEST(a_tournament_on_links_that_break_is_warned_of);
}
