#include "tests/sim/policy_sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hub/configure.h"
#include "tests/check.h"

enum { WINDOW = 2, SICK_AT = 10 };

struct patient {
    const float *centre;
    bool sick;
};

static double gradient_of(const void *context, uint64_t iteration,
                          const float *x, size_t elements, float *gradient)
{
    const struct patient *patient = context;
    const struct quadratic well = {1, patient->centre};
    double loss = trainer_quadratic(&well, iteration, x, elements, gradient);

    if (patient->sick && iteration == SICK_AT)
        gradient[3] = NAN;
    return loss;
}

static void look(void *observer, const struct trainer_look *shown)
{
    struct offering *offering = observer;

    if (shown->moment != TRAINER_OFFERED)
        return;
    offering->count++;
    if (shown->exchange == SWEEP_COMPARED)
        memcpy(offering->bits, shown->x, sizeof offering->bits);
}

static bool is_decided(const struct msg *msg)
{
    uint32_t verdict = msg->verdict.verdict;

    if (msg->kind == MSG_RESULT)
        return msg->result.exchange && msg->result.chunk == 0;
    return msg->kind == MSG_VERDICT && msg->verdict.first == 0 &&
           (verdict == VERDICT_MERGED || verdict == VERDICT_DECLINED ||
            verdict == VERDICT_REFUTED);
}

void sweep_count(void *context, const struct world_message *message,
                 struct world_fate *fate)
{
    struct seen *seen = ((struct lab *)context)->own;

    (void)fate;
    if (message->to_hub)
        seen->lasts[message->node] +=
            message->msg->kind == MSG_OFFER && message->msg->offer.last;
    else
        seen->decided[message->node] += is_decided(message->msg);
}

/* Held-out data: what all nodes want together. */
static void evaluate(void *context, const float *theta, size_t elements,
                     double *loss, double *accuracy)
{
    (void)context;
    *loss = 0;
    for (size_t i = 0; i < elements; i++)
        *loss += ((double)theta[i] - 1) * ((double)theta[i] - 1);
    *accuracy = -1;
}

/* What hub_configure chooses if the user does not. */
static enum init init_of(const struct policy *policy)
{
    if (policy->exchange != EXCHANGE_PARAMETERS)
        return INIT_HUB;
    return policy->merge->verb == VERB_REPLACE ? INIT_POPULATION : INIT_ELASTIC;
}

/* How values are encoded while sweep_codecs runs. */
static enum codec_id uplink, downlink;

struct lab *sweep_lab(const struct policy *policy, struct seen *seen)
{
    struct lab *lab = lab_new(SWEEP_ELEMENTS);
    struct hub_config *hub = &lab->config.hub;

    memset(seen, 0, sizeof *seen);
    lab->own = seen;
    hub->policy = *policy;
    hub->init = init_of(policy);
    hub->every = SWEEP_EVERY;
    hub->codec_up = uplink;
    hub->codec_down = downlink;
    hub->window = (uint64_t)WINDOW * 16;
    hub->nodes = SWEEP_NODES;
    hub->save_interval = SECOND;
    hub->evaluate_interval = 3600 * SECOND;
    lab->config.hooks.evaluate = evaluate;
    lab->config.hooks.filter = sweep_count;
    return lab;
}

/* Nodes that want something else each. */
static const struct patient *patients(void)
{
    static float centre[SWEEP_MOST][SWEEP_ELEMENTS];
    static struct patient all[SWEEP_MOST];

    for (unsigned i = 0; i < SWEEP_MOST; i++) {
        for (unsigned j = 0; j < SWEEP_ELEMENTS; j++)
            centre[i][j] = 1 + (float)((i * 5 + j * 3) % 7) / 16;
        all[i] = (struct patient){centre[i], i == SWEEP_MOST - 1};
    }
    return all;
}

void sweep_add(struct lab *lab, unsigned number, unsigned like)
{
    static const char *const names[SWEEP_MOST] = {"n1", "n2", "n3", "n4", "n5"};
    struct seen *seen = lab->own;
    const struct model model = {gradient_of, &patients()[like],     0.0625, 0,
                                look,        &seen->offered[number]};

    (void)lab_add(lab, names[number], &model);
}

void sweep_open(struct lab *lab, uint64_t seed, unsigned nodes)
{
    lab_open(lab, seed);
    for (unsigned i = 0; i < nodes; i++)
        sweep_add(lab, i, i);
}

struct lab *sweep_star(const struct policy *policy, struct seen *seen)
{
    struct lab *lab = sweep_lab(policy, seen);

    sweep_open(lab, 1, SWEEP_NODES);
    return lab;
}

static bool is_finite(const float *values)
{
    for (unsigned i = 0; values && i < SWEEP_ELEMENTS; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

bool sweep_finite(const struct lab *lab, unsigned nodes)
{
    for (unsigned i = 0; i < nodes; i++)
        if (!is_finite(trainer_values(world_trainer(lab->world, i))))
            return false;
    return is_finite(world_saved(lab->world)->theta);
}

/* ---- the walk ---- */

typedef bool law(const struct policy *policy);

/* `name` is shown where it does not hold. */
static void check_law(law *holds, const struct policy *policy, const char *name)
{
    if (!policy_conflict(policy))
        CHECK_TEXT(name, holds(policy) ? name : "");
}

static void check_pair(law *holds, const struct policy *policy, const char *one,
                       const char *other)
{
    char name[64];

    (void)snprintf(name, sizeof name, "%s with %s", one, other);
    check_law(holds, policy, name);
}

/* Each rule in a policy that is plain but for it. */
static void sweep_rules(law *holds, const char *base)
{
    const struct policy plain = preset_find(base)->policy;

#define EACH(kind)                                                             \
    for (unsigned i = 0; i < kind##_rule_count; i++) {                         \
        struct policy policy = plain;                                          \
                                                                               \
        policy.kind = kind##_rules[i];                                         \
        check_pair(holds, &policy, base, kind##_rules[i]->name);               \
    }
    EACH(gate)
    EACH(select)
    EACH(reduce)
    EACH(receive)
    EACH(damping)
    EACH(preempt)
#undef EACH
}

static void sweep_selects_and_reduces(law *holds)
{
    for (unsigned i = 0; i < select_rule_count; i++)
        for (unsigned j = 0; j < reduce_rule_count; j++) {
            struct policy policy = preset_find("mean")->policy;

            policy.select = select_rules[i];
            policy.reduce = reduce_rules[j];
            check_pair(holds, &policy, select_rules[i]->name,
                       reduce_rules[j]->name);
        }
}

void policy_sweep(law *holds)
{
    for (unsigned i = 0; i < preset_count; i++)
        check_law(holds, &presets[i].policy, presets[i].name);
    sweep_rules(holds, "mean");
    sweep_rules(holds, "easgd");
    sweep_rules(holds, "lsgd");
    sweep_rules(holds, "pbt");
    sweep_selects_and_reduces(holds);
}

/* The codecs that a hub gives this preset if nobody names others. */
static void take_default_codecs(const struct preset *preset)
{
    struct hub_config config = {.nodes = 0};
    struct options options;
    struct why why = {""};

    options_defaults(&options);
    CHECK_OK(options_set(&options, PROGRAM_HUB, "policy", preset->name,
                         OPTION_ARGUMENT, &why));
    CHECK_OK(hub_configure(&options, &config, &why));
    uplink = config.codec_up;
    downlink = config.codec_down;
}

static void sweep_default_codecs(law *holds)
{
    for (unsigned i = 0; i < preset_count; i++) {
        take_default_codecs(&presets[i]);
        if (uplink != CODEC_RAW)
            check_pair(holds, &presets[i].policy, presets[i].name,
                       "its codecs");
    }
    downlink = CODEC_RAW;
}

void sweep_codecs(law *holds)
{
    static const enum codec_id kinds[] = {CODEC_F16, CODEC_INT8, CODEC_TOP1};
    static const char *const names[] = {"mean", "streaming",   "async", "ddp",
                                        "lsgd", "easgd-async", "pbt"};

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (unsigned j = 0; j < sizeof names / sizeof *names; j++) {
            const struct policy *policy = &preset_find(names[j])->policy;

            uplink = kinds[i];
            if (policy->exchange != EXCHANGE_PARAMETERS ||
                codecs[uplink].use == CODEC_FOR_ALL)
                check_pair(holds, policy, names[j], codecs[uplink].name);
        }
    sweep_default_codecs(holds);
    uplink = CODEC_RAW;
}
