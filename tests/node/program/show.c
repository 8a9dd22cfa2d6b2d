#include "node/program/show.h"

#include <math.h>

#include "tests/check.h"

static void one_infinite_loss_is_not_shown_for_ever(void)
{
    const struct star_progress infinite = {.loss = (double)INFINITY};
    const struct star_progress finite = {.loss = 0.5};
    const struct star_state state = {0};
    struct node_show show = {.shown = SECOND, .loss = (double)NAN};

    node_show_step(&show, SECOND + 1, &infinite, &state);
    node_show_step(&show, SECOND + 2, &finite, &state);
    CHECK_NEAR(0.5, show.loss, 0);
}

void add_node_program_show_tests(CU_pSuite suite)
{
    TEST(one_infinite_loss_is_not_shown_for_ever);
}
