#include "sim/study/script.h"

#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "sim/trace/lines.h"

/* ---- what is done ---- */

static void crash(struct world *world, unsigned process)
{
    world_crash(world, process, false);
}

static void lose(struct world *world, unsigned process)
{
    world_crash(world, process, true);
}

static void cut(struct world *world, unsigned process)
{
    world_cut(world, process, false);
}

static void unplug(struct world *world, unsigned process)
{
    world_cut(world, process, true);
}

static const struct {
    const char *word;
    bool of_hub;
    void (*run)(struct world *world, unsigned process);
} verbs[SCRIPT_VERBS] = {
#define SCRIPT_VERB(NAME, word, of_hub, function, what)                        \
    {word, of_hub, function},
#include "sim/study/script.def"
#undef SCRIPT_VERB
};

void script_event_run(const struct script_event *event, struct world *world)
{
    verbs[event->verb].run(world, event->process);
}

static void play_later(void *context, struct world *world)
{
    script_event_run(context, world);
}

void script_schedule(const struct script *script, struct world *world)
{
    for (unsigned i = 0; i < script->count; i++) {
        struct script_event *event = &script->list[i];

        if (event->at >= world_now(world))
            world_at(world, event->at, play_later, event);
    }
}

/* ---- the list ---- */

struct script *script_new(void)
{
    struct script *script = calloc(1, sizeof *script);

    if (!script)
        abort();
    return script;
}

void script_destroy(struct script **reference)
{
    if (*reference)
        free((*reference)->list);
    free(*reference);
    *reference = NULL;
}

void script_add(struct script *script, struct script_event event)
{
    if (script->count == script->room) {
        script->room = script->room ? 2 * script->room : 16;
        script->list =
            realloc(script->list, script->room * sizeof *script->list);
        if (!script->list)
            abort();
    }
    script->list[script->count++] = event;
}

void script_sort(struct script *script)
{
    for (unsigned i = 1; i < script->count; i++) {
        struct script_event event = script->list[i];
        unsigned place = i;

        for (; place > 0 && script->list[place - 1].at > event.at; place--)
            script->list[place] = script->list[place - 1];
        script->list[place] = event;
    }
}

nanos script_first_start(const struct script *script, unsigned process)
{
    const struct script_event *first = NULL;

    for (unsigned i = 0; i < script->count; i++) {
        const struct script_event *event = &script->list[i];

        if (event->process == process && (!first || event->at < first->at))
            first = event;
    }
    return first && first->verb == SCRIPT_START ? first->at : NEVER;
}

unsigned script_nodes(const struct script *script)
{
    unsigned nodes = 0;

    for (unsigned i = 0; i < script->count; i++)
        if (script->list[i].process != WORLD_HUB &&
            script->list[i].process >= nodes)
            nodes = script->list[i].process + 1;
    return nodes;
}

/* ---- as text ---- */

void script_event_print(const struct script_event *event, struct text *out)
{
    text_add(out, "at ");
    number_print((double)event->at / (double)SECOND, 1, out);
    text_add(out, "s %s ", verbs[event->verb].word);
    if (event->process == WORLD_HUB)
        text_add(out, "hub");
    else
        text_add(out, "n%u", event->process + 1);
}

static enum status read_time(const char *word, nanos *out, struct why *why)
{
    static const struct unit units[] = {
        {"", SECOND},         {"ns", 1},     {"us", MICROSECOND},
        {"ms", MILLISECOND},  {"s", SECOND}, {"min", 60 * SECOND},
        {"h", 3600 * SECOND},
    };
    char room[SHOWN_BYTES];
    uint64_t value = 0;

    if (measure_read(word, units, sizeof units / sizeof *units, &value) !=
            MEASURE_WHOLE ||
        value >= (uint64_t)NEVER)
        return because(why, STATUS_MALFORMED,
                       "'%s' is no time such as 2.5s or 300ms",
                       line_shown(word, room));
    *out = (nanos)value;
    return STATUS_OK;
}

static enum status read_verb(const char *word, enum script_verb *out,
                             struct why *why)
{
    char names[120], room[SHOWN_BYTES];
    struct text list;

    text_init(&list, names, sizeof names);
    for (unsigned i = 0; i < SCRIPT_VERBS; i++) {
        if (strcmp(word, verbs[i].word) == 0) {
            *out = (enum script_verb)i;
            return STATUS_OK;
        }
        text_add(&list, "%s%s", i ? ", " : "", verbs[i].word);
    }
    return because(why, STATUS_MALFORMED, "'%s' does not happen; say one of %s",
                   line_shown(word, room), names);
}

static enum status read_process(const char *word, enum script_verb verb,
                                unsigned *out, struct why *why)
{
    char room[SHOWN_BYTES];
    uint64_t number = 0;

    if (strcmp(word, "hub") == 0) {
        *out = WORLD_HUB;
        return verbs[verb].of_hub
                   ? STATUS_OK
                   : because(why, STATUS_MALFORMED,
                             "the hub has no link of its own to %s; name "
                             "nodes: n1 n2",
                             verbs[verb].word);
    }
    if (word[0] != 'n' || !line_number(word + 1, &number) || !number ||
        number > HUB_MAX_NODES)
        return because(why, STATUS_MALFORMED,
                       "'%s' is no process; say hub, n1, n2, ...",
                       line_shown(word, room));
    *out = (unsigned)number - 1;
    return STATUS_OK;
}

/* Whether the words are at their end. */
static bool is_over(const char *word)
{
    return !word || word[0] == '#';
}

static enum status read_act(struct script *script, char **rest, struct why *why)
{
    const char *time = line_word(rest), *verb = line_word(rest);
    const char *who = line_word(rest);
    struct script_event event = {0};
    enum status status = STATUS_OK;

    if (is_over(time) || is_over(verb) || is_over(who))
        return because(why, STATUS_MALFORMED,
                       "it takes a time, a verb and a process: at 5s crash "
                       "n1");
    status = read_time(time, &event.at, why);
    if (status == STATUS_OK)
        status = read_verb(verb, &event.verb, why);
    for (; status == STATUS_OK && !is_over(who); who = line_word(rest)) {
        status = read_process(who, event.verb, &event.process, why);
        if (status == STATUS_OK)
            script_add(script, event);
    }
    return status;
}

enum status script_read_line(struct script *script, char *line, struct why *why)
{
    const char *word = line_word(&line);
    char room[SHOWN_BYTES];

    if (is_over(word))
        return STATUS_OK;
    if (strcmp(word, "at") != 0)
        return because(why, STATUS_MALFORMED,
                       "'%s' is not how a line begins: at 5s crash n1",
                       line_shown(word, room));
    return read_act(script, &line, why);
}

static enum status take_line(void *of, struct line *line, struct why *why)
{
    struct why reason;
    enum status status = script_read_line(of, line->text, &reason);

    return status == STATUS_OK ? status
                               : because(why, status, "line %lu: %.280s",
                                         line->number, reason.text);
}

enum status script_parse(const char *text, size_t size, struct script **out,
                         struct why *why)
{
    struct lines lines = lines_of(text, size);
    struct script *script = script_new();
    enum status status = lines_each(&lines, take_line, script, why);

    if (status == STATUS_OK)
        *out = script;
    else
        script_destroy(&script);
    return status;
}
