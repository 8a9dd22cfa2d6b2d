/* Room for messages that come and are not whole (net/station_links.c). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/net/strangers.h"

/* Memory of this process in bytes. */
static int64_t memory_now(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    char line[200] = "", *rest = line;

    if (!file)
        return 0;
    CHECK(fgets(line, sizeof line, file) != NULL);
    (void)fclose(file);
    (void)strtoll(line, &rest, 10); /* all that is mapped */
    return (int64_t)strtoll(rest, NULL, 10) * sysconf(_SC_PAGESIZE);
}

enum { CROWD = 380, PIECE = 32 * 1024 };

/* Sends a piece of a payload on each connection that is still there and takes
 * it; returns how many are there. */
static unsigned pour(int fds[CROWD], const unsigned char *piece)
{
    unsigned left = 0;

    for (unsigned i = 0; i < CROWD; i++) {
        if (fds[i] >= 0 &&
            send(fds[i], piece, PIECE, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
            errno != EAGAIN) {
            (void)close(fds[i]);
            fds[i] = -1;
        }
        left += fds[i] >= 0;
    }
    return left;
}

static void send_head_of_chunk(int fd)
{
    struct msg chunk = fake_chunk(1);
    unsigned char bytes[2 + MSG_MAX_BYTES] = {1};
    unsigned char payload[9] = {2, 0, 0, 0, 0, 0, FAKE_CHUNK >> 16};

    bytes[1] = (unsigned char)msg_encode(&chunk, bytes + 2);
    (void)send(fd, bytes, 2u + bytes[1], MSG_NOSIGNAL);
    (void)send(fd, payload, sizeof payload, MSG_NOSIGNAL);
}

/* A message that is whole, if it has said something before; and the head of a
 * chunk whose last byte never comes. */
static void begin_chunk(int fd, bool said)
{
    struct msg attach = {.kind = MSG_ATTACH};
    unsigned char bytes[2 + MSG_MAX_BYTES] = {0};

    shake_hands(fd);
    bytes[1] = (unsigned char)msg_encode(&attach, bytes + 2);
    if (said)
        (void)send(fd, bytes, 2u + bytes[1], MSG_NOSIGNAL);
    send_head_of_chunk(fd);
}

/* All together would fill 380 MiB, and hold it. */
static void crowd_with_unfinished_chunks(bool said, int64_t most_bytes)
{
    static unsigned char piece[PIECE];
    int fds[CROWD];
    struct pair pair;
    int64_t before, most = 0;

    open_pair(&pair);
    for (unsigned i = 0; i < CROWD; i++) {
        fds[i] = plain_connection(pair.hub->config.port + 1u);
        begin_chunk(fds[i], said);
    }
    before = memory_now();
    for (unsigned i = 0; i < 31; i++) {
        int64_t now = memory_now() - before;

        most = now > most ? now : most;
        (void)pour(fds, piece);
        (void)usleep(10000);
    }
    CHECK(runs_slowly() || most < most_bytes);
    if (said)
        CHECK(fake_wait_event(pair.hub, EVENT_LEAVE, CHANNEL_BULK, 10));
    for (unsigned i = 0; i < CROWD; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    close_pair(&pair);
}

static void unfinished_messages_of_strangers_share_32_mib(void)
{
    crowd_with_unfinished_chunks(false, (int64_t)80 << 20);
}

/* And those who hold it and send nothing are cut, so that others get room. */
static void unfinished_messages_of_all_others_share_256_mib(void)
{
    crowd_with_unfinished_chunks(true, (int64_t)310 << 20);
}

/* 256 of them hold all the room there is until they are cut after 5 s. */
static void who_has_given_before_waits_for_nobody_who_only_begins(void)
{
    static const unsigned char chunk[FAKE_CHUNK];
    static unsigned char piece[PIECE];
    int fds[CROWD], fd;
    struct pair pair;
    unsigned before;

    open_pair(&pair);
    fd = plain_connection(pair.hub->config.port + 1u);
    begin_chunk(fd, true);
    CHECK(send_all(fd, chunk, sizeof chunk));
    CHECK(fake_wait_event(pair.hub, EVENT_MESSAGE, CHANNEL_BULK, 2));
    for (unsigned i = 0; i < CROWD; i++) {
        fds[i] = plain_connection(pair.hub->config.port + 1u);
        begin_chunk(fds[i], true);
    }
    for (unsigned i = 0; i < 31; i++)
        (void)pour(fds, piece);
    before = fake_count(pair.hub, EVENT_MESSAGE, CHANNEL_BULK);
    send_head_of_chunk(fd);
    CHECK(send_all(fd, chunk, sizeof chunk));
    CHECK(fake_wait_event(pair.hub, EVENT_MESSAGE, CHANNEL_BULK, before + 1));
    CHECK(runs_slowly() || !fake_count(pair.hub, EVENT_LEAVE, CHANNEL_BULK));
    for (unsigned i = 0; i < CROWD; i++)
        (void)close(fds[i]);
    (void)close(fd);
    close_pair(&pair);
}

/* More than half a second after the last news of it. */
static void send_slowly(int fd, size_t size)
{
    static const unsigned char piece[PIECE];

    (void)usleep(700000);
    CHECK(send_all(fd, piece, size));
}

static bool is_told(struct fake_machine *fake)
{
    bool told = false;

    for (unsigned i = 0; i < 100 && !told; i++) {
        (void)pthread_mutex_lock(&fake->lock);
        for (unsigned j = 0; j < fake->logged; j++)
            told |= fake->log[j].kind == EVENT_MESSAGE &&
                    fake->log[j].msg == MSG_ARRIVING &&
                    fake->log[j].channel == CHANNEL_BULK;
        (void)pthread_mutex_unlock(&fake->lock);
        (void)usleep(50000);
    }
    return told;
}

static void what_comes_slowly_is_told_of_as_it_comes(void)
{
    struct pair pair;
    int fd;

    open_pair(&pair);
    fd = plain_connection(pair.hub->config.port + 1u);
    begin_chunk(fd, true);
    send_slowly(fd, PIECE / 2);
    CHECK(is_told(pair.hub));
    (void)close(fd);
    CHECK(fake_wait_event(pair.hub, EVENT_LEAVE, CHANNEL_BULK, 1));
    close_pair(&pair);
}

void add_net_room_tests(CU_pSuite suite)
{
    TEST(unfinished_messages_of_strangers_share_32_mib);
    TEST(unfinished_messages_of_all_others_share_256_mib);
    TEST(who_has_given_before_waits_for_nobody_who_only_begins);
    TEST(what_comes_slowly_is_told_of_as_it_comes);
}
