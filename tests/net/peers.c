#include "net/peers.h"

#include "tests/check.h"

static struct connection *add_peer(struct peers *peers, uint64_t number,
                                   peer_id peer)
{
    struct connection *connection = peers_add(peers, peer, number);

    connection->stage = STAGE_JOINED;
    return connection;
}

static void a_connection_is_found_by_each_of_its_names(void)
{
    struct peers peers = {0};

    (void)add_peer(&peers, 100, 4);
    (void)add_peer(&peers, 101, 6);
    CHECK_EQUAL(6, peers_by_number(&peers, 101)->peer);
    CHECK_EQUAL(100, peers_by_id(&peers, 4)->number);
    CHECK(!peers_by_number(&peers, 102));
    CHECK(!peers_by_id(&peers, 5));
    CHECK(!peers_by_id(&peers, PEER_NONE));
    peers_free(&peers);
}

static void one_that_is_not_joined_is_known_by_name_alone(void)
{
    struct peers peers = {0};
    struct connection *connection = peers_add(&peers, 4, 100);

    CHECK(!peers_by_id(&peers, 4));
    CHECK(peers_named(&peers, 4) == connection);
    connection->stage = STAGE_JOINED;
    CHECK(peers_by_id(&peers, 4) == connection);
    connection_end(connection, 7);
    connection_end(connection, 9);
    CHECK(!peers_by_id(&peers, 4));
    CHECK_EQUAL(7, connection->leave_at);
    peers_free(&peers);
}

/* A node that connects anew has the same peer before the old one has left. */
static void who_comes_after_under_the_same_name_takes_its_place(void)
{
    struct peers peers = {0};
    struct connection *old = add_peer(&peers, 100, 2);
    struct connection *new = add_peer(&peers, 102, 2);

    CHECK(peers_by_id(&peers, 2) == new);
    peers_remove(&peers, old);
    CHECK(peers_by_id(&peers, 2) == new);
    CHECK(!peers_by_number(&peers, 100));
    CHECK(peers_by_number(&peers, 102) == new);
    peers_free(&peers);
}

static void those_that_stay_keep_their_order(void)
{
    struct peers peers = {0};

    for (uint64_t i = 0; i < 100; i++)
        (void)add_peer(&peers, i, 4 + 2 * i);
    for (uint64_t i = 0; i < 100; i += 3)
        peers_remove(&peers, peers_by_number(&peers, i));
    CHECK_EQUAL(66, peers.count);
    for (unsigned i = 1; i < peers.count; i++)
        CHECK(peers.list[i - 1]->number < peers.list[i]->number);
    peers_free(&peers);
}

void add_net_peers_tests(CU_pSuite suite)
{
    TEST(a_connection_is_found_by_each_of_its_names);
    TEST(one_that_is_not_joined_is_known_by_name_alone);
    TEST(who_comes_after_under_the_same_name_takes_its_place);
    TEST(those_that_stay_keep_their_order);
}
