#include "sim/study/acts.h"

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
    void (*play)(struct world *world, unsigned process);
} deeds[DEEDS] = {
#define DEED(NAME, word, of_hub, function, what) {word, of_hub, function},
#include "sim/study/acts.def"
#undef DEED
};

void act_play(const struct act *act, struct world *world)
{
    deeds[act->deed].play(world, act->process);
}

static void play_later(void *context, struct world *world)
{
    act_play(context, world);
}

void acts_schedule(const struct acts *acts, struct world *world)
{
    for (unsigned i = 0; i < acts->count; i++) {
        struct act *act = &acts->list[i];

        if (act->at >= world_now(world))
            world_at(world, act->at, play_later, act);
    }
}

/* ---- the list ---- */

struct acts *acts_new(void)
{
    struct acts *acts = calloc(1, sizeof *acts);

    if (!acts)
        abort();
    return acts;
}

void acts_destroy(struct acts **reference)
{
    if (*reference)
        free((*reference)->list);
    free(*reference);
    *reference = NULL;
}

void acts_add(struct acts *acts, struct act act)
{
    if (acts->count == acts->room) {
        acts->room = acts->room ? 2 * acts->room : 16;
        acts->list = realloc(acts->list, acts->room * sizeof *acts->list);
        if (!acts->list)
            abort();
    }
    acts->list[acts->count++] = act;
}

void acts_sort(struct acts *acts)
{
    for (unsigned i = 1; i < acts->count; i++) {
        struct act act = acts->list[i];
        unsigned place = i;

        for (; place > 0 && acts->list[place - 1].at > act.at; place--)
            acts->list[place] = acts->list[place - 1];
        acts->list[place] = act;
    }
}

nanos acts_first_start(const struct acts *acts, unsigned process)
{
    const struct act *first = NULL;

    for (unsigned i = 0; i < acts->count; i++) {
        const struct act *act = &acts->list[i];

        if (act->process == process && (!first || act->at < first->at))
            first = act;
    }
    return first && first->deed == DEED_START ? first->at : NEVER;
}

unsigned acts_nodes(const struct acts *acts)
{
    unsigned nodes = 0;

    for (unsigned i = 0; i < acts->count; i++)
        if (acts->list[i].process != WORLD_HUB &&
            acts->list[i].process >= nodes)
            nodes = acts->list[i].process + 1;
    return nodes;
}

/* ---- as text ---- */

void act_print(const struct act *act, struct text *out)
{
    text_add(out, "at ");
    number_print((double)act->at / (double)SECOND, 1, out);
    text_add(out, "s %s ", deeds[act->deed].word);
    if (act->process == WORLD_HUB)
        text_add(out, "hub");
    else
        text_add(out, "n%u", act->process + 1);
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

static enum status read_deed(const char *word, enum deed *out, struct why *why)
{
    char names[120], room[SHOWN_BYTES];
    struct text list;

    text_init(&list, names, sizeof names);
    for (unsigned i = 0; i < DEEDS; i++) {
        if (strcmp(word, deeds[i].word) == 0) {
            *out = (enum deed)i;
            return STATUS_OK;
        }
        text_add(&list, "%s%s", i ? ", " : "", deeds[i].word);
    }
    return because(why, STATUS_MALFORMED, "'%s' does not happen; say one of %s",
                   line_shown(word, room), names);
}

static enum status read_process(const char *word, enum deed deed, unsigned *out,
                                struct why *why)
{
    char room[SHOWN_BYTES];
    uint64_t number = 0;

    if (strcmp(word, "hub") == 0) {
        *out = WORLD_HUB;
        return deeds[deed].of_hub
                   ? STATUS_OK
                   : because(why, STATUS_MALFORMED,
                             "the hub has no link of its own to %s; name "
                             "nodes: n1 n2",
                             deeds[deed].word);
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

static enum status read_act(struct acts *acts, char **rest, struct why *why)
{
    const char *time = line_word(rest), *verb = line_word(rest);
    const char *who = line_word(rest);
    struct act act = {0};
    enum status status = STATUS_OK;

    if (is_over(time) || is_over(verb) || is_over(who))
        return because(why, STATUS_MALFORMED,
                       "it takes a time, a verb and a process: at 5s crash "
                       "n1");
    status = read_time(time, &act.at, why);
    if (status == STATUS_OK)
        status = read_deed(verb, &act.deed, why);
    for (; status == STATUS_OK && !is_over(who); who = line_word(rest)) {
        status = read_process(who, act.deed, &act.process, why);
        if (status == STATUS_OK)
            acts_add(acts, act);
    }
    return status;
}

enum status acts_read_line(struct acts *acts, char *line, struct why *why)
{
    const char *word = line_word(&line);
    char room[SHOWN_BYTES];

    if (is_over(word))
        return STATUS_OK;
    if (strcmp(word, "at") != 0)
        return because(why, STATUS_MALFORMED,
                       "'%s' is not how a line begins: at 5s crash n1",
                       line_shown(word, room));
    return read_act(acts, &line, why);
}

static enum status take_line(void *of, struct line *line, struct why *why)
{
    struct why reason;
    enum status status = acts_read_line(of, line->text, &reason);

    return status == STATUS_OK ? status
                               : because(why, status, "line %lu: %.280s",
                                         line->number, reason.text);
}

enum status acts_parse(const char *text, size_t size, struct acts **out,
                       struct why *why)
{
    struct lines lines = lines_of(text, size);
    struct acts *acts = acts_new();
    enum status status = lines_each(&lines, take_line, acts, why);

    if (status == STATUS_OK)
        *out = acts;
    else
        acts_destroy(&acts);
    return status;
}
