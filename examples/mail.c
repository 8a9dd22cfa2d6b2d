/* Messages from peer to peer, through the hub: round a ring, or from all to
 * all.
 *
 *     starswitch-hub &
 *     ./mail a 2 100000000 ring & ./mail b 2 100000000 ring
 *
 * that is: name, number of peers, ints per message, ring or all. Each message
 * holds numbers that say whose it is, and every one of them is checked. */
#include <starswitch_group.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS = 32, SECONDS = 600 };

static struct star_group *group;

static void fail(const char *what)
{
    struct star_group_state state = {.size = sizeof state};

    star_group_look(group, &state);
    (void)fprintf(stderr, "rank %u: %s: %s\n", state.rank, what, state.text);
    exit(1);
}

static int number(unsigned from, unsigned to, size_t place)
{
    return (int)((from * 31 + to * 17 + place) & 0x7fffffff);
}

static struct star_request *send(int *data, size_t count, unsigned to)
{
    unsigned rank = star_group_rank(group);
    struct star_request *request;

    for (size_t i = 0; i < count; i++)
        data[i] = number(rank, to, i);
    request = star_group_isend(group, data, count * sizeof *data, to, 7);
    if (!request)
        fail("send");
    return request;
}

static void receive(int *place, size_t count, int source)
{
    unsigned rank = star_group_rank(group);
    struct star_message message = {.size = sizeof message};
    struct star_request *request;

    if (!star_group_mprobe(group, source, 7, SECONDS, &message))
        fail("nobody sends");
    request = star_group_imrecv(group, &message, place, count * sizeof *place);
    if (!request ||
        star_group_wait(group, &request, SECONDS) != STAR_GROUP_SUCCESS)
        fail("receive");
    for (size_t i = 0; i < count; i++)
        if (place[i] != number((unsigned)message.source, rank, i)) {
            (void)fprintf(stderr, "int %zu from rank %d is wrong\n", i,
                          message.source);
            exit(1);
        }
}

/* To the next, from the one before. */
static void ring(int *data, int *place, size_t count)
{
    unsigned rank = star_group_rank(group), size = star_group_size(group);
    struct star_request *request = send(data, count, (rank + 1) % size);

    receive(place, count, (int)((rank + size - 1) % size));
    if (star_group_wait(group, &request, SECONDS) != STAR_GROUP_SUCCESS)
        fail("send");
}

/* To all others at once, each with numbers of its own; from all, whoever is
 * there first. */
static void all_to_all(int *data, int *place, size_t count)
{
    unsigned rank = star_group_rank(group), size = star_group_size(group);
    struct star_request *requests[PEERS] = {NULL};

    for (unsigned i = 0; i < size; i++)
        if (i != rank)
            requests[i] = send(data + i * count, count, i);
    for (unsigned i = 1; i < size; i++)
        receive(place, count, STAR_ANY);
    for (unsigned i = 0; i < size; i++)
        if (i != rank &&
            star_group_wait(group, &requests[i], SECONDS) != STAR_GROUP_SUCCESS)
            fail("send");
}

int main(int argc, char **argv)
{
    struct star_group_options options = {
        .size = sizeof options, .manner = STAR_ELASTIC, .timeout = 60};
    size_t count = argc > 3 ? (size_t)strtod(argv[3], NULL) : 0;
    int all = argc > 4 && strcmp(argv[4], "all") == 0;
    char error[256];
    int *data;

    options.members = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (argc != 5 || options.members < 2 || options.members > PEERS) {
        (void)fprintf(stderr, "mail NAME PEERS INTS ring|all\n");
        return 64;
    }
    data = malloc(((all ? options.members : 1) + 1) * count * sizeof *data);
    if (!data)
        return 70;
    if (star_group_join(NULL, argv[1], &options, &group, error, sizeof error) !=
        STAR_OK) {
        (void)fprintf(stderr, "%s\n", error);
        free(data);
        return 69;
    }
    if (star_group_build(group) != STAR_GROUP_SUCCESS)
        fail("init");
    if (all)
        all_to_all(data, data + options.members * count, count);
    else
        ring(data, data + count, count);
    (void)printf("rank %u: %u messages of %zu ints each way, all right\n",
                 star_group_rank(group), all ? options.members - 1 : 1, count);
    if (star_group_barrier(group) != STAR_GROUP_SUCCESS)
        fail("barrier");
    star_group_leave(&group);
    free(data);
    return 0;
}
