#include "record/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/options.h"
#include "hub/configure.h"

/* A hub that does it again. */
struct again {
    struct hub *hub;
    const struct work *evaluate;
    struct effects effects;
    struct form lines;
    struct job **jobs; /* that it wants done */
    size_t job_count, job_room;
    struct replay *out;
};

/* ---- settings ---- */

static void do_nothing(struct job *job)
{
    (void)job;
}

static const struct work *stand_in(struct work *work, const char *name)
{
    *work = (struct work){name, do_nothing, NULL};
    return name[0] ? work : NULL;
}

enum status replay_configure(const struct journal_head *head,
                             struct replay_works *works, struct hub_config *out,
                             struct why *why)
{
    struct options options;
    struct why detail = {""};
    enum status status;

    options_defaults(&options);
    status = options_parse_config_text(&options, PROGRAM_HUB, head->settings,
                                       strlen(head->settings), &detail);
    if (status == STATUS_OK)
        status = hub_configure(&options, out, &detail);
    if (status != STATUS_OK)
        return because(why, STATUS_CONFIG,
                       "the journal is of another version "
                       "of starswitch-hub: its settings: %s",
                       detail.text);
    out->run = head->run;
    out->secret[0] = head->secret[0];
    out->secret[1] = head->secret[1];
    out->life = head->life;
    out->save_interval = options.save;
    out->save = stand_in(&works->save, head->save);
    out->evaluate = stand_in(&works->evaluate, head->evaluate);
    return STATUS_OK;
}

/* ---- jobs ---- */

static void keep_job(struct again *again, struct effect *effect)
{
    if (again->job_count == again->job_room) {
        size_t room = 2 * again->job_room + 64;
        struct job **jobs =
            realloc((void *)again->jobs, room * sizeof(struct job *));

        if (!jobs)
            abort();
        again->jobs = jobs;
        again->job_room = room;
    }
    again->jobs[again->job_count++] = effect->job;
    effect->job = NULL;
}

/* The job that the step says is done, taken from the list, or NULL. */
static struct job *take_job(struct again *again,
                            const struct journal_step *step)
{
    for (size_t i = 0; i < again->job_count; i++) {
        struct job *job = again->jobs[i];

        if (job->id != step->job || strcmp(job->work->name, step->work) != 0)
            continue;
        again->jobs[i] = again->jobs[--again->job_count];
        return job;
    }
    return NULL;
}

/* ---- differences ---- */

static enum status differs(const struct again *again,
                           const struct journal_step *step, const char *what,
                           struct why *why)
{
    double at = (double)(step->event.now - again->out->first) / (double)SECOND;

    return because(why, STATUS_BUG,
                   "step %" PRIu64 " at %.6f s: %s: this hub "
                   "is of another version than the journal's, or is broken",
                   step->number, at, what);
}

/* The line at `from` of text that is `size` long, or words for none. */
static void copy_line(const char *text, size_t size, size_t from,
                      char out[TRANSCRIPT_BYTES])
{
    const char *end =
        from < size ? memchr(text + from, '\n', size - from) : NULL;

    (void)snprintf(out, TRANSCRIPT_BYTES, "%.*s",
                   end ? (int)(end - text - (ptrdiff_t)from) : 7,
                   end ? text + from : "nothing");
}

/* Compares what was done with what the journal says. */
static enum status compare(struct again *again, const struct journal_step *step,
                           struct why *why)
{
    const char *done = (const char *)again->lines.bytes;
    size_t size = again->lines.length, line = 0, i = 0;

    while (i < size && i < step->size && done[i] == step->lines[i])
        if (done[i++] == '\n')
            line = i;
    if (i == size && i == step->size)
        return STATUS_OK;
    copy_line(step->lines, step->size, line, again->out->said);
    copy_line(done, size, line, again->out->done);
    return differs(again, step, "the hub did something else", why);
}

/* ---- steps ---- */

/* Does the job that the event says is done; `event` gets it. */
static enum status do_job(struct again *again, struct journal_step *step,
                          struct why *why)
{
    struct job *job = take_job(again, step);
    enum status status = STATUS_OK;

    step->event.job = job;
    (void)snprintf(again->out->said, sizeof again->out->said,
                   "done %s #%" PRIu64 " %s", step->work, step->job,
                   status_name(step->status));
    if (!job) {
        (void)snprintf(again->out->done, sizeof again->out->done,
                       "it was never begun");
        return differs(again, step, "a job is done that the hub has not begun",
                       why);
    }
    if (step->given && !journal_give(step, again->evaluate, job))
        return differs(again, step, "what a job came to is not that job's",
                       why);
    if (!step->given) {
        job_run(job);
        again->out->jobs++;
    }
    (void)snprintf(again->out->done, sizeof again->out->done,
                   "done %s #%" PRIu64 " %s", step->work, step->job,
                   status_name(job->status));
    if (job->status != step->status)
        status = differs(again, step, "a job has ended otherwise", why);
    return status;
}

static void take_effects(struct again *again)
{
    again->lines.length = 0;
    journal_lines(&again->effects, &again->lines);
    for (unsigned i = 0; i < again->effects.count; i++)
        if (again->effects.list[i].kind == EFFECT_JOB)
            keep_job(again, &again->effects.list[i]);
}

static enum status do_step(struct again *again, struct journal_step *step,
                           struct why *why)
{
    const struct machine machine = hub_machine(again->hub);
    struct replay *out = again->out;
    enum status status = STATUS_OK;

    if (step->number == 1)
        out->first = step->event.now;
    out->last = step->event.now;
    if (step->event.kind == EVENT_DONE)
        status = do_job(again, step, why);
    if (step->event.kind != EVENT_DONE || step->event.job)
        (void)transcript_event(&step->event, out->event, sizeof out->event);
    if (status == STATUS_OK) {
        machine.step(machine.self, &step->event, &again->effects);
        take_effects(again);
        status = compare(again, step, why);
    }
    if (status == STATUS_OK) {
        out->steps++;
        out->effects += again->effects.count;
        out->bytes += step->event.payload ? step->event.payload->size : 0;
    }
    effects_clear(&again->effects);
    job_destroy(&step->event.job);
    return status;
}

static void again_free(struct again *again)
{
    for (size_t i = 0; i < again->job_count; i++)
        job_destroy(&again->jobs[i]);
    free((void *)again->jobs);
    free(again->lines.bytes);
    effects_free(&again->effects);
    hub_destroy(&again->hub);
}

enum status replay_run(struct journal_reader *reader,
                       const struct hub_config *config, struct pool *pool,
                       struct replay *out, struct why *why)
{
    const struct hub_saved *saved = &journal_head(reader)->saved;
    struct again again = {
        .hub = hub_new(config, pool), .evaluate = config->evaluate, .out = out};
    struct journal_step step;
    enum status status = STATUS_OK;

    memset(out, 0, sizeof *out);
    if (saved->schema)
        status = hub_restore(again.hub, saved, why);
    while (status == STATUS_OK) {
        status = journal_next(reader, pool, &step, why);
        if (status == STATUS_OK)
            status = do_step(&again, &step, why);
    }
    again_free(&again);
    return status == STATUS_AGAIN ? STATUS_OK : status;
}

enum status replay_file(const char *path, struct replay *out, struct why *why)
{
    struct journal_reader *reader = NULL;
    struct pool *pool = pool_new();
    struct hub_config config = {0};
    struct replay_works works;
    enum status status = STATUS_NO_MEMORY;

    memset(out, 0, sizeof *out);
    if (pool)
        status = journal_read(path, &reader, why);
    if (status == STATUS_OK)
        status = replay_configure(journal_head(reader), &works, &config, why);
    if (status == STATUS_OK)
        status = replay_run(reader, &config, pool, out, why);
    journal_read_close(&reader);
    pool_destroy(&pool);
    return status;
}
