/* Draws faults from the seed and lets them happen. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/prng.h"
#include "net/net.h"
#include "tests/chaos/stage.h"

#define TICK (5 * MILLISECOND)
#define SAID_EVERY (10 * SECOND)
#define LONGEST_END (60 * SECOND)

struct row {
    const char *name;
    enum whom whom;
    double mean, least, most; /* seconds */
    act *begin, *end;
    const char *doc;
};

static const struct row rows[FAULTS] = {
#define FAULT(NAME, ...) [FAULT_##NAME] = {__VA_ARGS__},
#include "tests/chaos/faults.def"
#undef FAULT
};

const char *fault_name(enum fault fault)
{
    return rows[fault].name;
}

void drive_init(struct drive *drive)
{
    *drive = (struct drive){.seed = 1,
                            .nodes = 8,
                            .time = 60 * SECOND,
                            .quiet = 30 * SECOND,
                            .programs = "build",
                            .settings = ""};
    for (int i = 0; i < FAULTS; i++)
        drive->mean[i] = rows[i].mean;
}

bool drive_set_mean(struct drive *drive, const char *text)
{
    size_t length = strcspn(text, "=");
    bool found = false;

    for (int i = 0; i < FAULTS && text[length]; i++)
        if (strncmp(text, "all", length) == 0 ||
            (strlen(rows[i].name) == length &&
             strncmp(text, rows[i].name, length) == 0)) {
            drive->mean[i] = strtod(text + length + 1, NULL);
            found = true;
        }
    return found;
}

void drive_help(void)
{
    for (int i = 0; i < FAULTS; i++)
        (void)printf("  %-9s %4g s  for %g to %g s: %s\n", rows[i].name,
                     rows[i].mean, rows[i].least, rows[i].most, rows[i].doc);
}

/* ---- the course of it ---- */

static nanos seconds(double count)
{
    return (nanos)(count * (double)SECOND);
}

static void draw_turn(struct stage *stage, struct actor *actor,
                      enum fault fault)
{
    const struct row *row = &rows[fault];
    double mean = stage->drive->mean[fault];
    double wait =
        actor->on[fault]
            ? row->least + prng_unit(&stage->prng) * (row->most - row->least)
            : (double)stage->drive->rest / (double)SECOND -
                  mean * log1p(-prng_unit(&stage->prng));
    bool never = mean <= 0 || (row->whom == HUB) != (actor->index == 0);

    actor->turn[fault] = never ? NEVER : net_now() + seconds(wait);
}

static bool is_deadly(enum fault fault)
{
    return rows[fault].end == revive_actor;
}

/* What is dead cannot be killed or stopped. */
static bool is_possible(const struct actor *actor, enum fault fault)
{
    return actor->pid || (!is_deadly(fault) && rows[fault].begin != stop_actor);
}

static void begin_fault(struct stage *stage, struct actor *actor,
                        enum fault fault)
{
    if (is_possible(actor, fault)) {
        log_line(stage->log, "begin %s %s %u", rows[fault].name, actor->name,
                 actor->life);
        rows[fault].begin(stage, actor, fault);
        stage->begins[fault]++;
        actor->on[fault] = true;
    }
    draw_turn(stage, actor, fault);
}

static void end_fault(struct stage *stage, struct actor *actor,
                      enum fault fault)
{
    rows[fault].end(stage, actor, fault);
    log_line(stage->log, "end %s %s %u", rows[fault].name, actor->name,
             actor->life);
    actor->on[fault] = false;
    draw_turn(stage, actor, fault);
}

static void take_turns(struct stage *stage, struct actor *actor)
{
    for (int i = 0; i < FAULTS; i++)
        if (net_now() >= actor->turn[i]) {
            if (actor->on[i])
                end_fault(stage, actor, (enum fault)i);
            else
                begin_fault(stage, actor, (enum fault)i);
        }
}

/* Notices who has ended of itself: it is started again a second later, as a
 * supervisor would. */
static void look_after(struct stage *stage, struct actor *actor)
{
    int status = 0;

    if (actor->pid && waitpid(actor->pid, &status, WNOHANG) == actor->pid) {
        log_line(stage->log, "gone %s %u %d", actor->name, actor->life,
                 WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                     : WEXITSTATUS(status));
        actor->pid = 0;
        actor->restart = net_now() + SECOND;
    }
    if (!actor->pid && net_now() >= actor->restart)
        actor_start(actor, stage->drive, stage->log);
}

/* The hub's resident set, once a second. */
static void measure(struct stage *stage)
{
    char path[64], text[128] = "";
    nanos now = net_now();
    FILE *file;

    if (!stage->actors[0].pid || now - stage->measured < SECOND)
        return;
    stage->measured = now;
    (void)snprintf(path, sizeof path, "/proc/%d/statm",
                   (int)stage->actors[0].pid);
    file = fopen(path, "re");
    if (file && fgets(text, sizeof text, file) && strchr(text, ' '))
        log_line(stage->log, "memory %lld",
                 strtoll(strchr(text, ' '), NULL, 10) * sysconf(_SC_PAGESIZE));
    if (file)
        (void)fclose(file);
}

static void say(struct stage *stage)
{
    nanos now = net_now();

    if (now - stage->said < SAID_EVERY)
        return;
    stage->said = now;
    (void)printf("%5" PRId64 " s:", (now - stage->begun) / SECOND);
    for (int i = 0; i < FAULTS; i++)
        if (stage->begins[i])
            (void)printf(" %s %u", rows[i].name, stage->begins[i]);
    (void)printf("\n");
    (void)fflush(stdout);
}

/* Calls `act` for each process until `until`. */
static void play(struct stage *stage, nanos until,
                 void (*turn)(struct stage *stage, struct actor *actor))
{
    const struct timespec tick = {0, TICK};
    unsigned most = stage->drive->most_hub_kills;

    while (net_now() < until) {
        for (unsigned i = 0; i <= stage->drive->nodes; i++) {
            look_after(stage, &stage->actors[i]);
            if (turn)
                turn(stage, &stage->actors[i]);
        }
        measure(stage);
        say(stage);
        if (turn && most && stage->begins[FAULT_HUB_KILL] >= most)
            return;
        (void)nanosleep(&tick, NULL);
    }
}

static void raise_curtain(struct stage *stage)
{
    for (unsigned i = 0; i <= stage->drive->nodes; i++) {
        struct actor *actor = &stage->actors[i];

        actor->index = i;
        (void)snprintf(actor->name, sizeof actor->name, i ? "n%u" : "hub", i);
        actor_start(actor, stage->drive, stage->log);
        for (int j = 0; j < FAULTS; j++)
            draw_turn(stage, actor, (enum fault)j);
    }
}

static void heal(struct stage *stage)
{
    for (unsigned i = 0; i <= stage->drive->nodes; i++)
        for (int j = 0; j < FAULTS; j++)
            if (stage->actors[i].on[j])
                end_fault(stage, &stage->actors[i], (enum fault)j);
    log_line(stage->log, "quiet");
}

/* Has the hub end the run; false: it does not answer. */
static bool order_end(const struct stage *stage)
{
    const struct drive *drive = stage->drive;
    char hub[PATH_ROOM], ctl[] = "ctl", end[] = "end", run[PATH_ROOM];
    char option[] = "--directory";
    char *words[] = {hub, ctl, end, option, run, NULL};

    (void)snprintf(hub, sizeof hub, "%s/starswitch-hub", drive->programs);
    (void)snprintf(run, sizeof run, "%s/disk/run", drive->folder);
    return command_run(words);
}

/* The hub ends the run, and all nodes with it; who does not is killed. */
static bool close_run(struct stage *stage)
{
    const struct timespec tick = {0, TICK};
    nanos until = net_now() + LONGEST_END;
    bool asked = false;
    unsigned left = 1;

    log_line(stage->log, "close");
    while (left && net_now() < until) {
        asked = asked || order_end(stage);
        left = 0;
        for (unsigned i = 0; i <= stage->drive->nodes; i++) {
            look_after(stage, &stage->actors[i]);
            stage->actors[i].restart = NEVER;
            left += stage->actors[i].pid != 0;
        }
        (void)nanosleep(&tick, NULL);
    }
    for (unsigned i = 0; i <= stage->drive->nodes; i++)
        if (stage->actors[i].pid)
            kill_actor(stage, &stage->actors[i], FAULT_KILL);
    return left == 0;
}

/* The disk goes with the mount namespace. */
static bool keep_centre(const struct drive *drive)
{
    char from[PATH_ROOM], to[PATH_ROOM], copy[] = "cp";
    char *words[] = {copy, from, to, NULL};

    (void)snprintf(from, sizeof from, "%s/disk/run/current/centre.safetensors",
                   drive->folder);
    (void)snprintf(to, sizeof to, "%s/centre.safetensors", drive->folder);
    return command_run(words);
}

int drive_run(const struct drive *drive)
{
    static struct stage stage;
    char path[PATH_ROOM];
    bool ended;

    (void)snprintf(path, sizeof path, "%s/chaos", drive->folder);
    stage = (struct stage){.drive = drive, .log = fopen(path, "we")};
    if (!stage.log) {
        perror(path);
        return 1;
    }
    prng_seed(&stage.prng, drive->seed);
    stage.begun = stage.said = net_now();
    raise_curtain(&stage);
    play(&stage, stage.begun + drive->time, take_turns);
    heal(&stage);
    play(&stage, net_now() + drive->quiet, NULL);
    ended = close_run(&stage) && (!drive->counted || keep_centre(drive));
    (void)fclose(stage.log);
    return ended ? 0 : 1;
}
