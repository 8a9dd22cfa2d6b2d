#include "hub/configure.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"

enum { NAMES_BYTES = 384 };

static enum status unknown(const struct options *options, const char *option,
                           const char *what, const char *names, struct why *why)
{
    struct why detail;

    (void)because(&detail, STATUS_USAGE, "there is no such %s; there are %s",
                  what, names);
    return options_blame(options, option, detail.text, why);
}

/* ---- names to rules ---- */

/* Takes the rule that --kind names, if it names one. */
#define TAKE(kind)                                                             \
    static enum status take_##kind(const struct options *options,              \
                                   struct policy *policy, struct why *why)     \
    {                                                                          \
        const char *name = options->kind;                                      \
        char bytes[NAMES_BYTES];                                               \
        struct text names;                                                     \
                                                                               \
        policy->kind = name[0] ? kind##_find(name) : policy->kind;             \
        if (policy->kind)                                                      \
            return STATUS_OK;                                                  \
        text_init(&names, bytes, sizeof bytes);                                \
        for (unsigned i = 0; i < kind##_rule_count; i++)                       \
            text_add_item(&names, kind##_rules[i]->name);                      \
        return unknown(options, #kind, "rule", bytes, why);                    \
    }

TAKE(gate)
TAKE(select)
TAKE(reduce)
TAKE(merge)
TAKE(receive)
TAKE(damping)
TAKE(preempt)

static enum status take_preset(const struct options *options,
                               struct policy *policy, struct why *why)
{
    const struct preset *preset = preset_find(options->policy);
    char bytes[NAMES_BYTES];
    struct text names;

    if (preset) {
        *policy = preset->policy;
        return STATUS_OK;
    }
    text_init(&names, bytes, sizeof bytes);
    for (unsigned i = 0; i < preset_count; i++)
        text_add_item(&names, presets[i].name);
    return unknown(options, "policy", "policy", bytes, why);
}

static enum status take_rules(const struct options *options,
                              struct policy *policy, struct why *why)
{
    enum status status = take_gate(options, policy, why);

    if (status == STATUS_OK)
        status = take_select(options, policy, why);
    if (status == STATUS_OK)
        status = take_reduce(options, policy, why);
    if (status == STATUS_OK)
        status = take_merge(options, policy, why);
    if (status == STATUS_OK)
        status = take_receive(options, policy, why);
    if (status == STATUS_OK)
        status = take_damping(options, policy, why);
    if (status == STATUS_OK)
        status = take_preempt(options, policy, why);
    return status;
}

/* Where each number stands among the options and in a policy. */
static const struct {
    size_t from, to;
} places[] = {
#define NUMBER(name, value, doc)                                               \
    {offsetof(struct options, name), offsetof(struct policy_numbers, name)},
    POLICY_NUMBERS(NUMBER)
#undef NUMBER
};

/* Takes those that are given. */
static void take_numbers(const struct options *options,
                         struct policy_numbers *numbers)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double value;

        memcpy(&value, (const char *)options + places[i].from, sizeof value);
        if (!isnan(value))
            memcpy((char *)numbers + places[i].to, &value, sizeof value);
    }
}

/* What a step of 1 along a mean of progress is, is far too long along a
 * gradient. */
static enum status take_exchange(const struct options *options,
                                 struct policy *policy, struct why *why)
{
    enum exchange before = policy->exchange, now = options->exchange;
    bool changes = options->given.exchange && now != before &&
                   now != EXCHANGE_PARAMETERS && before != EXCHANGE_PARAMETERS;

    if (changes && isnan(options->outer_lr) && !policy->merge->own)
        return because(why, STATUS_CONFIG,
                       "--policy %s has a step for %s: with --exchange %s say "
                       "--outer-lr, too, some %s",
                       options->policy,
                       now == EXCHANGE_GRADIENT ? "progress" : "gradients",
                       now == EXCHANGE_GRADIENT ? "gradient" : "delta",
                       now == EXCHANGE_GRADIENT ? "0.1" : "1");
    if (options->given.exchange)
        policy->exchange = now;
    return STATUS_OK;
}

static enum status configure_policy(const struct options *options,
                                    struct policy *policy, struct why *why)
{
    enum status status = take_preset(options, policy, why);
    const struct merge_rule *before = policy->merge;
    const char *conflict;

    if (status == STATUS_OK)
        status = take_rules(options, policy, why);
    if (status != STATUS_OK)
        return status;
    policy_take_own(before, policy);
    status = take_exchange(options, policy, why);
    if (status != STATUS_OK)
        return status;
    take_numbers(options, &policy->numbers);
    conflict = policy_conflict(policy);
    return conflict ? because(why, STATUS_CONFIG, "--policy %s: %s",
                              options->policy, conflict)
                    : STATUS_OK;
}

/* Where nodes offer progress there must be one lineage; where they pass on
 * whole sets, or are pulled, each may have its own. */
static enum status configure_init(const struct options *options,
                                  struct hub_config *config, struct why *why)
{
    const struct policy *policy = &config->policy;
    bool parameters = policy->exchange == EXCHANGE_PARAMETERS;
    bool replaces = policy->merge->verb == VERB_REPLACE;
    bool apart;

    config->init = options->init;
    if (!options->given.init)
        config->init = !parameters ? INIT_TOURNAMENT
                       : replaces  ? INIT_POPULATION
                                   : INIT_ELASTIC;
    apart = config->init == INIT_POPULATION || config->init == INIT_ELASTIC;
    if (apart && !parameters)
        return because(why, STATUS_CONFIG,
                       "--init %s keeps lineages apart, but --policy %s "
                       "merges the progress of nodes, which must start from "
                       "the same parameters: say --init tournament or hub, or "
                       "choose a policy whose nodes offer parameters",
                       init_words[config->init].text, options->policy);
    if (config->init == INIT_POPULATION && !replaces)
        return because(why, STATUS_CONFIG,
                       "--init population passes on whole sets only, and "
                       "--policy %s pulls nodes together: say --init elastic",
                       options->policy);
    return STATUS_OK;
}

/* ---- codecs ---- */

/* Without a name the codec stays as it is. */
static enum status take_codec(const struct options *options, const char *option,
                              const char *name, enum codec_id *codec,
                              struct why *why)
{
    const struct codec *found = *name ? codec_find(name) : &codecs[*codec];
    char bytes[NAMES_BYTES];
    struct text names;

    if (found) {
        *codec = (enum codec_id)(found - codecs);
        return STATUS_OK;
    }
    text_init(&names, bytes, sizeof bytes);
    for (unsigned i = 0; i < CODEC_COUNT; i++)
        text_add_item(&names, codecs[i].name);
    return unknown(options, option, "codec", bytes, why);
}

const char *configure_changes_conflict(const struct policy *policy)
{
    if (!policy->gate->batch || policy->receive->donors)
        return "results are sent as changes of what all nodes have got, and "
               "these get different ones";
    if (policy->merge->sends_previous)
        return "nodes and centre move towards each other by the same, so that "
               "nodes must get the centre as it is";
    return NULL;
}

/* Presets that are auto's rules in fewer bytes. */
static const struct {
    const char *preset;
    enum codec_id up, down;
} fewer_bytes[] = {{"lean", CODEC_SIGN, CODEC_SIGN},
                   {"sparse", CODEC_SPARSE, CODEC_SIGN}};

/* The usual codecs. Changes bear int8, four times shorter, at less than 1 % in
 * loss (docs/convergence.md, RT6), as what it leaves out of one is in the next:
 * both ways if all nodes get the same results. Gradients of every step and
 * parameters stay as they are. */
static void choose_codecs(const char *preset, struct hub_config *config)
{
    enum codec_id up = CODEC_INT8, down = CODEC_INT8;
    bool changes = config->policy.exchange == EXCHANGE_DELTA;
    bool same = changes && !configure_changes_conflict(&config->policy);

    for (unsigned i = 0; i < sizeof fewer_bytes / sizeof *fewer_bytes; i++)
        if (strcmp(preset, fewer_bytes[i].preset) == 0) {
            up = fewer_bytes[i].up;
            down = fewer_bytes[i].down;
        }
    config->codec_up = changes ? up : CODEC_RAW;
    config->codec_down = same ? down : CODEC_RAW;
}

/* Parameters are what they are; changes of them add up, so that what a codec
 * leaves out of one is in the next. */
static enum status configure_codecs(const struct options *options,
                                    struct hub_config *config, struct why *why)
{
    const struct policy *policy = &config->policy;
    const char *conflict;
    enum status status;

    choose_codecs(options->policy, config);
    status = take_codec(options, "codec-up", options->codec_up,
                        &config->codec_up, why);
    if (status == STATUS_OK)
        status = take_codec(options, "codec-down", options->codec_down,
                            &config->codec_down, why);
    if (status != STATUS_OK)
        return status;
    if (policy->exchange == EXCHANGE_PARAMETERS &&
        codecs[config->codec_up].use == CODEC_FOR_CHANGES)
        return because(why, STATUS_CONFIG,
                       "--codec-up %s is for changes and gradients, and with "
                       "--policy %s nodes offer parameters: say --codec-up "
                       "raw, f16 or bf16",
                       options->codec_up, options->policy);
    if (policy->reduce->rows && codecs[config->codec_up].valid)
        return because(why, STATUS_CONFIG,
                       "--codec-up %s leaves most changes out, so that the "
                       "middle one of all nodes' is 0 with --reduce %s: say "
                       "--codec-up int8 or sign",
                       codecs[config->codec_up].name, policy->reduce->name);
    conflict = configure_changes_conflict(policy);
    if (config->codec_down != CODEC_RAW && conflict)
        return because(why, STATUS_CONFIG,
                       "--codec-down %s and --policy %s: %s: leave "
                       "--codec-down out",
                       options->codec_down, options->policy, conflict);
    return STATUS_OK;
}

/* ---- tasks ---- */

static enum status configure_tasks(const struct options *options,
                                   const struct hub_config *config,
                                   struct why *why)
{
    const struct policy *policy = &config->policy;

    if (!config->tasks ||
        (policy->select == &select_all && policy->reduce != &reduce_krum &&
         policy->reduce != &reduce_multi_krum))
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--tasks and --policy %s: a task is done once it has been "
                   "merged, and this policy merges what some nodes have learnt "
                   "and throws the rest away: choose one that merges all, such "
                   "as auto, or verified",
                   options->policy);
}

/* ---- what nodes do with late results ---- */

const char *configure_cut_conflict(const struct hub_config *config)
{
    if (config->policy.exchange != EXCHANGE_DELTA)
        return "what is cut off is offered again, which only progress (delta) "
               "can be";
    if (config->policy.reduce->judge || config->policy.receive->donors)
        return "this policy must see whole offers";
    if (config->tasks)
        return "a task is done once an offer has been merged as a whole, which "
               "one that is cut is not";
    return NULL;
}

static enum status configure_miss(const struct options *options,
                                  struct hub_config *config, struct why *why)
{
    const char *conflict = configure_cut_conflict(config);

    if (config->miss != MISS_CUT || !conflict)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--miss cut and --policy %s: %s: say --miss late",
                   options->policy, conflict);
}

/* ---- how often ---- */

/* What the hub chooses begins small: a network that does not carry that is seen
 * as soon, and what nodes learn apart at first costs most. */
enum { USUAL_EVERY = 20, USUAL_DELAY = 4, FIRST_EVERY = 5, FIRST_DELAY = 2 };

/* Parts of the model that are spread over k, and results that are cut at d,
 * take the time that they are given: there is nothing to be measured. */
static bool chooses_tempo(const struct options *options,
                          const struct hub_config *config)
{
    return strcmp(options->policy, "auto") == 0 &&
           config->policy.exchange == EXCHANGE_DELTA && config->fragments < 2 &&
           config->miss != MISS_CUT;
}

static void configure_tempo(const struct options *options,
                            struct hub_config *config)
{
    bool chooses = chooses_tempo(options, config);

    config->free_every = chooses && options->every == VALUE_AUTO;
    config->dylu =
        options->dylu || (config->free_every && !options->given.dylu);
    config->free_delay = chooses && options->delay == VALUE_AUTO;
    config->every = options->every != VALUE_AUTO ? options->every
                    : chooses                    ? FIRST_EVERY
                                                 : USUAL_EVERY;
    config->delay = options->delay != VALUE_AUTO ? options->delay
                    : chooses                    ? FIRST_DELAY
                                                 : USUAL_DELAY;
}

/* ---- all the rest ---- */

enum status hub_configure(const struct options *options,
                          struct hub_config *config, struct why *why)
{
    enum status status;

#define SET_HUB(name)
#define SET_CONFIG(name) config->name = options->name;
#define SETTING(type, name, limit, source, change, reader, doc)                \
    SET_##source(name)
#include "codec/settings.def"
#undef SETTING
#undef SET_HUB
#undef SET_CONFIG
    config->recovery = HUB_RECOVERY;
    config->nodes = (unsigned)options->nodes;
    config->chunk_elements = (uint32_t)(options->chunk / sizeof(float));
    config->window = options->window;
    config->budget = options->budget;
    config->port = options->listen.port;
    config->up = options->hub_up;
    config->down = options->hub_down;
    config->staleness = options->staleness;
    config->goal = options->goal.kind;
    config->goal_value = options->goal.value;
    config->iterations = options->iterations;
    config->time = options->time;
    config->idle = options->idle;
    config->epochs = options->epochs;
    config->task_time = options->task_time;
    config->evaluate_interval = options->evaluate_centre;
    config->tournament = options->tournament;
    config->fragments = (uint32_t)options->fragments;
    status = configure_policy(options, &config->policy, why);
    configure_tempo(options, config);
    if (status == STATUS_OK)
        status = configure_init(options, config, why);
    if (status == STATUS_OK)
        status = configure_codecs(options, config, why);
    if (status == STATUS_OK)
        status = configure_tasks(options, config, why);
    if (status == STATUS_OK)
        status = configure_miss(options, config, why);
    if (status == STATUS_OK && options->fragments > 1 &&
        (config->policy.exchange == EXCHANGE_GRADIENT ||
         config->policy.reduce->judge || config->policy.receive->donors))
        status =
            because(why, STATUS_CONFIG,
                    "--fragments %llu: --policy %s must see the whole "
                    "model at once: leave --fragments out, or choose a "
                    "policy that merges part by part, such as streaming",
                    (unsigned long long)options->fragments, options->policy);
    return status;
}
