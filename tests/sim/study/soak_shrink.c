#include "sim/study/soak_shrink.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/sim/study/plans.h"

static const char busy[] = "set seed 7\n"
                           "set nodes 4\n"
                           "set every 3\n"
                           "set delay 6\n"
                           "set uneven yes\n"
                           "set faults 4s\n"
                           "at 0s start n1\n"
                           "at 0s start n2\n"
                           "at 0.013s start n3\n"
                           "at 0.113s start n4\n"
                           "at 0.207s start hub\n"
                           "at 0.7s freeze n3\n"
                           "at 1.113s cut n1\n"
                           "at 1.213s crash hub\n"
                           "at 1.417s crash n2\n"
                           "at 1.613s repair n1\n"
                           "at 2.1s thaw n3\n"
                           "at 2.222s start n2\n"
                           "at 2.412s start hub\n"
                           "at 3.001s crash n4\n";

/* A promise that is sure to be broken. */
static const char *crash_without_hub(void *of, const struct world *world,
                                     const struct script_event *event)
{
    (void)of;
    return event->verb == SCRIPT_CRASH && event->process == 1 &&
                   world_node(world, 1) && !world_hub(world)
               ? "n2 crashed, 1 time, while the hub was down"
               : NULL;
}

static const char *abort_without_hub(void *of, const struct world *world,
                                     const struct script_event *event)
{
    if (crash_without_hub(of, world, event))
        _Exit(3);
    return NULL;
}

/* The hub need not be started for that, and n2 must. */
static const char shortest[] = "set seed 7\n"
                               "set nodes 2\n"
                               "set faults 2s\n"
                               "at 0s start n2\n"
                               "at 1s crash n2\n";

static void check_shortest(const struct soak_watcher *watcher,
                           const char *complaint)
{
    struct soak_plan *plan = plan_of(busy), *best;
    struct soak_life life;
    char *text;

    CHECK(soak_try(plan, watcher, &life));
    CHECK_CONTAINS(complaint, life.complaint);
    best = soak_shrink(plan, watcher, life.complaint);
    text = plan_text(best);
    CHECK_TEXT(shortest, text);
    free(text);
    soak_plan_destroy(&best);
    soak_plan_destroy(&plan);
}

static void a_planted_bug_is_told_in_a_short_story(void)
{
    const struct soak_watcher watcher = {.complain = crash_without_hub};

    check_shortest(&watcher, "n2 crashed");
}

static void what_ends_the_process_is_shortened_too(void)
{
    const struct soak_watcher watcher = {.complain = abort_without_hub};

    check_shortest(&watcher, "its process dies");
}

/* Ctrl-C: the child's, and its parent's. */
static const char *interrupt(void *of, const struct world *world,
                             const struct script_event *event)
{
    if (crash_without_hub(of, world, event)) {
        (void)kill(getppid(), SIGINT);
        (void)raise(SIGINT);
    }
    return NULL;
}

/* It is no broken promise, and nothing is cut of its story. */
static void who_interrupts_a_life_learns_nothing_of_it(void)
{
    const struct soak_watcher watcher = {.complain = interrupt};
    struct soak_plan *plan = plan_of(busy), *best;
    struct soak_life life;
    char *text, *whole = plan_text(plan);

    CHECK(!soak_try(plan, &watcher, &life));
    CHECK_TEXT("", life.complaint);
    best = soak_shrink(plan, &watcher, "its process dies");
    text = plan_text(best);
    CHECK_TEXT(whole, text);
    free(text);
    free(whole);
    soak_plan_destroy(&best);
    soak_plan_destroy(&plan);
}

static void complaints_are_alike_but_for_their_numbers(void)
{
    CHECK(soak_alike("n1 is at 12.5 s", "n13 is at 7 s"));
    CHECK(!soak_alike("n1 is at 12.5 s", "n1 was at 12.5 s"));
    CHECK(!soak_alike("n1", "n1 is"));
}

void add_sim_study_soak_shrink_tests(CU_pSuite suite)
{
    TEST(a_planted_bug_is_told_in_a_short_story);
    TEST(what_ends_the_process_is_shortened_too);
    TEST(who_interrupts_a_life_learns_nothing_of_it);
    TEST(complaints_are_alike_but_for_their_numbers);
}
