#include "tests/chaos/judge.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/chaos/inside.h"

static const char *const fault_names[FAULTS] = {
#define FAULT(NAME, name, ...) name,
#include "tests/chaos/faults.def"
#undef FAULT
};

/* A lease of 60 s is the longest that anybody is waited for; a hub has its
 * budget of 48 MiB, as much in results, and itself. */
void judge_limits_init(struct judge_limits *limits)
{
    *limits = (struct judge_limits){
        .memory = 192e6, .live = 60 * SECOND, .pause = 2 * SECOND};
}

/* ---- the table ---- */

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static void print_numbers(FILE *out, const char *what,
                          const struct numbers *numbers)
{
    size_t count = numbers->count;

    if (!count)
        return;
    qsort(numbers->list, count, sizeof *numbers->list, compare);
    (void)fprintf(out, "%-38s %8.3f %8.3f %8.3f %8.3f  %zu\n", what,
                  numbers->list[0], numbers->list[count / 2],
                  numbers->list[count * 99 / 100], numbers->list[count - 1],
                  count);
}

static void print_counts(const struct judge *judge)
{
    FILE *out = judge->out;

    (void)fprintf(out, "faults:");
    for (int i = 0; i < FAULTS; i++)
        if (judge->begins[i])
            (void)fprintf(out, " %s %" PRIu64, fault_names[i],
                          judge->begins[i]);
    (void)fprintf(out,
                  "\nversions %" PRIu64 ", exchanges %" PRIu64 " of %u chunks\n"
                  "chunks:",
                  judge->newest, judge->exchanges, judge->chunks);
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (judge->told[i])
            (void)fprintf(out, " %s %" PRIu64, verdict_words[i].text,
                          judge->told[i]);
    (void)fprintf(out,
                  "; answered by WELCOME %" PRIu64 "; open at the end of a "
                  "life %" PRIu64 "; hub and node agree on %" PRIu64 "\n",
                  judge->by_welcome, judge->open, judge->agreed);
    (void)fprintf(out, "the hub's memory: %.1f MB at most\n",
                  judge->most_memory / 1e6);
}

void judge_print(const struct judge *judge)
{
    FILE *out = judge->out;

    print_counts(judge);
    (void)fprintf(out, "%-38s %8s %8s %8s %8s\n", "seconds", "least", "median",
                  "99 %", "most");
    print_numbers(out, "hub: start to first WELCOME", &judge->welcomes);
    print_numbers(out, "hub: start to first result", &judge->merges);
    print_numbers(out, "node: start to first iteration", &judge->loads);
    print_numbers(out, "node: between counts of iterations", &judge->pauses);
    print_numbers(out, "offer to verdict", &judge->verdicts);
    print_numbers(out, "quiet to merged again", &judge->lives_again);
    (void)fprintf(out, "violations: %u\n", judge->violations);
}

/* ---- judging ---- */

/* N6, of who has not come. */
static void judge_alive(struct judge *judge)
{
    struct entry entry = {.path = "chaos", .now = judge->close};
    char name[NAME_BYTES];

    if (judge->quiet == NEVER)
        violated(judge, &entry, "the run was broken off");
    for (unsigned i = 1; i < judge->actors && judge->quiet < NEVER; i++) {
        nanos alive = judge->alive[i];

        if (!alive || alive - judge->quiet > judge->limits->live)
            violated(judge, &entry,
                     "N6: %s has no exchange merged in time after the faults",
                     actor_name(i, name));
    }
}

static void path_of(const struct judge *judge, const struct life *life,
                    char path[PATH_ROOM])
{
    char name[NAME_BYTES];

    (void)snprintf(path, PATH_ROOM, "%s/%s.%u.record", judge->folder,
                   actor_name(life->actor, name), life->number);
}

static void judge_lives(struct judge *judge)
{
    struct life *before = NULL;
    char path[PATH_ROOM];

    for (size_t i = 0; i < judge->life_count; i++)
        if (judge->lives[i].actor) {
            path_of(judge, &judge->lives[i], path);
            judge_node(judge, &judge->lives[i], path);
        }
    for (size_t i = 0; i < judge->life_count; i++)
        if (!judge->lives[i].actor) {
            path_of(judge, &judge->lives[i], path);
            judge_hub(judge, &judge->lives[i], before, path);
            before = &judge->lives[i];
        }
}

static void judge_free(struct judge *judge)
{
    for (size_t i = 0; i < judge->life_count; i++)
        free(judge->lives[i].exchanges);
    free(judge->lives);
    free(judge->spans);
    free(judge->pauses.list);
    free(judge->loads.list);
    free(judge->welcomes.list);
    free(judge->merges.list);
    free(judge->lives_again.list);
    free(judge->verdicts.list);
}

int judge_folder(const char *folder, const struct judge_limits *limits,
                 FILE *out)
{
    struct judge judge = {.folder = folder,
                          .limits = limits,
                          .out = out,
                          .quiet = NEVER,
                          .close = NEVER};
    char path[PATH_ROOM];

    (void)snprintf(path, sizeof path, "%s/chaos", folder);
    judge_chaos(&judge, path);
    judge_lives(&judge);
    judge_exchanges(&judge);
    judge_alive(&judge);
    judge_print(&judge);
    judge_free(&judge);
    return judge.violations ? 1 : 0;
}
