/* A host whose library finds no memory, at each of its allocations in turn:
 *
 *     LD_PRELOAD=memory.so memory ONCE EVER
 *
 * Attaches, trains and leaves, ONCE times with one allocation of the library
 * that fails, the first, the second and so on, and EVER times with all of them
 * from there on. What it does is trained on to the end, and told. */
#include <starswitch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 60, ELEMENTS = 64 };

void memory_fails(unsigned long from, unsigned long count);
unsigned long memory_calls(void);
unsigned long memory_failed(void);
unsigned memory_sites(void);

static unsigned long refused, told, quiet;

static void rest(void)
{
    const struct timespec moment = {0, 1000000};

    nanosleep(&moment, NULL);
}

/* Whether it was told that memory is missing. */
static int hear(struct star_link *link)
{
    struct star_event event = {sizeof event, STAR_INFO, 0, "", ""};
    struct star_state state;
    int heard = 0;

    while (star_poll(link, &event))
        heard |= strcmp(event.event, "no_memory") == 0;
    memset(&state, 0, sizeof state);
    state.size = sizeof state;
    if (star_look(link, &state) != STAR_OK)
        exit(2);
    return heard || state.status == STAR_NO_MEMORY;
}

static void live(unsigned long from, unsigned long count)
{
    static float w[ELEMENTS];
    const struct star_tensor tensors[] = {
        STAR_TENSOR("w", 1, w, NULL, ELEMENTS)};
    struct star_options options;
    struct star_progress progress = {sizeof progress, 1, 1, -1};
    struct star_link *link = NULL;
    char error[256] = "";
    int heard = 0;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.name = "host";
    options.quiet = 1;
    memory_fails(from, count);
    if (star_attach(&options, tensors, 1, &link, error, sizeof error)) {
        if (!error[0] || link)
            exit(3);
        memory_fails(0, 0);
        refused++;
        return;
    }
    for (int i = 0; i < STEPS; i++) {
        w[i % ELEMENTS] += 1;
        if (star_step(link, &progress) != STAR_GO)
            exit(4);
        rest();
        heard |= hear(link);
    }
    if (count > 1 && memory_failed() && !heard)
        exit(5);
    told += heard != 0;
    quiet += memory_failed() && !heard;
    if (star_detach_within(&link, 0.1) != STAR_OK && count == 0)
        exit(6);
    memory_fails(0, 0);
}

int main(int argc, char **argv)
{
    unsigned long once = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    unsigned long ever = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

    for (unsigned long i = 1; i <= once; i++)
        live(i, 1);
    for (unsigned long i = 1; i <= ever; i++)
        live(i, 1000000000);
    rest();
    printf("%lu runs: %lu refused with a sentence, %lu told, %lu unharmed; "
           "%u places\n",
           once + ever, refused, told, quiet, memory_sites());
    return 0;
}
