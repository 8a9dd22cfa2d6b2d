/* What the centre holds is what was learnt. */
#include "sim/study/soak_count.h"

#include <math.h>
#include <string.h>

#include "hub/work.h"
#include "sim/study/soak_inside.h"

/* For printf. */
#define ull unsigned long long
/* Of float32, whose numbers count; a step is 1. */
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

/* What who is missing in the last round takes away is given again. */
static void weigh(const struct candidate *list, unsigned count,
                  const struct policy_context *context, double *samples,
                  double *factor)
{
    bool some =
        context->last && context->present && context->live > context->present;

    (void)list;
    for (unsigned i = 0; i < count; i++) {
        samples[i] = 1;
        factor[i] = some ? (double)context->live / context->present : 1;
    }
}

struct gate_rule count_gate(const struct gate_rule *gate)
{
    struct gate_rule adds = *gate;

    adds.partial = false;
    adds.share = one;
    adds.divisor = undivided;
    return adds;
}

void count_open(struct life *life)
{
    struct soak_count *count = &life->count;
    struct policy *policy = &life->config.hub.policy;

    for (unsigned i = 0; i < SOAK_NODES; i++)
        count->seats[i] = (struct soak_seat){life, i};
    if (!life->plan->counts)
        return;
    count->gate = count_gate(policy->gate);
    policy->gate = &count->gate;
    count->reduce = *policy->reduce;
    if (count->gate.batch)
        count->reduce.weigh = weigh;
    policy->reduce = &count->reduce;
}

/* ---- what a trainer does ---- */

static struct soak_stint *stint_of(struct life *life, unsigned node)
{
    struct soak_count *count = &life->count;

    return &count->stints[node][count->stint[node]];
}

static void begin_stint(struct life *life, unsigned node)
{
    life->count.takes[node] = false;
    if (stint_of(life, node)->steps && life->count.stint[node] < SOAK_STINTS)
        life->count.stint[node]++;
    *stint_of(life, node) = (struct soak_stint){0};
}

size_t count_place(const struct life *life, unsigned node)
{
    return (size_t)node * SOAK_STINTS + life->count.stint[node] % SOAK_STINTS;
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
        stint->alone += look->x[count_place(life, seat->node)] > stint->before;
    else if (look->moment == TRAINER_REPLACED)
        begin_stint(life, seat->node);
}

void count_offer(struct life *life, unsigned node,
                 const struct msg_offer *offer)
{
    struct soak_stint *stint = stint_of(life, node);
    uint64_t seen = stint->steps * life->samples[node];

    stint->offers += offer->kind == EXCHANGE_GRADIENT;
    if (!stint->offered && !stint->other_run && offer->samples > seen)
        life_complain(life,
                      "n%u has offered for %llu samples, and has seen %llu "
                      "since it has its parameters",
                      node + 1, (ull)offer->samples, (ull)seen);
    stint->offered = true;
}

void count_verdict(struct life *life, unsigned node, uint32_t chunk,
                   enum verdict verdict)
{
    if (verdict != VERDICT_MERGED && verdict != VERDICT_LOST &&
        verdict != VERDICT_CORRUPT)
        stint_of(life, node)->dropped[chunk]++;
}

void count_welcome(struct life *life, unsigned node, enum start start)
{
    life->count.takes[node] = start == START_TAKE;
}

/* What a node has learnt in one run is not what it learns in the next. */
void count_node_step(struct life *life, unsigned node)
{
    uint64_t run, epoch, *now = &life->count.run[node];

    (void)node_keeps(world_node(life->world, node), &run, &epoch);
    if (*now && run && run != *now) {
        stint_of(life, node)->offers++; /* what is left of it goes there */
        begin_stint(life, node);
        stint_of(life, node)->other_run = true;
    }
    if (run)
        *now = run;
}

/* ---- what the centre holds ---- */

static bool counts_gradients(const struct life *life)
{
    return life->config.hub.policy.exchange == EXCHANGE_GRADIENT;
}

/* By which an offer's number may be more than it is, for a step of what the
 * offer holds. */
static double excess_of(enum codec_id codec)
{
    switch (codec) {
    case CODEC_F16:
        return 1.0 / 2048;
    case CODEC_BF16:
        return 1.0 / 256;
    case CODEC_INT8:
        return 1.0 / 254;
    case CODEC_INT4:
    case CODEC_SPARSE:
        return 1.0 / 14;
    case CODEC_E3M0:
        return 1.0 / 3;
    default: /* all of a number, or nothing; who counts has no signs */
        return 0;
    }
}

/* Who offers gradients and has no hub moves alone, which is worth something if
 * it founds the centre. */
static double most_of(const struct life *life, const struct soak_stint *stint)
{
    return (double)(counts_gradients(life) ? stint->offers + stint->alone
                                           : stint->steps);
}

/* A step's gradient is -1, and so is what its node owes of it. */
static double least_of(const struct life *life, unsigned node, uint32_t chunk)
{
    const struct soak_stint *stint =
        &life->count.stints[node][life->count.stint[node]];
    size_t at = (size_t)chunk * life->config.hub.chunk_elements +
                count_place(life, node);

    if (!counts_gradients(life))
        return (double)stint->steps;
    return (double)stint->offers - (double)stint->dropped[chunk] -
           stint->other_run + node_owes(world_node(life->world, node), at);
}

/* Who has come to another run may offer numbers of two stints at once. */
static uint64_t steps_of(const struct life *life, unsigned node)
{
    uint64_t steps = 0;

    for (unsigned i = 0; i <= life->count.stint[node]; i++)
        steps += life->count.stints[node][i].steps;
    return steps;
}

static void judge_most(struct life *life, unsigned node, unsigned stint,
                       double excess)
{
    double most = most_of(life, &life->count.stints[node][stint]);
    double spare = excess * (double)steps_of(life, node) + ROUNDING;

    for (uint32_t chunk = 0; chunk < life->chunks; chunk++)
        if (count_held(life, node, stint, chunk) -
                (double)count_founded(life, node, stint, chunk)->more >
            most + spare)
            life_complain(life,
                          "the centre holds %.6g of n%u's chunk %u, and only "
                          "%.6g were learnt",
                          count_held(life, node, stint, chunk), node + 1, chunk,
                          most);
}

void count_hub_step(struct life *life, const struct hub_view *view)
{
    const struct world_saved *saved = world_saved(life->world);
    struct soak_count *count = &life->count;

    if (!life->plan->counts)
        return;
    count_versions(life, view);
    if (saved->count == count->saves || !saved->theta || count->blind)
        return;
    count->saves = saved->count;
    for (unsigned i = 0; i < life->honest; i++)
        for (unsigned j = 0; j <= count->stint[i] && j < SOAK_STINTS; j++)
            judge_most(life, i, j, excess_of(life->config.hub.codec_up));
}

static void judge_end(struct life *life, unsigned node)
{
    unsigned stint = life->count.stint[node];

    for (uint32_t chunk = 0; chunk < life->chunks; chunk++)
        if (count_held(life, node, stint, chunk) <
            least_of(life, node, chunk) - ROUNDING -
                (double)count_founded(life, node, stint, chunk)->less)
            life_complain(life,
                          "the centre holds %.6g of n%u's chunk %u at the end, "
                          "and %.6g were learnt",
                          count_held(life, node, stint, chunk), node + 1, chunk,
                          least_of(life, node, chunk));
    if (!counts_gradients(life))
        judge_most(life, node, stint, 0);
}

void count_end(struct life *life)
{
    if (!life->plan->counts || life->count.blind)
        return;
    if (!world_saved(life->world)->theta)
        life_complain(life, "the run has ended, and no centre is saved");
    for (unsigned i = 0; i < life->honest && !life->out->complaint[0]; i++)
        if (life->count.stint[i] < SOAK_STINTS && !life->count.takes[i])
            judge_end(life, i);
}

/* ---- one vote a node ---- */

void count_chunk(struct life *life, unsigned node, const struct blob *blob)
{
    struct soak_count *count = &life->count;

    count->uploads[count->next_upload++ % SOAK_UPLOADS] =
        (struct soak_upload){blob, node < life->honest ? node : SOAK_NODES};
}

/* Who has sent it last; as many as there are nodes: nobody honest, or it was
 * too long ago. */
static unsigned whose(const struct soak_count *count, const struct blob *blob)
{
    for (unsigned i = 1; i <= SOAK_UPLOADS; i++) {
        const struct soak_upload *upload =
            &count->uploads[(count->next_upload - i) % SOAK_UPLOADS];

        if (upload->blob == blob)
            return upload->node;
        if (!upload->blob)
            break;
    }
    return SOAK_NODES;
}

static void judge_votes(struct life *life, const struct job *job)
{
    bool voted[SOAK_NODES + 1] = {false};

    for (unsigned i = MERGE_FROM; i < job->inputs; i++) {
        unsigned node = whose(&life->count, job->in[i].blob);

        if (node < SOAK_NODES && voted[node])
            life_complain(life, "n%u has two votes in one round", node + 1);
        voted[node] = true;
    }
}

void count_jobs(struct life *life, const struct world_step *step)
{
    for (unsigned i = 0; i < step->effects->count; i++)
        if (step->effects->list[i].kind == EFFECT_JOB &&
            step->effects->list[i].job->work == &work_merge)
            judge_votes(life, step->effects->list[i].job);
}
