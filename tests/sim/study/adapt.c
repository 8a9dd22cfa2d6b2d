/* k and d that the hub chooses, on stars whose links are known. */
#include "hub/adapt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/scenario.h"
#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

enum { CHANGES = 32, WORDS = 32 };

/* What was told, and when. */
struct course {
    struct world *world;
    nanos at[CHANGES];
    uint64_t every[CHANGES], delay[CHANGES];
    unsigned count;
    uint64_t last_every, last_delay; /* that the hub's view says, */
    double link_up, link_down;       /* with bytes per second */
    struct outcome outcome;
};

static void begin(void *of, struct world *world)
{
    struct course *course = of;

    course->world = world;
}

/* The new value in "WORDold -> new". */
static uint64_t behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    at = at ? strstr(at, " -> ") : NULL;
    CHECK(at != NULL);
    return at ? strtoull(at + 4, NULL, 10) : 0;
}

static void note(void *of, const struct world_step *step, nanos now)
{
    struct course *course = of;

    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];
        const char *text = effect->note.text;

        if (effect->kind != EFFECT_NOTE || effect->note.kind != NOTE_TEMPO ||
            course->count == CHANGES)
            continue;
        course->every[course->count] = behind(text, "k ");
        course->delay[course->count] = behind(text, ", d ");
        course->at[course->count++] = now;
    }
}

static void look(void *of, struct world *world)
{
    struct course *course = of;
    struct hub_view view;

    hub_look(world_hub(world), 0, &view);
    course->last_every = view.every;
    course->last_delay = view.delay;
    if (!view.count)
        return;
    course->link_up = view.nodes[0].link_up;
    course->link_down = view.nodes[0].link_down;
}

static struct options options_of(const char *line)
{
    char copy[512], *words[WORDS] = {"run"}, *rest = copy;
    struct options options;
    struct why why = {""};
    int count = 1;

    (void)snprintf(copy, sizeof copy, "%s", line);
    while (count < WORDS && (words[count] = strsep(&rest, " ")) != NULL)
        count += *words[count] != '\0';
    options_defaults(&options);
    CHECK_OK(
        options_parse_arguments(&options, PROGRAM_SIM, count, words, &why));
    CHECK_TEXT("", why.text);
    return options;
}

/* The trace is taken over. */
static struct course run(const char *line, struct trace *trace)
{
    struct options options = options_of(line);
    struct course course = {.count = 0};
    const struct scenario_watcher watcher = {.of = &course,
                                             .begin = begin,
                                             .step = note,
                                             .interval = SECOND,
                                             .look = look};
    struct scenario *scenario = NULL;
    struct why why = {""};

    CHECK_OK(scenario_open_as(&options, trace, NULL, &scenario, &why));
    CHECK_TEXT("", why.text);
    if (!scenario)
        return course;
    scenario_run(scenario, 3, &watcher, &course.outcome);
    CHECK_TEXT("", course.outcome.trouble);
    scenario_close(&scenario);
    return course;
}

#define FREE "--every auto --delay auto "
#define STAR FREE "--nodes 4 --step-time 100ms --init hub --evaluate 1h "

/* k from its first change on, at most once a minute; and not at all where the
 * network stays as it is, but for the look that comes after the first. */
static void check_calm(const struct course *course)
{
    CHECK(course->count >= 1 && course->count <= 3);
    for (unsigned i = 1; i < course->count; i++)
        if (course->every[i] != course->every[i - 1])
            CHECK(course->at[i] - course->at[i - 1] >= 60 * SECOND);
}

/* Four updates of P bytes through the port take B; d is the way up and down,
 * which overlap by chunks, k twice that. Late are the eight rounds until k is
 * chosen, where the first one is too small, and few later. */
static void k_and_d_follow_the_links(void)
{
    static const struct {
        const char *line;
        uint64_t least, most; /* k */
        double late;
    } rows[] = {
        {STAR "--params 0.8M --rate 1Gbit --port 1Gbit --time 200s", 2, 2,
         0.03},
        {STAR "--params 0.8M --rate 100Mbit --port 100Mbit --time 300s", 7, 9,
         0.03},
        {STAR "--params 0.8M --rate 10Mbit --port 10Mbit --time 1500s", 60, 85,
         0.05},
        {STAR "--params 10M --rate 1Gbit --port 1Gbit --time 300s", 7, 10,
         0.03},
        {STAR "--params 10M --rate 100Mbit --port 100Mbit --time 1500s", 60, 85,
         0.05},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct course course = run(rows[i].line, NULL);

        check_calm(&course);
        CHECK(course.last_every >= rows[i].least &&
              course.last_every <= rows[i].most);
        CHECK(course.last_delay <= course.last_every);
        CHECK(course.outcome.late <= rows[i].late);
        CHECK_NEAR(0, course.outcome.idle, 0.001);
        /* not saturated: rounds come as often as nodes offer */
        CHECK(course.outcome.round_time <
              0.1 * 1.35 * (double)course.last_every + 0.1);
    }
}

static void links_of_their_own_carry_more_than_one_port(void)
{
    struct course course = run(
        STAR "--params 0.8M --rate 10Mbit --port 942Mbit --time 300s", NULL);

    check_calm(&course);
    CHECK(course.last_every >= 16 && course.last_every <= 24);
    CHECK_NEAR(10e6 / 8, course.link_up, 0.02e6);
    CHECK_NEAR(10e6 / 8, course.link_down, 0.02e6);
}

/* 100, 10 and again 100 Mbit/s. */
static void a_link_that_slows_makes_k_rise_and_fall_again(void)
{
    struct trace *trace =
        trace_of("starswitch-trace 1\nspan 2000s\n"
                 "0s hub up 12.5MB\n0s hub down 12.5MB\n"
                 "200s hub up 1.25MB\n200s hub down 1.25MB\n"
                 "900s hub up 12.5MB\n900s hub down 12.5MB\nend\n");
    struct course course =
        run(STAR "--params 0.8M --rate 1Gbit --time 1200s", trace);
    uint64_t before = 0, slow = 0;

    for (unsigned i = 0; i < course.count; i++) {
        if (course.at[i] < 200 * SECOND)
            before = course.every[i];
        else if (course.at[i] < 900 * SECOND)
            slow = course.every[i];
    }
    CHECK(before >= 7 && before <= 9);
    CHECK(slow >= 60 && slow <= 120);
    CHECK(course.last_every >= 7 && course.last_every <= 12);
}

static void equal_seeds_choose_equally(void)
{
    static const char line[] =
        STAR "--params 0.8M --rate 50Mbit --port 50Mbit --step-cv 0.2 "
             "--jitter 5ms --time 200s";
    struct course one = run(line, NULL), same = run(line, NULL);

    CHECK_EQUAL(one.outcome.history, same.outcome.history);
    CHECK_EQUAL(one.count, same.count);
    for (unsigned i = 0; i < one.count; i++) {
        CHECK_EQUAL(one.at[i], same.at[i]);
        CHECK_EQUAL(one.every[i], same.every[i]);
        CHECK_EQUAL(one.delay[i], same.delay[i]);
    }
}

static void what_is_given_stays(void)
{
    struct course course =
        run(STAR "--params 0.8M --rate 1Gbit --time 100s --every 10", NULL);

    CHECK_EQUAL(10, course.last_every);
    CHECK_EQUAL(1, course.last_delay);
    course = run(STAR "--params 0.8M --rate 1Gbit --time 100s --delay 7", NULL);
    CHECK_EQUAL(2, course.last_every);
    CHECK_EQUAL(7, course.last_delay);
    course =
        run(STAR "--params 0.8M --rate 1Gbit --time 100s --policy mean", NULL);
    CHECK_EQUAL(20, course.last_every);
    CHECK_EQUAL(4, course.last_delay);
    CHECK_EQUAL(0, course.count);
}

void add_sim_study_adapt_tests(CU_pSuite suite)
{
    TEST(k_and_d_follow_the_links);
    TEST(links_of_their_own_carry_more_than_one_port);
    TEST(a_link_that_slows_makes_k_rise_and_fall_again);
    TEST(equal_seeds_choose_equally);
    TEST(what_is_given_stays);
}
