/* What is known of a run: lives, spans, exchanges; read from its file `chaos`.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/chaos/inside.h"

enum { SHOWN = 20, SHOWN_BYTES = 120 };

static const char *const fault_names[FAULTS] = {
#define FAULT(NAME, name, ...) name,
#include "tests/chaos/faults.def"
#undef FAULT
};

/* ---- small things ---- */

static void *grown(void *list, size_t count, size_t size)
{
    /* Room is doubled whenever it is a power of two. */
    if (count & (count - 1))
        return list;
    list = reallocarray(list, count ? 2 * count : 1, size);
    if (!list)
        abort();
    return list;
}

void numbers_add(struct numbers *numbers, double number)
{
    numbers->list = grown(numbers->list, numbers->count, sizeof *numbers->list);
    numbers->list[numbers->count++] = number;
}

const char *actor_name(unsigned actor, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, actor ? "n%u" : "hub", actor);
    return name;
}

unsigned actor_of(const char *name)
{
    unsigned long number;
    char *end;

    if (strcmp(name, "hub") == 0)
        return 0;
    number = name[0] == 'n' ? strtoul(name + 1, &end, 10) : 0;
    return number && number < ACTORS && !*end ? (unsigned)number : ACTORS;
}

void violated(struct judge *judge, const struct entry *entry,
              const char *format, ...)
{
    va_list arguments;

    if (++judge->violations > SHOWN)
        return;
    (void)fprintf(judge->out, "%s:%u: at %.3f s: ", entry->path, entry->line,
                  (double)entry->now / (double)SECOND);
    va_start(arguments, format);
    (void)vfprintf(judge->out, format, arguments);
    va_end(arguments);
    (void)fprintf(judge->out, "\n");
    if (entry->verb)
        (void)fprintf(judge->out, "    %s %" PRIu64 " %s %.*s\n", entry->verb,
                      entry->peer, entry->kind, SHOWN_BYTES, entry->rest);
}

struct offer *exchange_at(struct life *life, uint64_t number)
{
    static const struct chunk none = {OPEN, OPEN, 0};

    while (life->count <= number && number < 1 << 24) {
        struct offer *next;

        life->exchanges =
            grown(life->exchanges, life->count, sizeof *life->exchanges);
        next = &life->exchanges[life->count++];
        next->offered = 0;
        next->part = fragment_of(FRAGMENT_ALL, 1);
        for (unsigned i = 0; i < MOST_CHUNKS; i++)
            next->chunks[i] = none;
    }
    return &life->exchanges[number < life->count ? number : 0];
}

/* ---- spans ---- */

static bool stops(enum fault fault)
{
    return fault == FAULT_STOP || fault == FAULT_HUB_STOP;
}

nanos stopped_between(const struct judge *judge, const struct life *life,
                      nanos from, nanos to)
{
    nanos sum = 0;

    for (size_t i = 0; i < judge->span_count; i++) {
        const struct span *span = &judge->spans[i];
        nanos first = span->from > from ? span->from : from;
        nanos last = span->to < to ? span->to : to;

        if (stops(span->fault) && span->actor == life->actor &&
            span->life == life->number && last > first)
            sum += last - first;
    }
    return sum;
}

bool was_disturbed(const struct judge *judge, unsigned actor, nanos from,
                   nanos to)
{
    for (size_t i = 0; i < judge->span_count; i++) {
        const struct span *span = &judge->spans[i];

        if (span->actor == actor && span->from < to && span->to > from)
            return true;
    }
    return false;
}

struct life *hub_at(struct judge *judge, nanos now)
{
    for (size_t i = 0; i < judge->life_count; i++) {
        struct life *life = &judge->lives[i];

        if (life->actor == 0 && life->begin <= now && now < life->end)
            return life;
    }
    return NULL;
}

/* ---- the file `chaos` ---- */

static struct life *newest_life(struct judge *judge, unsigned actor)
{
    for (size_t i = judge->life_count; i-- > 0;)
        if (judge->lives[i].actor == actor)
            return &judge->lives[i];
    return NULL;
}

static void take_start(struct judge *judge, nanos now, unsigned actor,
                       char *rest)
{
    judge->lives = grown(judge->lives, judge->life_count, sizeof *judge->lives);
    judge->lives[judge->life_count++] =
        (struct life){.actor = actor,
                      .number = (unsigned)strtoul(rest, NULL, 10),
                      .begin = now,
                      .end = NEVER,
                      .code = -1};
    if (actor >= judge->actors)
        judge->actors = actor + 1;
}

static bool is_on(const struct judge *judge, enum fault fault)
{
    for (size_t i = 0; i < judge->span_count; i++)
        if (judge->spans[i].fault == fault && judge->spans[i].to == NEVER)
            return true;
    return false;
}

static bool was_killed(const struct judge *judge, unsigned actor)
{
    return actor ? is_on(judge, FAULT_KILL)
                 : is_on(judge, FAULT_HUB_KILL) || is_on(judge, FAULT_HUB_LOSS);
}

static void take_gone(struct judge *judge, nanos now, unsigned actor,
                      char *rest)
{
    struct entry entry = {.path = "chaos", .now = now};
    struct life *life = newest_life(judge, actor);
    char name[NAME_BYTES];

    if (!life)
        return;
    (void)strtoul(rest, &rest, 10);
    life->end = now;
    life->code = (int)strtol(rest, NULL, 10);
    if (life->code == 0 && judge->close < NEVER)
        return;
    if ((life->code == 137 && was_killed(judge, actor)) ||
        (!actor && is_on(judge, FAULT_FULL)))
        return;
    violated(judge, &entry, "life %u of %s ended with %d", life->number,
             actor_name(actor, name), life->code);
}

static enum fault fault_of(const char *name)
{
    for (int i = 0; i < FAULTS; i++)
        if (strcmp(fault_names[i], name) == 0)
            return (enum fault)i;
    return FAULTS;
}

static void take_begin(struct judge *judge, nanos now, const char *name,
                       char *rest)
{
    enum fault fault = fault_of(name);
    char *who = strsep(&rest, " ");
    unsigned actor = who ? actor_of(who) : ACTORS;

    if (fault == FAULTS || actor == ACTORS || !rest)
        return;
    judge->begins[fault]++;
    judge->spans = grown(judge->spans, judge->span_count, sizeof *judge->spans);
    judge->spans[judge->span_count++] = (struct span){
        fault, actor, (unsigned)strtoul(rest, NULL, 10), now, NEVER};
}

static void take_end(struct judge *judge, nanos now, const char *name,
                     char *rest)
{
    enum fault fault = fault_of(name);
    char *who = strsep(&rest, " ");
    unsigned actor = who ? actor_of(who) : ACTORS;

    for (size_t i = judge->span_count; i-- > 0;)
        if (judge->spans[i].fault == fault && judge->spans[i].actor == actor) {
            judge->spans[i].to = now;
            return;
        }
}

static void take_memory(struct judge *judge, nanos now, const char *number)
{
    struct entry entry = {.path = "chaos", .now = now};
    double bytes = strtod(number, NULL);

    if (bytes > judge->most_memory)
        judge->most_memory = bytes;
    if (bytes > judge->limits->memory)
        violated(judge, &entry, "N5: the hub holds %.1f MB", bytes / 1e6);
}

static void take_line(struct judge *judge, char *text)
{
    char *rest = text, *at = strsep(&rest, " ");
    nanos now = (nanos)(strtod(at, NULL) * (double)SECOND);
    const char *word = rest ? strsep(&rest, " ") : "";
    const char *name = rest ? strsep(&rest, " ") : "";
    unsigned actor = actor_of(name);

    if (strcmp(word, "start") == 0 && rest && actor < ACTORS)
        take_start(judge, now, actor, rest);
    else if (strcmp(word, "gone") == 0 && rest && actor < ACTORS)
        take_gone(judge, now, actor, rest);
    else if (strcmp(word, "begin") == 0 && rest)
        take_begin(judge, now, name, rest);
    else if (strcmp(word, "end") == 0 && rest)
        take_end(judge, now, name, rest);
    else if (strcmp(word, "memory") == 0)
        take_memory(judge, now, name);
    else if (strcmp(word, "quiet") == 0)
        judge->quiet = now;
    else if (strcmp(word, "close") == 0)
        judge->close = now;
}

void judge_chaos(struct judge *judge, const char *path)
{
    struct entry entry = {.path = path};
    FILE *file = fopen(path, "re");
    char text[PATH_ROOM];

    if (!file) {
        violated(judge, &entry, "it cannot be read");
        return;
    }
    while (fgets(text, sizeof text, file)) {
        text[strcspn(text, "\n")] = '\0';
        take_line(judge, text);
    }
    (void)fclose(file);
}
