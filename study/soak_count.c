/* What the centre holds is what was learnt. */
#include "study/soak_count.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "hub/work.h"
#include "study/soak_inside.h"

/* For printf. */
#define ull unsigned long long
/* Of float32 and codecs, which feed back what they leave out; a step is 1. */
#define ROUNDING 0.25

static double one(double samples, double total)
{
    (void)samples;
    (void)total;
    return 1;
}

static double undivided(double total, unsigned count, unsigned live)
{
    (void)total;
    (void)count;
    (void)live;
    return 1;
}

void count_open(struct life *life)
{
    struct soak_count *count = &life->count;
    struct policy *policy = &life->config.hub.policy;

    for (unsigned i = 0; i < SOAK_NODES; i++)
        count->seats[i] = (struct soak_seat){life, i};
    if (!life->plan->counts)
        return;
    count->gate = *policy->gate;
    count->gate.share = one;
    count->gate.whole = undivided;
    policy->gate = &count->gate;
}

/* What may be broken, by number. */
enum count_breach {
    BREACH_SAMPLES = 1, /* an offer claims more than its stint has seen */
    BREACH_VOTES,       /* a node has two votes in one round */
    BREACH_MORE,       /* the centre holds more progress than was made */
    BREACH_LESS,       /* at the end it holds less */
    BREACH_MORE_STEEP, /* the same of gradients */
    BREACH_LESS_STEEP
};

/* Those that are known to happen, and not complained of. */
static const unsigned known = 1u << BREACH_SAMPLES | 1u << BREACH_VOTES |
                              1u << BREACH_LESS | 1u << BREACH_MORE_STEEP |
                              1u << BREACH_LESS_STEEP;

static bool is_known(enum count_breach breach)
{
    return known >> breach & 1;
}

/* ---- what a trainer does ---- */

static struct soak_stint *stint_of(struct life *life, unsigned node)
{
    struct soak_count *count = &life->count;

    return &count->stints[node][count->stint[node]];
}

static void begin_stint(struct life *life, unsigned node)
{
    if (stint_of(life, node)->steps && life->count.stint[node] < SOAK_STINTS)
        life->count.stint[node]++;
    *stint_of(life, node) = (struct soak_stint){0};
}

size_t count_place(const struct life *life, unsigned node)
{
    return (size_t)node * SOAK_STINTS +
           life->count.stint[node] % SOAK_STINTS;
}

double count_gradient(const void *context, uint64_t iteration, const float *x,
                      size_t elements, float *gradient)
{
    const struct soak_seat *seat = context;
    struct life *life = seat->life;
    size_t length = life->config.hub.chunk_elements;

    if (iteration == 0)
        begin_stint(life, seat->node);
    stint_of(life, seat->node)->steps++;
    if (!life->plan->counts)
        return trainer_quadratic(&life->models[seat->node], iteration, x,
                                 elements, gradient);
    memset(gradient, 0, elements * sizeof *gradient);
    stint_of(life, seat->node)->before = x[count_place(life, seat->node)];
    if (life->count.stint[seat->node] < SOAK_STINTS)
        for (size_t at = count_place(life, seat->node); at < elements;
             at += length)
            gradient[at] = -1;
    return 1;
}

void count_look(void *observer, const struct trainer_look *look)
{
    const struct soak_seat *seat = observer;
    struct life *life = seat->life;
    struct soak_stint *stint = stint_of(life, seat->node);

    if (look->moment == TRAINER_STEPPED && life->plan->counts)
        stint->alone +=
            look->x[count_place(life, seat->node)] > stint->before;
    else if (look->moment == TRAINER_REPLACED)
        begin_stint(life, seat->node);
    else if (look->moment == TRAINER_OFFERED)
        stint->offers++;
}

void count_offer(struct life *life, unsigned node, uint64_t samples)
{
    struct soak_stint *stint = stint_of(life, node);
    uint64_t seen = stint->steps * life->samples[node];

    stint->claimed += samples;
    if (stint->claimed > seen && !is_known(BREACH_SAMPLES))
        life_complain(life,
                      "n%u has offered for %llu samples, and has seen %llu "
                      "since it has its parameters",
                      node + 1, (ull)stint->claimed, (ull)seen);
}

/* ---- what the centre holds ---- */

/* Of a node's stint in the chunk, as it was saved. */
static double held(const struct life *life, unsigned node, unsigned stint,
                   uint32_t chunk)
{
    const struct world_saved *saved = world_saved(life->world);
    size_t at = (size_t)chunk * life->config.hub.chunk_elements +
                (size_t)node * SOAK_STINTS + stint;

    return at < saved->elements ? (double)saved->theta[at] : 0;
}

static bool counts_gradients(const struct life *life)
{
    return life->config.hub.policy.exchange == EXCHANGE_GRADIENT;
}

/* What the centre must hold of it in the end. Who offers gradients and has no
 * hub moves alone, which is only worth something if it founds the centre. */
static double least_of(const struct life *life, const struct soak_stint *stint)
{
    return (double)(counts_gradients(life) ? stint->offers : stint->steps);
}

static double most_of(const struct life *life, const struct soak_stint *stint)
{
    return (double)(counts_gradients(life) ? stint->offers + stint->alone
                                           : stint->steps);
}

static void judge_stint(struct life *life, unsigned node, unsigned stint)
{
    double most = most_of(life, &life->count.stints[node][stint]);
    enum count_breach breach =
        counts_gradients(life) ? BREACH_MORE_STEEP : BREACH_MORE;

    for (uint32_t chunk = 0; chunk < life->chunks; chunk++)
        if (held(life, node, stint, chunk) > most + ROUNDING &&
            !is_known(breach))
            life_complain(life,
                          "the centre holds %.6g of n%u's chunk %u, and only "
                          "%.6g were learnt",
                          held(life, node, stint, chunk), node + 1, chunk,
                          most);
}

void count_hub_step(struct life *life)
{
    const struct world_saved *saved = world_saved(life->world);
    struct soak_count *count = &life->count;

    if (!life->plan->counts || saved->count == count->saves || !saved->theta)
        return;
    count->saves = saved->count;
    for (unsigned i = 0; i < life->honest; i++)
        for (unsigned j = 0; j <= count->stint[i] && j < SOAK_STINTS; j++)
            judge_stint(life, i, j);
}

static void judge_end(struct life *life, unsigned node)
{
    unsigned stint = life->count.stint[node];
    double least = least_of(life, stint_of(life, node));
    enum count_breach breach =
        counts_gradients(life) ? BREACH_LESS_STEEP : BREACH_LESS;

    for (uint32_t chunk = 0; chunk < life->chunks; chunk++)
        if (held(life, node, stint, chunk) < least - ROUNDING &&
            !is_known(breach))
            life_complain(life,
                          "the centre holds %.6g of n%u's chunk %u at the end, "
                          "and %.6g were learnt",
                          held(life, node, stint, chunk), node + 1, chunk,
                          least);
}

void count_end(struct life *life)
{
    if (!life->plan->counts)
        return;
    if (!world_saved(life->world)->theta)
        life_complain(life, "the run has ended, and no centre is saved");
    for (unsigned i = 0; i < life->honest && !life->out->complaint[0]; i++)
        if (life->count.stint[i] < SOAK_STINTS)
            judge_end(life, i);
}

/* ---- one vote a node ---- */

/* Whose progress it is: the number that moved most says so. */
static unsigned whose(const struct job *job, unsigned input)
{
    const struct blob *blob = job->in[input].blob;
    double values[SOAK_NUMBERS] = {0};
    size_t most = 0;

    payload_add(&job->extent, job->in[input].codec, blob->bytes, 0,
                job->extent.elements, 1, values);
    for (size_t i = 0; i < job->extent.elements; i++)
        if (fabs(values[i]) > fabs(values[most]))
            most = i;
    return values[most] != 0 ? (unsigned)(most / SOAK_STINTS) : UINT_MAX;
}

static void judge_votes(struct life *life, const struct job *job)
{
    const struct policy *policy = job->context;
    bool voted[SOAK_NODES] = {false};

    if (job->work != &work_merge || policy->exchange == EXCHANGE_PARAMETERS)
        return;
    for (unsigned i = MERGE_FROM; i < job->inputs; i++) {
        unsigned node = whose(job, i);

        if (node >= life->plan->nodes)
            continue;
        if (voted[node] && !is_known(BREACH_VOTES))
            life_complain(life, "n%u has two votes in one round", node + 1);
        voted[node] = true;
    }
}

void count_jobs(struct life *life, const struct world_step *step)
{
    for (unsigned i = 0; i < step->effects->count; i++)
        if (life->plan->counts &&
            step->effects->list[i].kind == EFFECT_JOB)
            judge_votes(life, step->effects->list[i].job);
}
