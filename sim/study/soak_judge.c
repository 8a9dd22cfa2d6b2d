/* What must hold at every step of a life, beside what machines check
 * themselves. */
#include <math.h>
#include <string.h>

#include "core/fragment.h"
#include "sim/study/soak_inside.h"
#include "sim/trace/lines.h"

/* For printf. */
#define ull unsigned long long

/* Whether a result can be read, and what it says is finite; NULL: its node
 * knows it. */
static bool is_finite(const struct life *life, const struct msg_result *result,
                      const struct blob *payload)
{
    struct extent extent =
        extent_of(life->exempt, life->schema->elements,
                  life->config.hub.chunk_elements, result->chunk);
    double values[SOAK_NUMBERS] = {0};

    if (!payload)
        return true;
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

static unsigned judged_of(const struct life *life, const struct soak_fate *fate)
{
    unsigned judged = 0;

    for (uint32_t i = 0; i < life->chunks; i++)
        judged += fate->judged[i];
    return judged;
}

static bool is_answered(const struct life *life, const struct soak_fate *fate)
{
    return judged_of(life, fate) >= fate->awaited;
}

static void complain_of_owed(struct life *life, unsigned node,
                             const struct soak_fate *fate)
{
    life_complain(life,
                  "n%u's exchange %llu has %u verdicts for %u chunks, and "
                  "later ones are answered",
                  node + 1, (ull)fate->exchange, judged_of(life, fate),
                  fate->awaited);
}

/* What is known of an exchange of a node; of an older one it is forgotten. */
static struct soak_fate *fate_of(struct life *life,
                                 const struct world_message *message,
                                 uint64_t exchange)
{
    struct soak_fate *fate =
        &life->judge.fates[message->node][exchange % SOAK_EXCHANGES];

    if (fate->incarnation != message->incarnation ||
        fate->exchange != exchange) {
        if (fate->owed)
            complain_of_owed(life, message->node, fate);
        *fate = (struct soak_fate){.incarnation = message->incarnation,
                                   .exchange = exchange};
    }
    return fate;
}

/* Nothing is owed of it any more. */
static void settle(struct life *life, struct soak_fate *fate)
{
    life->judge.owed -= fate->owed;
    fate->owed = false;
}

/* Whether the hub may not say so after what it said before. Of what it was lost
 * with nothing is known for good: another life may go on from a newer centre,
 * which has it. */
static bool contradicts(const struct life *life, const struct soak_fate *fate,
                        uint32_t chunk, enum verdict verdict)
{
    if (!fate->judged[chunk] || fate->verdict[chunk] == verdict)
        return false;
    return fate->life[chunk] == life->judge.lives ||
           (verdict == VERDICT_MERGED && fate->verdict[chunk] != VERDICT_LOST);
}

/* A chunk has one verdict, however often it is told. */
static void judge_chunk(struct life *life, const struct world_message *message,
                        uint64_t exchange, uint32_t chunk, enum verdict verdict)
{
    struct soak_fate *fate = fate_of(life, message, exchange);

    if (fate->part.stride && !fragment_holds(fate->part, chunk))
        return; /* nobody has offered it */
    if (chunk >= life->chunks) {
        life_complain(life, "chunk %u of %u has a verdict", chunk,
                      life->chunks);
        return;
    }
    if (contradicts(life, fate, chunk, verdict))
        life_complain(life, "n%u's exchange %llu chunk %u is %s, and was %s",
                      message->node + 1, (ull)exchange, chunk,
                      verdict_words[verdict].text,
                      verdict_words[fate->verdict[chunk]].text);
    if (!fate->decided && is_decided(verdict))
        life->judge.decided_since[message->node]++;
    if (!fate->judged[chunk] && verdict == VERDICT_MERGED)
        life->out->merged++;
    if (!fate->judged[chunk])
        count_verdict(life, message->node, chunk, verdict);
    fate->life[chunk] = life->judge.lives;
    fate->decided |= is_decided(verdict);
    fate->judged[chunk] = true;
    fate->verdict[chunk] = verdict;
    if (fate->owed && is_answered(life, fate))
        settle(life, fate);
}

/* Two versions that claim to hold a chunk have merged it twice. */
static void judge_version(struct life *life,
                          const struct world_message *message)
{
    const struct msg_result *result = &message->msg->result;
    struct soak_fate *fate = fate_of(life, message, result->exchange);
    uint64_t *known = &fate->version[result->chunk];

    if (*known && *known != result->version)
        life_complain(life,
                      "n%u's exchange %llu chunk %u is in version %llu, and "
                      "was in %llu",
                      message->node + 1, (ull)result->exchange, result->chunk,
                      (ull)result->version, (ull)*known);
    fate->results += !*known;
    *known = result->version;
}

static void judge_result(struct life *life, const struct world_message *message)
{
    const struct msg_result *result = &message->msg->result;
    uint64_t *version;

    if (result->chunk >= life->chunks) {
        life_complain(life, "a result for chunk %u", result->chunk);
        return;
    }
    version = &life->judge.chunk_versions[result->chunk];
    if (!is_finite(life, result, message->payload))
        life_complain(life, "a result is not finite");
    if (result->exchange && message->node < life->honest) {
        judge_chunk(life, message, result->exchange, result->chunk,
                    (enum verdict)result->verdict);
        judge_version(life, message);
    } else if (!result->exchange && result->version < *version) {
        life_complain(life, "chunk %u goes back from version %llu to %llu",
                      result->chunk, (ull)*version, (ull)result->version);
    }
    if (result->version > *version)
        *version = result->version;
}

static void judge_verdict(struct life *life,
                          const struct world_message *message)
{
    const struct msg_verdict *verdict = &message->msg->verdict;

    for (uint32_t i = 0; i < verdict->chunks && i < life->chunks; i++)
        judge_chunk(life, message, verdict->exchange, verdict->first + i,
                    (enum verdict)verdict->verdict);
}

/* The hub says a version of its own. */
static void judge_told(struct life *life, unsigned node, uint64_t version)
{
    uint64_t *told = &life->judge.told[node];

    if (version < *told)
        life_complain(life, "n%u is told version %llu after %llu", node + 1,
                      (ull)version, (ull)*told);
    *told = version;
}

static void judge_offer(struct life *life, const struct world_message *message)
{
    const struct msg_offer *offer = &message->msg->offer;
    struct soak_fate *fate = fate_of(life, message, offer->exchange);

    if (!fate->offered)
        count_offer(life, message->node, offer);
    fate->part =
        fragment_of(offer->fragment, life->judge.fragments[message->node]);
    fate->offered = true;
    if (life->healed)
        fate->awaited = fragment_chunks(fate->part, life->chunks);
}

/* What a node has under way it forgets when it is welcomed. */
static void judge_welcome(struct life *life, unsigned node)
{
    for (unsigned i = 0; i < SOAK_EXCHANGES; i++) {
        life->judge.fates[node][i].awaited = 0;
        settle(life, &life->judge.fates[node][i]);
    }
}

static void judge_told_settings(struct life *life, unsigned node,
                                uint64_t exchange, uint32_t fragments)
{
    life->judge.fragments[node] = exchange == EXCHANGE_GRADIENT ? 1 : fragments;
}

static void judge_told_by_hub(struct life *life,
                              const struct world_message *message)
{
    const struct msg *msg = message->msg;
    unsigned node = message->node;

    if (msg->kind == MSG_RESULT) {
        judge_result(life, message);
    } else if (msg->kind == MSG_PONG) {
        judge_told(life, node, msg->pong.version);
    } else if (msg->kind == MSG_TUNE) {
        judge_told_settings(life, node, msg->tune.exchange,
                            msg->tune.fragments);
    } else if (msg->kind == MSG_WELCOME) {
        judge_welcome(life, node);
        count_welcome(life, node, (enum start)msg->welcome.start);
        judge_told(life, node, msg->welcome.version);
        judge_told_settings(life, node, msg->welcome.exchange,
                            msg->welcome.fragments);
    } else if (msg->kind == MSG_VERDICT && node < life->honest) {
        judge_verdict(life, message);
    }
}

void judge_message(struct life *life, const struct world_message *message)
{
    const struct msg *msg = message->msg;

    if (!message->to_hub)
        judge_told_by_hub(life, message);
    else if (msg->kind == MSG_CHUNK)
        count_chunk(life, message->node, message->payload);
    else if (msg->kind == MSG_OFFER && message->node < life->honest)
        judge_offer(life, message);
}

/* ---- nodes ---- */

static void judge_trainer(struct life *life, unsigned node)
{
    const struct hub_config *hub = &life->config.hub;
    const struct trainer *trainer = world_trainer(life->world, node);
    const float *x = trainer_values(trainer);

    for (uint64_t i = 0; i < life->schema->elements; i++)
        if (!isfinite(x[i]))
            life_complain(life, "a parameter of n%u is not finite", node + 1);
    if (hub->delay && hub->miss != MISS_WAIT && trainer_waited(trainer))
        life_complain(life, "the training of n%u waits", node + 1);
}

/* No honest node says what makes no sense. */
static void judge_offences(struct life *life, const struct world_step *step)
{
    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];
        uint64_t number = 0;

        if (effect->kind == EFFECT_NOTE && effect->note.kind == NOTE_RESTORED &&
            strncmp(effect->note.text, "version", 7) == 0)
            life->out->recovered++;
        if (effect->kind == EFFECT_NOTE && effect->note.kind == NOTE_OFFENCE &&
            effect->note.subject[0] == 'n' &&
            line_number(effect->note.subject + 1, &number) &&
            number <= life->honest)
            life_complain(life, "the hub says of %s: %s", effect->note.subject,
                          effect->note.text);
    }
}

/* The hub sends no node what it cannot use. */
static void judge_notes(struct life *life, const struct world_step *step)
{
    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind == EFFECT_NOTE && effect->note.kind == NOTE_DETACHED &&
            strstr(effect->note.text, "result"))
            life_complain(life, "n%u leaves the hub: %s", step->process + 1,
                          effect->note.text);
    }
}

void judge_step(void *context, const struct world_step *step)
{
    struct life *life = context;

    life->out->steps++;
    if (step->process == WORLD_HUB) {
        judge_hub_step(life);
        count_jobs(life, step);
        judge_offences(life, step);
    } else if (step->process >= life->honest) {
        return;
    } else if (step->trainer) {
        judge_trainer(life, step->process);
    } else {
        judge_notes(life, step);
        count_node_step(life, step->process);
    }
}

/* ---- the second phase ---- */

void judge_heal(struct life *life)
{
    memset(life->judge.decided_since, 0, sizeof life->judge.decided_since);
}

/* The newest exchange of the same chunks whose result has come as a whole. */
static uint64_t newest_answered(const struct life *life, unsigned node,
                                const struct soak_fate *like)
{
    uint64_t newest = 0;

    for (unsigned i = 0; i < SOAK_EXCHANGES; i++) {
        const struct soak_fate *fate = &life->judge.fates[node][i];

        if (fate->incarnation == like->incarnation &&
            fate->part.first == like->part.first &&
            fate->part.stride == like->part.stride && fate->awaited &&
            fate->results == fate->awaited && fate->exchange > newest)
            newest = fate->exchange;
    }
    return newest;
}

void judge_owes(struct life *life)
{
    for (unsigned i = 0; i < life->honest; i++)
        for (unsigned j = 0; j < SOAK_EXCHANGES; j++) {
            struct soak_fate *fate = &life->judge.fates[i][j];

            fate->owed = !is_answered(life, fate) &&
                         fate->exchange < newest_answered(life, i, fate);
            life->judge.owed += fate->owed;
        }
}

void judge_answers(struct life *life)
{
    for (unsigned i = 0; i < life->honest; i++)
        for (unsigned j = 0; j < SOAK_EXCHANGES; j++)
            if (life->judge.fates[i][j].owed)
                complain_of_owed(life, i, &life->judge.fates[i][j]);
}
