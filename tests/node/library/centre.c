/* The program copies what the hub holds. */
#include <string.h>

#include "tests/check.h"
#include "tests/node/library/server.h"

/* Steps until the copy is of this version at least. */
static bool come_to(struct star_link *link, float *w, float *values,
                    uint64_t version)
{
    struct star_versions versions = {.size = sizeof versions};
    nanos until = net_now() + FAKE_PATIENCE;

    for (; net_now() < until; fake_rest()) {
        w[0] += 1;
        CHECK_EQUAL(STAR_GO, star_step(link, NULL));
        if (star_centre(link, values, SERVER_ELEMENTS, &versions, NULL, 0) ==
                STAR_OK &&
            versions.lowest >= version)
            return versions.lowest == versions.highest;
    }
    return false;
}

/* Chunks of four values, the last of two. */
static bool is_hubs(const struct server *server, const float *values)
{
    uint64_t version;

    for (uint32_t i = 0; i < 3; i++)
        if (memcmp(values + 4 * (size_t)i, hub_centre(server->hub, i, &version),
                   (i < 2 ? 4 : 2) * sizeof *values) != 0)
            return false;
    return true;
}

static void what_the_hub_holds_is_copied_also_when_it_is_gone(void)
{
    struct server *server = server_new();
    float w[SERVER_ELEMENTS] = {0}, values[SERVER_ELEMENTS] = {0},
          again[SERVER_ELEMENTS] = {0};
    struct star_versions unset = {0};
    struct star_link *link;
    char error[256] = "";

    server->config.every = 1;
    server->config.delay = 0;
    server_start(server);
    CHECK_EQUAL(STAR_OK, server_attach(server->address, "a", w, &link));
    CHECK_EQUAL(STAR_NOT_YET, star_centre(link, values, SERVER_ELEMENTS, NULL,
                                          error, sizeof error));
    CHECK_CONTAINS("yet", error);
    CHECK(come_to(link, w, values, 5));
    w[0] += 7; /* what only this node has learnt */
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_centre(link, again, 9, NULL, error, sizeof error));
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_centre(link, again, SERVER_ELEMENTS, &unset, NULL, 0));
    server_stop(server);
    CHECK_EQUAL(STAR_OK,
                star_centre(link, again, SERVER_ELEMENTS, NULL, NULL, 0));
    for (int i = 0; i < SERVER_ELEMENTS; i++)
        CHECK_NEAR(values[i], again[i], 0);
    CHECK(is_hubs(server, again));
    CHECK(again[0] > 0 && again[0] < w[0]);
    (void)star_detach_within(&link, 0);
    server_destroy(&server);
}

/* By policies whose results are not the centre as it is, too. */
static void what_the_hub_holds_is_known_by_most_policies(void)
{
    static const char *const names[] = {"easgd", "best",      "diloco",
                                        "adam",  "streaming", "ddp"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct server *server = server_new();
        float w[SERVER_ELEMENTS] = {0}, values[SERVER_ELEMENTS] = {0};
        struct star_link *link;

        server->config.policy = preset_find(names[i])->policy;
        server_start(server);
        CHECK_EQUAL(STAR_OK, server_attach(server->address, "a", w, &link));
        CHECK(come_to(link, w, values, names[i][1] == 'd' ? 0 : 3));
        star_detach(&link);
        server_destroy(&server);
    }
}

void add_node_library_centre_tests(CU_pSuite suite)
{
    TEST(what_the_hub_holds_is_copied_also_when_it_is_gone);
    TEST(what_the_hub_holds_is_known_by_most_policies);
}
