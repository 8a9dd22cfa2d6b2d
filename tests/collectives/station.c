#include "tests/collectives/station.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/net/toys.h"

static void count_note(void *self, nanos now, const struct note *note)
{
    struct station *station = self;

    (void)now;
    (void)pthread_mutex_lock(&station->lock);
    station->notes[note->kind]++;
    if (note->kind == NOTE_SAID)
        memcpy(station->said, note->text, sizeof station->said);
    (void)pthread_mutex_unlock(&station->lock);
}

unsigned station_notes(struct station *station, enum note_kind kind)
{
    unsigned count;

    (void)pthread_mutex_lock(&station->lock);
    count = station->notes[kind];
    (void)pthread_mutex_unlock(&station->lock);
    return count;
}

static void *serve(void *self)
{
    struct station *station = self;

    net_run(station->net);
    return NULL;
}

struct station *station_new(void)
{
    struct station *station = calloc(1, sizeof *station);
    const struct preset *mean = preset_find("mean");
    struct net_owner owner = {.self = station, .note = count_note};
    struct net_config config = {.chunk_bytes = 64, .window = 4, .workers = 1};
    struct hub_config hub = {.run = 7, .chunk_elements = 16, .window = 4};
    enum status status = STATUS_UNAVAILABLE;
    struct why why;

    if (!station || !mean)
        abort();
    hub.policy = mean->policy;
    (void)pthread_mutex_init(&station->lock, NULL);
    (void)sigemptyset(&config.signals);
    (void)snprintf(config.host, sizeof config.host, "127.0.0.1");
    station->pool = pool_new();
    station->hub = hub_new(&hub, station->pool);
    for (int tries = 0; status != STATUS_OK && tries < 200; tries++) {
        config.port = toy_next_port();
        status = net_open_hub(&config, hub_machine(station->hub), station->pool,
                              &owner, &station->net, &why);
    }
    if (status != STATUS_OK ||
        pthread_create(&station->thread, NULL, serve, station) != 0)
        abort();
    (void)snprintf(station->address, sizeof station->address, "127.0.0.1:%u",
                   config.port);
    return station;
}

void station_destroy(struct station **reference)
{
    struct station *station = *reference;

    *reference = NULL;
    net_stop(station->net);
    (void)pthread_join(station->thread, NULL);
    net_close(&station->net);
    hub_destroy(&station->hub);
    pool_destroy(&station->pool);
    (void)pthread_mutex_destroy(&station->lock);
    free(station);
}

static void keep_quiet(void *context, enum star_level level, const char *event,
                       const char *sentence)
{
    (void)context;
    (void)level;
    (void)event;
    (void)sentence;
}

struct star_group *station_join(struct station *station, const char *name,
                                const struct star_group_options *options)
{
    struct star_group_options quiet = *options;
    struct star_group *group = NULL;
    char error[256];

    quiet.log = keep_quiet;
    if (!(quiet.timeout > 0))
        quiet.timeout = 30;
    if (star_group_join(station->address, name, &quiet, &group, error,
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
    program->group = station_join(program->station, name, &program->options);
    result = program->run(program);
    star_group_leave(&program->group);
    return (void *)result; // NOLINT(performance-no-int-to-ptr): a number
}

int station_run(struct station *station, unsigned count,
                const struct star_group_options *options,
                int (*run)(struct program *program), struct program *programs)
{
    pthread_t threads[STATION_MEMBERS];
    intptr_t largest = 0;
    void *result;

    for (unsigned i = 0; i < count; i++) {
        programs[i] = (struct program){
            .station = station, .options = *options, .place = i, .run = run};
        programs[i].options.size = count;
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
