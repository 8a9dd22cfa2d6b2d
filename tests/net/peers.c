#include "net/peers.h"

#include "tests/check.h"

static struct connection *add_peer(struct peers *peers, int fd,
                                   routing_id routing, peer_id peer)
{
    struct connection *connection = peers_add(peers, fd, 0);

    connection->stage = STAGE_JOINED;
    peers_name(peers, connection, peer, routing);
    return connection;
}

static void a_connection_is_found_by_each_of_its_names(void)
{
    struct peers peers;

    peers_init(&peers);
    (void)add_peer(&peers, 10, 100, 4);
    (void)add_peer(&peers, 11, 101, 6);
    CHECK_EQUAL(6, peers_by_fd(&peers, 11)->peer);
    CHECK_EQUAL(4, peers_by_routing(&peers, 100)->peer);
    CHECK_EQUAL(10, peers_by_id(&peers, 4)->fd);
    CHECK(!peers_by_fd(&peers, 12));
    CHECK(!peers_by_routing(&peers, 102));
    CHECK(!peers_by_id(&peers, 5));
    peers_free(&peers);
}

static void a_silent_connection_has_no_routing_id_yet(void)
{
    struct peers peers;

    peers_init(&peers);
    (void)peers_add(&peers, 10, 0);
    CHECK(!peers_by_routing(&peers, 0));
    CHECK(!peers_by_id(&peers, PEER_NONE));
    peers_remove(&peers, peers_by_fd(&peers, 10));
    CHECK(!peers_was_here(&peers, 0));
    peers_free(&peers);
}

static void routing_ids_of_those_who_left_are_remembered(void)
{
    struct peers peers;

    peers_init(&peers);
    for (routing_id i = 0; i < 3 * PEERS_GONE; i++)
        peers_remove(&peers, add_peer(&peers, 10, i, 4 + 2 * (peer_id)i));
    CHECK(peers_was_here(&peers, 3 * PEERS_GONE - 1));
    CHECK(peers_was_here(&peers, 2 * PEERS_GONE));
    CHECK(!peers_was_here(&peers, 2 * PEERS_GONE - 1));
    CHECK_EQUAL(0, peers.count);
    peers_free(&peers);
}

static void the_table_is_bounded(void)
{
    struct peers peers;

    peers_init(&peers);
    for (int i = 0; i < PEERS_MAX; i++)
        CHECK(peers_add(&peers, i, 0) != NULL);
    CHECK(!peers_add(&peers, PEERS_MAX, 0));
    peers_remove(&peers, peers_by_fd(&peers, 5));
    CHECK(peers_add(&peers, PEERS_MAX, 0) != NULL);
    CHECK_EQUAL(6, peers.list[5]->fd);
    peers_free(&peers);
}

static void the_machine_is_told_of_an_end_once_and_at_the_earlier_time(void)
{
    struct peers peers;
    struct connection *connection;

    peers_init(&peers);
    connection = add_peer(&peers, 10, 100, 4);
    connection_end(connection, 50);
    CHECK_EQUAL(STAGE_ENDING, connection->stage);
    connection_end(connection, 20);
    connection_end(connection, 70);
    CHECK_EQUAL(20, connection->leave_at);
    CHECK(!peers_by_id(&peers, 4));
    connection = peers_add(&peers, 11, 0);
    connection_end(connection, 50);
    CHECK_EQUAL(STAGE_CUT, connection->stage);
    peers_free(&peers);
}

static void an_outbox_keeps_order_is_bounded_and_releases_its_payloads(void)
{
    struct pool *pool = pool_new();
    struct blob *payload = blob_new(pool, 10);
    struct peers peers;
    struct outbox *outbox;

    peers_init(&peers);
    outbox = &add_peer(&peers, 10, 100, 4)->outbox;
    CHECK(!outbox_first(outbox));
    for (size_t i = 0; i < OUTBOX_MESSAGES; i++) {
        struct parcel *parcel = outbox_add(outbox);

        parcel->size = i;
        parcel->payload = blob_ref(payload);
    }
    CHECK(!outbox_add(outbox));
    for (size_t i = 0; i < 10; i++) {
        CHECK_EQUAL(i, outbox_first(outbox)->size);
        outbox_next(outbox);
    }
    CHECK(outbox_add(outbox) != NULL);
    CHECK_EQUAL(OUTBOX_MESSAGES - 10 + 1, payload->references);
    peers_free(&peers);
    CHECK_EQUAL(1, payload->references);
    blob_unref(&payload);
    pool_destroy(&pool);
}

void add_net_peers_tests(CU_pSuite suite)
{
    TEST(a_connection_is_found_by_each_of_its_names);
    TEST(a_silent_connection_has_no_routing_id_yet);
    TEST(routing_ids_of_those_who_left_are_remembered);
    TEST(the_table_is_bounded);
    TEST(the_machine_is_told_of_an_end_once_and_at_the_earlier_time);
    TEST(an_outbox_keeps_order_is_bounded_and_releases_its_payloads);
}
