#include "bench/kit/star.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/kit/kit.h"
#include "include/starswitch.h"
#include "keys/invitation.h"
#include "keys/ring.h"

/* Unique on this machine, as nobody else can have the port. */
#define FOLDER "/tmp/starswitch-bench-%u"

enum { OPTIONS = 64, ADDRESS = 64, PATH = 512 };

// ---- keys ----

void star_keys_make(struct star_keys *keys)
{
    struct invitation invitation = {.enrols = true};
    struct ring ring = {.enrols = false};
    struct why why;
    bool made;

    (void)snprintf(keys->folder, sizeof keys->folder,
                   "/tmp/starswitch-bench-keys-%d", (int)getpid());
    if (ring_make(keys->folder, &made, &why) != STATUS_OK ||
        ring_open(keys->folder, &ring, &why) != STATUS_OK)
        give_up("%s", why.text);
    invitation.hub = ring.hub.shown;
    invitation.enrolment = ring.enrolment;
    invitation_print(&invitation, keys->word);
    ring_close(&ring);
}

// ---- the hub ----

/* Programs lie beside the folder of this one. */
static void find_hub(char *path)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH - 32);

    if (length < 0)
        give_up("cannot find starswitch-hub");
    path[length] = 0;
    for (int up = 0; up < 2; up++)
        if (strrchr(path, '/'))
            *strrchr(path, '/') = 0;
    memcpy(path + strlen(path), "/starswitch-hub", sizeof "/starswitch-hub");
}

void star_hub(const struct post *post)
{
    char program[PATH], address[ADDRESS], nodes[16], folder[PATH], said[PATH];
    char *options[OPTIONS] = {
        program, "--listen",   address, "--nodes",      nodes, "--save",
        "24h",   "--init",     "hub",   "--wait",       "60s", "--directory",
        folder,  "--codec-up", "raw",   "--codec-down", "raw"};
    int count = 17, file;

    find_hub(program);
    (void)snprintf(address, sizeof address, "%s:%u", post->address, post->port);
    (void)snprintf(nodes, sizeof nodes, "%u", post->nodes);
    (void)snprintf(folder, sizeof folder, FOLDER, post->port);
    (void)snprintf(said, sizeof said, FOLDER ".out", post->port);
    options[count++] = post->keys ? "--keys" : "--insecure";
    if (post->keys)
        options[count++] = post->keys->folder;
    for (int i = 0; post->extra[i] && count < OPTIONS - 1; i++)
        options[count++] = post->extra[i];
    file = open(said, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    (void)dup2(file, STDOUT_FILENO);
    (void)dup2(file, STDERR_FILENO);
    (void)execv(program, options);
    _exit(1);
}

static void print_last_line(const char *path)
{
    char line[PATH], last[PATH] = "";
    FILE *file = fopen(path, "r");

    while (file && fgets(line, sizeof line, file))
        memcpy(last, line, sizeof last);
    if (file)
        (void)fclose(file);
    (void)fputs(last, stderr);
}

void star_clean(const struct process_star *star)
{
    char path[PATH];

    (void)snprintf(path, sizeof path, FOLDER, star->post.port);
    folder_remove(path);
    (void)snprintf(path, sizeof path, FOLDER ".out", star->post.port);
    if (star->started)
        print_last_line(path);
    (void)remove(path);
    if (star->post.keys)
        folder_remove(star->post.keys->folder);
}

// ---- a node ----

void star_node_attach(struct star_node *node, const struct post *post)
{
    struct star_tensor tensor = {
        .size = sizeof tensor,
        .name = "parameters",
        .rank = 2,
        .shape = {STAR_ROWS, post->elements / STAR_ROWS}};
    char address[ADDRESS], name[32], identity[PATH], error[256];
    struct star_options options = {
        .size = sizeof options, .hub = address, .name = name};

    (void)snprintf(address, sizeof address, "%s:%u", post->address, post->port);
    (void)snprintf(name, sizeof name, "node-%u", post->node);
    if (post->keys) {
        (void)snprintf(identity, sizeof identity, "%s/%s.key_secret",
                       post->keys->folder, name);
        options.key = post->keys->word;
        options.identity = identity;
    }
    memset(node, 0, sizeof *node);
    node->state.size = sizeof node->state;
    node->post = post;
    node->values = pages(post->elements * sizeof *node->values);
    tensor.value = node->values;
    if (star_attach(&options, &tensor, 1, &node->link, error, sizeof error) !=
        STAR_OK)
        give_up("%s", error);
}

void star_node_step(struct star_node *node)
{
    struct star_progress progress = {
        .size = sizeof progress,
        .loss = node->post->scores ? 1 + node->post->node : (double)NAN,
        .samples = 32,
        .accuracy = -1};

    if (star_step(node->link, &progress) != STAR_GO)
        give_up("node %u was told to stop", node->post->node);
    star_look(node->link, &node->state);
}

/* One more result. A step returns at once while the hub is not there yet or
 * waits for other nodes. */
static void run_round(struct star_node *node)
{
    uint64_t applied = node->state.applied;

    while (node->state.applied == applied) {
        uint64_t offered = node->state.offered;

        star_node_step(node);
        if (node->state.offered == offered)
            sleep_until(seconds() + 0.002);
    }
}

/* Moves a part of the parameters, each step the next one. */
static void move(struct star_node *node, unsigned parts, unsigned step)
{
    size_t elements = node->post->elements;
    size_t first = elements / parts * (step % parts);
    size_t last =
        step % parts + 1 == parts ? elements : first + elements / parts;

    drift(node->values + first, last - first, 1);
}

static void run_paced(struct star_node *node, const struct order *order)
{
    double began = seconds(), next = began;

    for (unsigned step = 0; next < began + order->seconds; step++) {
        next += order->step;
        move(node, order->parts ? order->parts : 1, step);
        if (order->step > 0)
            sleep_until(next);
        star_node_step(node);
        if (next < seconds())
            next = seconds();
    }
}

static void obey(struct star_node *node, const struct order *order)
{
    switch (order->kind) {
    case ORDER_DRIFT:
        drift(node->values, node->post->elements,
              (float)(node->post->node + 1));
        break;
    case ORDER_ROUND:
        run_round(node);
        break;
    case ORDER_PACED:
        run_paced(node, order);
        break;
    case ORDER_SHOW:
    default:
        break;
    }
}

static void report(const struct star_node *node, struct answer *answer)
{
    size_t elements = node->post->elements;
    const struct star_state *state = &node->state;

    answer->values[0] = node->values[0];
    answer->values[1] = node->values[elements / 2];
    answer->values[2] = node->values[elements - 1];
    answer->iterations = state->iteration;
    answer->applied = state->applied;
    answer->bytes = state->bytes_up + state->bytes_down;
    answer->inside = state->inside;
    answer->waited = state->waited;
    answer_order(node->post, answer);
}

void star_node(const struct post *post)
{
    struct star_node node;
    struct order order;

    star_node_attach(&node, post);
    while (next_order(post, &order)) {
        struct answer answer = {.begin = seconds()};

        obey(&node, &order);
        answer.end = seconds();
        report(&node, &answer);
    }
}
