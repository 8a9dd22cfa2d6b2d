#include "sim/study/soak_plan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hub/configure.h"
#include "sim/trace/lines.h"

/* A row of soak_plan.def, or of the hub's options. */
struct setting {
    const char *name, *text;
    struct value_type type;
    size_t offset, given; /* given: 0 for those of soak_plan.def */
};

#define SETTING(name, TYPE, member, text, what)                                \
    {name,                                                                     \
     text,                                                                     \
     {VALUE_##TYPE, NULL, 0},                                                  \
     offsetof(struct soak_plan, member),                                       \
     0},
static const struct setting own[] = {
#include "sim/study/soak_plan.def"
};
#undef SETTING

enum { OWN = sizeof own / sizeof *own };

unsigned soak_plan_settings(void)
{
    size_t options;

    (void)options_rows(&options);
    return (unsigned)(OWN + options);
}

static struct setting setting_at(unsigned place)
{
    size_t options;
    const struct option *row = options_rows(&options);

    if (place < OWN)
        return own[place];
    row += place - OWN;
    return (struct setting){row->name, row->text, row->type,
                            offsetof(struct soak_plan, options) + row->offset,
                            offsetof(struct soak_plan, options) + row->given};
}

static bool find(const char *name, struct setting *out)
{
    const struct option *option = options_find(PROGRAM_HUB, name);
    size_t count;

    for (unsigned i = 0; i < OWN; i++) {
        if (strcmp(own[i].name, name) == 0) {
            *out = own[i];
            return true;
        }
    }
    if (!option)
        return false;
    *out = setting_at((unsigned)(OWN + (option - options_rows(&count))));
    return true;
}

static void store(struct soak_plan *plan, const struct setting *setting,
                  const union value *value, bool given)
{
    memcpy((char *)plan + setting->offset, value,
           value_size(setting->type.kind));
    if (setting->given)
        ((unsigned char *)plan)[setting->given] = given;
}

static void default_of(const struct setting *setting, union value *out)
{
    enum status status = STATUS_OK;

    value_clear(setting->type.kind, out);
    if (*setting->text)
        status = value_parse(&setting->type, setting->text, out, NULL);
    assert(status == STATUS_OK);
}

void soak_plan_reset(struct soak_plan *plan, unsigned place)
{
    struct setting setting = setting_at(place);
    union value value;

    default_of(&setting, &value);
    store(plan, &setting, &value, false);
}

bool soak_plan_is_default(const struct soak_plan *plan, unsigned place)
{
    struct setting setting = setting_at(place);
    union value value;

    if (setting.given)
        return !((const unsigned char *)plan)[setting.given];
    default_of(&setting, &value);
    return memcmp((const char *)plan + setting.offset, &value,
                  value_size(setting.type.kind)) == 0;
}

struct soak_plan *soak_plan_new(void)
{
    struct soak_plan *plan = calloc(1, sizeof *plan);

    if (!plan)
        abort();
    options_defaults(&plan->options);
    for (unsigned i = 0; i < OWN; i++)
        soak_plan_reset(plan, i);
    plan->script = script_new();
    return plan;
}

struct soak_plan *soak_plan_copy(const struct soak_plan *plan)
{
    struct soak_plan *copy = malloc(sizeof *copy);

    if (!copy)
        abort();
    *copy = *plan;
    copy->script = script_new();
    for (unsigned i = 0; i < plan->script->count; i++)
        script_add(copy->script, plan->script->list[i]);
    return copy;
}

void soak_plan_destroy(struct soak_plan **plan)
{
    if (*plan)
        script_destroy(&(*plan)->script);
    free(*plan);
    *plan = NULL;
}

enum status soak_plan_set(struct soak_plan *plan, const char *name,
                          const char *text, struct why *why)
{
    struct setting setting;
    union value value;
    struct why reason;
    char room[SHOWN_BYTES];

    if (!find(name, &setting))
        return because(why, STATUS_USAGE, "there is nothing called '%s' to set",
                       line_shown(name, room));
    if (value_parse(&setting.type, text, &value, &reason) != STATUS_OK)
        return because(why, STATUS_USAGE, "%s: %.280s", setting.name,
                       reason.text);
    store(plan, &setting, &value, true);
    return STATUS_OK;
}

void soak_plan_put(struct soak_plan *plan, const char *name, const char *format,
                   ...)
{
    char text[VALUE_TEXT_BYTES];
    enum status status;
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    status = soak_plan_set(plan, name, text, NULL);
    assert(status == STATUS_OK);
}

/* ---- as text ---- */

static enum status read_line(struct soak_plan *plan, char *line,
                             struct why *why)
{
    char *rest = line, *word, *name, *value;

    if (strncmp(line, "set ", 4) != 0)
        return script_read_line(plan->script, line, why);
    word = line_word(&rest);
    name = line_word(&rest);
    value = line_word(&rest);
    if (!word || !name || !value)
        return because(why, STATUS_MALFORMED,
                       "set takes a name and a value: set nodes 4");
    return soak_plan_set(plan, name, value, why);
}

static enum status take_line(void *of, struct line *line, struct why *why)
{
    struct why reason;
    enum status status = read_line(of, line->text, &reason);

    if (status != STATUS_OK)
        explain(why, "line %lu: %.280s", line->number, reason.text);
    return status;
}

enum status soak_plan_parse(const char *text, size_t size,
                            struct soak_plan **out, struct why *why)
{
    struct lines lines = lines_of(text, size);
    struct soak_plan *plan = soak_plan_new();
    enum status status = lines_each(&lines, take_line, plan, why);
    struct hub_config config;

    if (status == STATUS_OK)
        status = soak_plan_configure(plan, &config, why);
    if (status == STATUS_OK)
        *out = plan;
    else
        soak_plan_destroy(&plan);
    return status;
}

static void print_setting(const struct soak_plan *plan,
                          const struct setting *setting, FILE *out)
{
    char bytes[VALUE_TEXT_BYTES + 1];
    union value value;
    struct text text;

    memset(&value, 0, sizeof value);
    memcpy(&value, (const char *)plan + setting->offset,
           value_size(setting->type.kind));
    text_init(&text, bytes, sizeof bytes);
    value_print(&setting->type, &value, &text);
    (void)fprintf(out, "set %s %s\n", setting->name, bytes);
}

void soak_plan_print(const struct soak_plan *plan, FILE *out)
{
    char bytes[80];
    struct text text;

    for (unsigned i = 0; i < soak_plan_settings(); i++) {
        struct setting setting = setting_at(i);

        if (!soak_plan_is_default(plan, i))
            print_setting(plan, &setting, out);
    }
    for (unsigned i = 0; i < plan->script->count; i++) {
        text_init(&text, bytes, sizeof bytes);
        script_event_print(&plan->script->list[i], &text);
        (void)fprintf(out, "%s\n", bytes);
    }
}

/* ---- as a configuration ---- */

/* Whether what trainers count can be found in the centre. */
static bool adds(const struct soak_plan *plan, const struct hub_config *hub)
{
    const struct policy *policy = &hub->policy;

    return plan->saves && !plan->evaluates &&
           hub->chunk_elements >= plan->nodes * SOAK_STINTS &&
           plan->elements % hub->chunk_elements == 0 &&
           (!plan->byzantine || hub->codec_up == CODEC_RAW) &&
           hub->codec_up != CODEC_SIGN &&
           policy->exchange != EXCHANGE_PARAMETERS &&
           policy->select == &select_all && policy->reduce == &reduce_mean &&
           policy->merge == &merge_mean && policy->receive == &receive_all &&
           policy->damping == &damping_none &&
           policy->preempt == &preempt_off && policy->numbers.outer_lr == 1 &&
           policy->numbers.outer_momentum == 0 && hub->staleness >= 1000;
}

enum status soak_plan_configure(const struct soak_plan *plan,
                                struct hub_config *out, struct why *why)
{
    uint64_t chunk = plan->options.chunk / sizeof(float);

    if (!plan->nodes || plan->nodes > SOAK_NODES ||
        script_nodes(plan->script) > plan->nodes ||
        plan->byzantine >= plan->nodes ||
        plan->options.nodes > plan->nodes - plan->byzantine)
        return because(why, STATUS_CONFIG,
                       "there may be 1 to %d nodes, and must be enough for all "
                       "acts; those required must be honest",
                       SOAK_NODES);
    if (!plan->elements || !chunk ||
        plan->elements > (plan->counts ? SOAK_NUMBERS : SOAK_ELEMENTS) ||
        (plan->elements + chunk - 1) / chunk > SOAK_CHUNKS)
        return because(why, STATUS_CONFIG,
                       "the model may have 1 to %d elements, and at most %d "
                       "chunks",
                       SOAK_ELEMENTS, SOAK_CHUNKS);
    if (plan->lost >= 1000 || !plan->step || plan->faults > 3600 * SECOND)
        return because(why, STATUS_CONFIG,
                       "not every packet may be lost, a step takes time, and "
                       "faults come for an hour at most");
    *out = (struct hub_config){.run = plan->seed + 1};
    if (hub_configure(&plan->options, out, why) != STATUS_OK)
        return STATUS_CONFIG;
    if (plan->counts && !adds(plan, out))
        return because(why, STATUS_CONFIG,
                       "who counts needs rules that add, a disk, and %d "
                       "numbers of a chunk for each node",
                       SOAK_STINTS);
    out->seed = plan->seed;
    out->save_interval = plan->save;
    return STATUS_OK;
}
