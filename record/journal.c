#include "record/journal.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "hub/work.h"
#include "seam/transcript.h"

struct journal {
    struct spool *spool;
    const struct work *save, *evaluate;
    uint64_t frames;
    struct form body, lines;
};

/* Writes the body as a frame, and begins a new one. */
static void end_frame(struct journal *journal, const void *payload, size_t size)
{
    uint64_t checksum = XXH3_64bits_withSeed(
        journal->body.bytes, journal->body.length, journal->frames++);
    const uint64_t numbers[] = {journal->body.length, size,
                                XXH3_64bits_withSeed(payload, size, checksum)};

    spool_write(journal->spool, numbers, sizeof numbers);
    spool_write(journal->spool, journal->body.bytes, journal->body.length);
    spool_write(journal->spool, payload, size);
    journal->body.length = 0;
}

/* ---- head ---- */

static void add_work(struct form *form, const struct work *work)
{
    const char *name = work ? work->name : "";

    form_string(form, name, strlen(name));
}

static unsigned slots_of(const struct hub_saved *saved)
{
    unsigned slots = 0;

    while (slots < POLICY_SLOTS && saved->slot[slots])
        slots++;
    return slots;
}

static void write_head(struct journal *journal, const struct journal_of *of)
{
    const struct hub_saved *saved = of->saved;

    form_bytes(&journal->body, "H", 1);
    form_string(&journal->body, of->settings, strlen(of->settings));
    form_number(&journal->body, of->config->run);
    form_number(&journal->body, of->config->secret[0]);
    form_number(&journal->body, of->config->secret[1]);
    form_number(&journal->body, of->config->life);
    add_work(&journal->body, of->config->save);
    add_work(&journal->body, of->config->evaluate);
    form_number(&journal->body, saved ? 1 + slots_of(saved) : 0);
    end_frame(journal, "", 0);
    spool_step(journal->spool);
}

static void write_saved(struct journal *journal, const struct hub_saved *saved)
{
    size_t size = (size_t)saved->schema->elements * sizeof(float);
    unsigned slots = slots_of(saved);

    form_bytes(&journal->body, "V", 1);
    form_string(&journal->body, saved->schema->text, saved->schema->text_bytes);
    form_string(&journal->body, saved->state, strlen(saved->state));
    end_frame(journal, saved->theta, size);
    spool_step(journal->spool);
    for (unsigned i = 0; i < slots; i++) {
        form_bytes(&journal->body, "V", 1);
        end_frame(journal, saved->slot[i], size);
        spool_step(journal->spool);
    }
}

enum status journal_open(const char *path, const struct journal_of *of,
                         struct spool_complaint complaint, struct journal **out,
                         struct why *why)
{
    struct journal *journal = calloc(1, sizeof *journal);
    enum status status;

    if (!journal)
        return because(why, STATUS_NO_MEMORY, "no memory for a journal");
    status = spool_open(path, complaint, &journal->spool, why);
    if (status != STATUS_OK) {
        free(journal);
        return status;
    }
    journal->save = of->config->save;
    journal->evaluate = of->config->evaluate;
    spool_write(journal->spool, JOURNAL_FORMAT "\n", sizeof JOURNAL_FORMAT);
    write_head(journal, of);
    if (of->saved)
        write_saved(journal, of->saved);
    *out = journal;
    return STATUS_OK;
}

/* ---- steps ---- */

/* Whether a job does what a replay cannot: files, data, and proofs, whose key
 * is in no journal. */
static bool is_foreign(const struct journal *journal, const struct job *job)
{
    return job->work == journal->save || job->work == journal->evaluate ||
           job->work == &work_manifest || job->work == &work_proof ||
           (job->work == &work_judge && journal->evaluate);
}

static void add_judgement(struct form *form, const struct job *job)
{
    const struct judge_order *order =
        (const struct judge_order *)(const void *)job->in[0].blob->bytes;

    form_number(form, order->count);
    for (unsigned i = 0; i < order->count; i++) {
        form_real(form, order->one[i].weight);
        form_real(form, order->one[i].candidate.score);
        form_number(form, order->one[i].candidate.verified);
    }
}

static void add_scores(struct form *form, const struct score_job *score)
{
    form_real(form, score->loss);
    form_real(form, score->accuracy);
    form_real(form, score->error);
}

static void add_output(const struct journal *journal, struct form *form,
                       const struct job *job)
{
    for (unsigned i = 0; i < JOB_OUTPUTS; i++) {
        const struct blob *out = job->out[i];

        form_number(form, out != NULL);
        if (out)
            form_string(form, out->bytes, out->size);
    }
    if (job->work == &work_judge)
        add_judgement(form, job);
    if (job->work == journal->evaluate)
        add_scores(form, (const struct score_job *)job);
}

static void add_job(struct journal *journal, const struct job *job)
{
    struct form *form = &journal->body;
    bool given = is_foreign(journal, job);

    add_work(form, job->work);
    form_number(form, job->id);
    form_number(form, job->status);
    form_number(form, given);
    if (given)
        add_output(journal, form, job);
}

static void add_event(struct journal *journal, const struct event *event)
{
    struct form *form = &journal->body;
    const struct blob *payload = event->payload;

    form_bytes(form, "S", 1);
    form_number(form, (uint64_t)event->now);
    form_number(form, event->kind);
    form_number(form, event->peer);
    form_number(form, event->channel);
    form_number(form, event->key);
    form_number(form, payload != NULL);
    form_number(form, payload ? payload->wire_bytes : 0);
    form_number(form, payload ? payload->checksum : 0);
    if (event->kind == EVENT_MESSAGE)
        form_message(form, event->msg);
    if (event->kind == EVENT_DONE)
        add_job(journal, event->job);
}

void journal_lines(const struct effects *effects, struct form *out)
{
    char line[TRANSCRIPT_BYTES];

    for (unsigned i = 0; i < effects->count; i++) {
        struct effect effect = effects->list[i];
        struct blob sealed = {.size = 0};

        if (effect.payload) {
            sealed.size = effect.payload->size;
            sealed.checksum = effect.payload->checksum;
            if (!sealed.checksum)
                sealed.checksum =
                    XXH3_64bits(effect.payload->bytes, effect.payload->size);
            effect.payload = &sealed;
        }
        form_bytes(out, line, transcript_effect(&effect, line, sizeof line));
        form_bytes(out, "\n", 1);
    }
}

void journal_step(void *of, const struct event *event,
                  const struct effects *effects)
{
    struct journal *journal = of;
    const struct blob *payload = event->payload;

    if (!journal || !spool_works(journal->spool))
        return;
    journal->lines.length = 0;
    journal_lines(effects, &journal->lines);
    add_event(journal, event);
    form_string(&journal->body, journal->lines.bytes, journal->lines.length);
    end_frame(journal, payload ? payload->bytes : NULL,
              payload ? payload->size : 0);
    spool_step(journal->spool);
}

void journal_close(struct journal **reference)
{
    struct journal *journal = *reference;

    *reference = NULL;
    if (!journal)
        return;
    form_bytes(&journal->body, "E", 1);
    end_frame(journal, "", 0);
    spool_close(&journal->spool);
    free(journal->body.bytes);
    free(journal->lines.bytes);
    free(journal);
}
