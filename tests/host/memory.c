/* A host that runs out of memory at each of its library's allocations in turn:
 *
 *     LD_PRELOAD=memory.so memory NAME FIRST STEP LAST TIMES
 *
 * Takes part in a run under this name, again and again: first with the FIRST
 * allocation finding no memory, then with all from there on until there is
 * memory again, then both STEP allocations later, and so on to LAST; all that
 * TIMES times. Exits with another code than 0 where it is not as starswitch.h
 * says: it trains to the end alone and is told, the link goes on when there is
 * memory, and in the end all of it has been freed. */
#include <limits.h>
#include <starswitch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 40, ELEMENTS = 64, PATIENCE = 10000 };

void memory_fails(unsigned long from, unsigned long count);
unsigned long memory_failed(void);
unsigned memory_sites(void);
long memory_blocks(void);

static const unsigned long for_ever = 1000000000;
static unsigned long lives, refused, told, unharmed, unreached;
static long blocks; /* that stay when a link has gone */
static float w[ELEMENTS];

static void fail(int code, unsigned long from, const char *what)
{
    printf("allocation %lu: %s\n", from, what);
    exit(code);
}

static void rest(void)
{
    const struct timespec moment = {0, 1000000};

    (void)nanosleep(&moment, NULL);
}

/* A millisecond's work; whether the program was told that memory is missing. */
static int iterate(struct star_link *link, unsigned long from)
{
    const struct star_progress progress = {
        .size = sizeof progress, .loss = 1, .samples = 1, .accuracy = -1};
    struct star_event event = {.size = sizeof event};
    struct star_state state = {.size = sizeof state};
    int heard = 0;

    w[from % ELEMENTS] += 1;
    if (star_step(link, &progress) != STAR_GO)
        fail(4, from, "the loop was to end");
    rest();
    while (star_poll(link, &event))
        heard |= strcmp(event.event, "no_memory") == 0;
    if (star_look(link, &state) != STAR_OK)
        fail(2, from, "star_look");
    return heard || state.status == STAR_NO_MEMORY;
}

/* Until results are applied again, which is with others' memory, too. */
static void go_on(struct star_link *link, unsigned long from)
{
    struct star_state state = {.size = sizeof state};
    uint64_t before;

    (void)star_look(link, &state);
    before = state.applied;
    for (int i = 0; i < PATIENCE && state.applied < before + 2; i++) {
        (void)iterate(link, from);
        (void)star_look(link, &state);
    }
    if (state.applied < before + 2)
        fail(7, from, state.text);
}

/* The link's threads may be the last to free it. */
static void check_blocks(unsigned long from)
{
    memory_fails(0, 0);
    for (int i = 0; i < PATIENCE && memory_blocks() > blocks; i++)
        rest();
    if (memory_blocks() > blocks)
        fail(8, from, "not all was freed");
}

static void live(const char *name, unsigned long from, unsigned long count)
{
    const struct star_tensor tensors[] = {
        STAR_TENSOR("w", 1, w, NULL, ELEMENTS)};
    struct star_options options = {.size = sizeof options, .quiet = 1};
    struct star_link *link = NULL;
    char error[256] = "";
    int heard = 0;

    options.name = name;
    lives++;
    memory_fails(from, count);
    if (star_attach(&options, tensors, 1, &link, error, sizeof error)) {
        if (!error[0] || link)
            fail(3, from, "refused without a word");
        check_blocks(from);
        refused++;
        return;
    }
    for (int i = 0; i < STEPS; i++)
        heard |= iterate(link, from);
    for (int i = 0; i < PATIENCE && count > 1 && memory_failed() && !heard; i++)
        heard = iterate(link, from);
    if (!memory_failed())
        unreached++;
    else if (heard)
        told++;
    else if (count > 1)
        fail(5, from, "it was not told");
    else
        unharmed++;
    if (from % 2)
        memory_fails(0, 0);
    if (from % 2)
        go_on(link, from);
    (void)star_detach_within(&link, from % 2 ? 5 : 0.1);
    check_blocks(from);
}

int main(int argc, char **argv)
{
    unsigned long first, step, last, times;

    if (argc < 6)
        return 1;
    first = strtoul(argv[2], NULL, 10);
    step = strtoul(argv[3], NULL, 10);
    last = strtoul(argv[4], NULL, 10);
    times = strtoul(argv[5], NULL, 10);
    blocks = LONG_MAX; /* what the C library keeps comes with the first */
    live(argv[1], 1, 0);
    rest();
    blocks = memory_blocks();
    for (unsigned long time = 0; time < times; time++)
        for (unsigned long from = first; from <= last; from += step) {
            live(argv[1], from, 1);
            live(argv[1], from, for_ever);
        }
    printf("%lu lives: %lu refused with a sentence, %lu told, %lu unharmed, "
           "%lu without a failure; %u places\n",
           lives, refused, told, unharmed, unreached, memory_sites());
    return 0;
}
