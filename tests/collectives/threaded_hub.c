#include "tests/collectives/threaded_hub.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/net/fake_machine.h"

static void count_note(void *self, nanos now, const struct note *note)
{
    struct threaded_hub *hub = self;

    (void)now;
    (void)pthread_mutex_lock(&hub->lock);
    hub->notes[note->kind]++;
    if (note->kind == NOTE_SAID)
        memcpy(hub->said, note->text, sizeof hub->said);
    (void)pthread_mutex_unlock(&hub->lock);
}

unsigned threaded_notes(struct threaded_hub *hub, enum note_kind kind)
{
    unsigned count;

    (void)pthread_mutex_lock(&hub->lock);
    count = hub->notes[kind];
    (void)pthread_mutex_unlock(&hub->lock);
    return count;
}

static void *serve(void *self)
{
    struct threaded_hub *hub = self;

    net_run(hub->net);
    return NULL;
}

struct threaded_hub *threaded_new(void)
{
    struct threaded_hub *hub = calloc(1, sizeof *hub);
    const struct preset *mean = preset_find("mean");
    struct net_owner owner = {.self = hub, .note = count_note};
    struct net_config config = {.chunk_bytes = 64, .window = 4, .workers = 1};
    struct hub_config plan = {.run = 7, .chunk_elements = 16, .window = 4};
    enum status status = STATUS_UNAVAILABLE;
    struct why why;

    if (!hub || !mean)
        abort();
    plan.policy = mean->policy;
    (void)pthread_mutex_init(&hub->lock, NULL);
    (void)sigemptyset(&config.signals);
    (void)snprintf(config.host, sizeof config.host, "127.0.0.1");
    hub->pool = pool_new();
    hub->hub = hub_new(&plan, hub->pool);
    for (int tries = 0; status != STATUS_OK && tries < 200; tries++) {
        config.port = fake_next_port();
        status = net_open_hub(&config, hub_machine(hub->hub), hub->pool, &owner,
                              &hub->net, &why);
    }
    if (status != STATUS_OK ||
        pthread_create(&hub->thread, NULL, serve, hub) != 0)
        abort();
    (void)snprintf(hub->address, sizeof hub->address, "127.0.0.1:%u",
                   config.port);
    return hub;
}

void threaded_destroy(struct threaded_hub **reference)
{
    struct threaded_hub *hub = *reference;

    *reference = NULL;
    net_stop(hub->net);
    (void)pthread_join(hub->thread, NULL);
    net_close(&hub->net);
    hub_destroy(&hub->hub);
    pool_destroy(&hub->pool);
    (void)pthread_mutex_destroy(&hub->lock);
    free(hub);
}

struct star_group *threaded_join(struct threaded_hub *hub, const char *name,
                                 const struct star_group_options *options)
{
    struct star_group_options quiet = *options;
    struct star_group *group = NULL;
    char error[256];

    quiet.quiet = 1;
    if (!(quiet.timeout > 0))
        quiet.timeout = 30;
    if (star_group_join(hub->address, name, &quiet, &group, error,
                        sizeof error) != STAR_OK)
        abort();
    return group;
}

static void *play(void *self)
{
    struct program *program = self;
    char name[16];
    intptr_t result;

    (void)snprintf(name, sizeof name, "m%u", program->place);
    program->group = threaded_join(program->hub, name, &program->options);
    result = program->run(program);
    star_group_leave(&program->group);
    return (void *)result; // NOLINT(performance-no-int-to-ptr): a number
}

int threaded_run(struct threaded_hub *hub, unsigned count,
                 const struct star_group_options *options,
                 int (*run)(struct program *program), struct program *programs)
{
    pthread_t threads[THREADED_MEMBERS];
    intptr_t largest = 0;
    void *result;

    for (unsigned i = 0; i < count; i++) {
        programs[i] = (struct program){
            .hub = hub, .options = *options, .place = i, .run = run};
        programs[i].options.members = count;
        if (pthread_create(&threads[i], NULL, play, &programs[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < count; i++) {
        (void)pthread_join(threads[i], &result);
        if ((intptr_t)result > largest)
            largest = (intptr_t)result;
    }
    return (int)largest;
}

static void *interrupt(void *self)
{
    const struct timespec moment = {0, 1000000};
    struct interrupter *interrupter = self;

    while (!interrupter->over) {
        star_group_interrupt(interrupter->group);
        (void)nanosleep(&moment, NULL);
    }
    return NULL;
}

void interrupter_start(struct interrupter *interrupter,
                       struct star_group *group)
{
    interrupter->group = group;
    interrupter->over = false;
    if (pthread_create(&interrupter->thread, NULL, interrupt, interrupter))
        abort();
}

void interrupter_stop(struct interrupter *interrupter)
{
    interrupter->over = true;
    (void)pthread_join(interrupter->thread, NULL);
}
