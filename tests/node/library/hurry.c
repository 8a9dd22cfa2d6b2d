/* A program that is asked to end while its training thread waits for a hub. */
#include <starswitch.h>

#include "tests/check.h"
#include "tests/node/fake_hub.h"

/* It is asked to end soon after it has begun to wait. */
static int soon(void *context)
{
    unsigned *asked = context;

    return ++*asked > 2;
}

static void who_is_in_a_hurry_waits_no_longer(void)
{
    struct fake_hub *hub = fake_hub_new();
    float values[FAKE_HUB_ELEMENTS] = {0};
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, values, NULL, FAKE_HUB_ELEMENTS);
    unsigned asked = 0;
    nanos began = net_now();
    struct star_link *link;
    struct star_state state = {.size = sizeof state};
    char error[256];

    hub->mute = true;
    hub->welcome.delay = 0;
    hub->welcome.wait = 4 * FAKE_PATIENCE;
    fake_hub_start(hub);
    CHECK_EQUAL(
        STAR_OK,
        star_attach(&(struct star_options){.size = sizeof(struct star_options),
                                           .hub = hub->address,
                                           .hurry = soon,
                                           .context = &asked},
                    &tensor, 1, &link, error, sizeof error));
    CHECK(fake_hub_wait(hub, &hub->bulk, 1));
    while (!state.missed && net_now() - began < FAKE_PATIENCE) {
        CHECK_EQUAL(STAR_GO, star_step(link, NULL));
        star_look(link, &state);
    }
    CHECK_EQUAL(1, state.missed);
    CHECK_EQUAL(3, asked);
    CHECK(state.waited > 0);
    CHECK(net_now() - began < 2 * FAKE_PATIENCE);
    fake_stop(hub->fake); /* else it would wait for its last offer */
    star_detach(&link);
    fake_hub_destroy(&hub);
}

void add_node_library_hurry_tests(CU_pSuite suite)
{
    TEST(who_is_in_a_hurry_waits_no_longer);
}
