/* The soak's judge sees what the centre holds too little or too much of. */
#include "sim/study/soak_count.h"

#include "sim/study/soak.h"
#include "tests/check.h"
#include "tests/sim/study/plans.h"

static const char counted[] = "set nodes 2\n"
                              "set counts yes\n"
                              "set elements 48\n"
                              "set chunk 96B\n"
                              "set policy mean\n"
                              "set init hub\n"
                              "set staleness 1000\n"
                              "set every 20\n"
                              "set delay 0\n"
                              "set save 100ms\n"
                              "set faults 10s\n"
                              "at 0s start hub\n"
                              "at 0s start n1\n"
                              "at 0s start n2\n"
                              "at 6s crash hub\n"
                              "at 6.1s start hub\n";

/* What somebody has done to the disk while the hub was down. */
static const char *spoil(void *of, const struct world *world,
                         const struct script_event *event)
{
    const struct world_saved *saved = world_saved(world);
    const float *change = of;

    if (event->verb != SCRIPT_START || event->process != WORLD_HUB ||
        !saved->theta)
        return NULL;
    for (size_t i = 0; i < saved->elements; i++)
        if (saved->theta[i] > 0)
            saved->theta[i] += *change;
    return NULL;
}

static void live(float change, struct soak_life *out)
{
    const struct soak_watcher watcher = {.of = &change, .complain = spoil};
    struct soak_plan *plan = plan_of(counted);

    soak_live(plan, &watcher, out);
    soak_plan_destroy(&plan);
}

static void what_was_learnt_is_in_the_centre(void)
{
    struct soak_life life;

    live(0, &life);
    CHECK_TEXT("", life.complaint);
    CHECK(life.merged > 10);
}

static void a_step_too_many_is_seen(void)
{
    struct soak_life life;

    live(100, &life);
    CHECK_CONTAINS("the hub goes on from version", life.complaint);
}

static void rules_that_do_not_add_are_not_counted(void)
{
    static const char *const others[] = {
        "set policy diloco\n", "set policy median\n", "set policy easgd\n",
        "set policy async\n",  "set evaluates yes\n", "set saves no\n",
        "set staleness 3\n",   "set nodes 3\n",       "set elements 47\n"};
    char text[600];

    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        struct soak_plan *plan = NULL;
        struct why why = {""};
        int length = snprintf(text, sizeof text, "%s%s", counted, others[i]);

        CHECK(soak_plan_parse(text, (size_t)length, &plan, &why) ==
              STATUS_CONFIG);
        CHECK_CONTAINS("rules that add", why.text);
        soak_plan_destroy(&plan);
    }
}

void add_sim_study_soak_count_tests(CU_pSuite suite)
{
    TEST(what_was_learnt_is_in_the_centre);
    TEST(a_step_too_many_is_seen);
    TEST(rules_that_do_not_add_are_not_counted);
}
