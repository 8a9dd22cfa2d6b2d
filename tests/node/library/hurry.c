/* A program that is asked to end while its training thread waits for a hub. */
#include <starswitch.h>

#include "tests/check.h"
#include "tests/node/tutor.h"

#define PATIENCE (30 * SECOND)

/* It is asked to end soon after it has begun to wait. */
static int soon(void *context)
{
    unsigned *asked = context;

    return ++*asked > 2;
}

static void who_is_in_a_hurry_waits_no_longer(void)
{
    struct tutor *tutor = tutor_new();
    float values[TUTOR_ELEMENTS] = {0};
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, values, NULL, TUTOR_ELEMENTS);
    unsigned asked = 0;
    nanos began = net_now();
    struct star_link *link;
    struct star_state state = {.size = sizeof state};
    char error[256];

    tutor->mute = true;
    tutor->welcome.delay = 0;
    tutor->welcome.wait = 4 * PATIENCE;
    tutor_start(tutor);
    CHECK_EQUAL(
        STAR_OK,
        star_attach(&(struct star_options){.size = sizeof(struct star_options),
                                           .hub = tutor->hub,
                                           .hurry = soon,
                                           .context = &asked},
                    &tensor, 1, &link, error, sizeof error));
    CHECK(tutor_wait(tutor, &tutor->bulk, 1));
    while (!state.missed && net_now() - began < PATIENCE) {
        CHECK_EQUAL(STAR_GO, star_step(link, NULL));
        star_look(link, &state);
    }
    CHECK_EQUAL(1, state.missed);
    CHECK_EQUAL(3, asked);
    CHECK(state.waited > 0);
    CHECK(net_now() - began < 2 * PATIENCE);
    toy_stop(tutor->toy); /* else it would wait for its last offer */
    star_detach(&link);
    tutor_destroy(&tutor);
}

void add_node_library_hurry_tests(CU_pSuite suite)
{
    TEST(who_is_in_a_hurry_waits_no_longer);
}
