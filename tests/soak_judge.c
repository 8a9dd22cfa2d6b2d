/* What must hold at every step of a soak, beside what machines check
 * themselves. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/soak.h"

void soak_complain(struct soak *soak, const char *format, ...)
{
    va_list arguments;

    if (soak->complaint[0])
        return;
    va_start(arguments, format);
    (void)vsnprintf(soak->complaint, sizeof soak->complaint, format,
                    arguments);
    va_end(arguments);
}

void soak_judge_forget(struct soak *soak)
{
    memset(soak->chunk_versions, 0, sizeof soak->chunk_versions);
    soak->version = 0;
}

/* Whether a result can be read, and what it says is finite. */
static bool is_finite(const struct soak *soak,
                      const struct msg_result *result,
                      const struct blob *payload)
{
    struct extent extent =
        extent_of(soak->exempt, soak->schema->elements,
                  soak->config.hub.chunk_elements, result->chunk);
    double values[SOAK_ELEMENTS] = {0};

    if (!payload_fits(&extent, result->codec, payload->bytes, payload->size))
        return false;
    payload_add(&extent, result->codec, payload->bytes, 0, extent.elements, 1,
                values);
    for (size_t i = 0; i < extent.elements; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* A round has come to it, whatever its policy thought of it. */
static bool is_decided(enum verdict verdict)
{
    return verdict == VERDICT_MERGED || verdict == VERDICT_DECLINED ||
           verdict == VERDICT_REFUTED;
}

/* A chunk has one verdict, however often it is told. It counts as merged twice
 * when two versions of the hub's claim to hold it. */
static void judge_chunk(struct soak *soak,
                        const struct world_message *message,
                        uint64_t exchange, uint32_t chunk,
                        enum verdict verdict)
{
    struct soak_fate *fate =
        &soak->fates[message->node][exchange % SOAK_EXCHANGES];
    const char *name = verdict_words[verdict].text;

    if (fate->incarnation != message->incarnation ||
        fate->exchange != exchange)
        *fate = (struct soak_fate){.incarnation = message->incarnation,
                                   .exchange = exchange};
    if (chunk >= soak->chunks)
        soak_complain(soak, "chunk %u of %u has a verdict", chunk,
                      soak->chunks);
    else if (fate->judged[chunk] && fate->verdict[chunk] != verdict)
        soak_complain(soak,
                      "n%u's exchange %llu chunk %u is %s, and was %s",
                      message->node + 1, (unsigned long long)exchange, chunk,
                      name, verdict_words[fate->verdict[chunk]].text);
    else if (!fate->decided && is_decided(verdict))
        soak->decided_since[message->node]++;
    if (chunk < soak->chunks) {
        fate->decided |= is_decided(verdict);
        fate->judged[chunk] = true;
        fate->verdict[chunk] = verdict;
    }
}

static void judge_version(struct soak *soak,
                          const struct world_message *message)
{
    const struct msg_result *result = &message->msg->result;
    struct soak_fate *fate =
        &soak->fates[message->node][result->exchange % SOAK_EXCHANGES];
    uint64_t *known = &fate->version[result->chunk];

    if (*known && *known != result->version)
        soak_complain(soak,
                      "n%u's exchange %llu chunk %u is in version %llu, and "
                      "was in %llu",
                      message->node + 1,
                      (unsigned long long)result->exchange, result->chunk,
                      (unsigned long long)result->version,
                      (unsigned long long)*known);
    *known = result->version;
}

static void judge_result(struct soak *soak,
                         const struct world_message *message)
{
    const struct msg_result *result = &message->msg->result;
    uint64_t *version;

    if (result->chunk >= soak->chunks) {
        soak_complain(soak, "a result for chunk %u", result->chunk);
        return;
    }
    version = &soak->chunk_versions[result->chunk];
    if (!is_finite(soak, result, message->payload))
        soak_complain(soak, "a result is not finite");
    if (result->exchange) {
        judge_chunk(soak, message, result->exchange, result->chunk,
                    (enum verdict)result->verdict);
        judge_version(soak, message);
    } else if (result->version < *version) {
        soak_complain(soak, "chunk %u goes back from version %llu to %llu",
                      result->chunk, (unsigned long long)*version,
                      (unsigned long long)result->version);
    }
    if (result->version > *version)
        *version = result->version;
}

static void judge_verdict(struct soak *soak,
                          const struct world_message *message)
{
    const struct msg_verdict *verdict = &message->msg->verdict;

    for (uint32_t i = 0; i < verdict->chunks && i < soak->chunks; i++)
        judge_chunk(soak, message, verdict->exchange, verdict->first + i,
                    (enum verdict)verdict->verdict);
}

void soak_judge_message(struct soak *soak,
                        const struct world_message *message)
{
    if (message->to_hub)
        return;
    if (message->msg->kind == MSG_RESULT)
        judge_result(soak, message);
    else if (message->msg->kind == MSG_VERDICT)
        judge_verdict(soak, message);
}

static void judge_hub(struct soak *soak)
{
    struct hub_view view;

    hub_look(world_hub(soak->world), world_now(soak->world), &view);
    if (view.version < soak->version)
        soak_complain(soak, "the centre goes back from version %llu to %llu",
                      (unsigned long long)soak->version,
                      (unsigned long long)view.version);
    soak->version = view.version;
}

static void judge_trainer(struct soak *soak, unsigned node)
{
    const float *x = trainer_values(world_trainer(soak->world, node));

    for (uint64_t i = 0; i < soak->schema->elements; i++)
        if (!isfinite(x[i]))
            soak_complain(soak, "a parameter of n%u is not finite", node + 1);
}

/* The hub sends no node what it cannot use. */
static void judge_notes(struct soak *soak, const struct world_step *step)
{
    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind == EFFECT_NOTE &&
            effect->note.kind == NOTE_DETACHED &&
            strstr(effect->note.text, "result"))
            soak_complain(soak, "n%u leaves the hub: %s", step->process + 1,
                          effect->note.text);
    }
}

void soak_judge_step(void *context, const struct world_step *step)
{
    struct soak *soak = context;

    if (step->process != WORLD_HUB)
        judge_notes(soak, step);

    if (step->process == WORLD_HUB)
        judge_hub(soak);
    else if (step->trainer)
        judge_trainer(soak, step->process);
}
