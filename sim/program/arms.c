/* How compare and sweep end: played, said, and
 * what went wrong. */
#include "sim/program/arms.h"

#include <stdio.h>
#include <string.h>

#include "sim/program/run.h"

enum {
    LINE_BYTES = 4096,
    CELL_BYTES = 300,
    ROWS = 20,     /* of a sweep's table */
    COMPLAINTS = 5 /* of a kind */
};

/* ---- the table ---- */

/* The cell of a row, or with row -1 its title. */
static void cell(const struct arms_study *study, unsigned column, int row,
                 char bytes[CELL_BYTES])
{
    struct text text;

    text_init(&text, bytes, CELL_BYTES);
    if (row < 0)
        arms_add_title(study, column, &text);
    else
        arms_columns[column].add(study->arms, study->arms->order[row], &text);
}

static size_t width_of(const struct arms_study *study, unsigned column,
                       unsigned rows)
{
    char bytes[CELL_BYTES];
    size_t width = 0;

    for (int i = -1; i < (int)rows; i++) {
        cell(study, column, i, bytes);
        if (strlen(bytes) > width)
            width = strlen(bytes);
    }
    return width;
}

static void print_table(const struct arms_study *study, unsigned rows)
{
    size_t widths[16] = {0};
    char bytes[CELL_BYTES];

    for (unsigned i = 0; i < arms_column_count; i++)
        widths[i] = width_of(study, i, rows);
    for (int row = -1; row < (int)rows; row++) {
        for (unsigned i = 0; i < arms_column_count; i++) {
            int width = (int)widths[i];

            if (!arms_has_column(study, i))
                continue;
            cell(study, i, row, bytes);
            (void)printf(i ? "  %*s" : " %*s",
                         arms_columns[i].words ? -width : width, bytes);
        }
        (void)printf("\n");
    }
}

/* ---- below it ---- */

static void print_pairs(const struct arms *arms)
{
    char bytes[LINE_BYTES];
    struct text text;

    for (unsigned i = 1; i < arms->played; i++) {
        text_init(&text, bytes, sizeof bytes);
        arms_say_beside(arms, arms->order[i], &text);
        (void)printf(" %s\n", bytes);
    }
}

static void print_worths(const struct arms *arms)
{
    struct worth worths[GRID_AXES];
    char bytes[LINE_BYTES];
    struct text text;

    arms_weigh(arms, worths);
    (void)printf(" What matters, as times the best value, all else equal:\n");
    for (unsigned i = 0; i < arms->grid->count; i++) {
        text_init(&text, bytes, sizeof bytes);
        arms_say_worth(arms, &worths[i], &text);
        (void)printf("  %s\n", bytes);
    }
}

static void print_next(const struct arms *arms)
{
    const struct grid *grid = arms->grid;
    unsigned best = arms->order[0];

    (void)printf("Next, with the same options behind it: starswitch-sim run");
    for (unsigned i = 0; i < grid->count; i++)
        (void)printf(" --%s %s", grid->axes[i].name,
                     grid->axes[i].values[grid_value(grid, best, i)]);
    (void)printf(" --report run.html\n");
}

static void print_all(const struct arms_study *study)
{
    const struct arms *arms = study->arms;
    unsigned rows = arms_rows(arms, study->sweeps ? ROWS : GRID_PLACES);

    print_table(study, rows);
    if (rows < arms->played)
        (void)printf(" and %u more: --json has them all\n",
                     arms->played - rows);
    if (study->sweeps)
        print_worths(arms);
    else
        print_pairs(arms);
    if (study->sweeps && arms->seeds > 1)
        (void)printf(" = less than two standard errors from the best\n");
    if (arms->options.report[0])
        (void)printf(" report   %s\n", arms->options.report);
    print_next(arms);
}

/* ---- what went wrong ---- */

static void say(const struct arms *arms, unsigned place, unsigned seed,
                const char *words)
{
    char bytes[ARMS_NAME_BYTES];
    struct text name;

    text_init(&name, bytes, sizeof bytes);
    grid_name(arms->grid, place, &name);
    (void)fprintf(stderr, "starswitch-sim: %s, seed %llu: %s\n", bytes,
                  (unsigned long long)arms->options.seed + seed, words);
}

/* Runs that should have ended; returns how many did not. */
static unsigned complain(const struct arms_study *study)
{
    const struct arms *arms = study->arms;
    unsigned count = 0;

    for (unsigned i = 0; i < arms->count * arms->seeds; i++) {
        const struct arm_run *run = &arms->runs[i];
        const char *words = run->outcome.trouble;

        if (run->outcome.done || run->refused || (!*words && !study->whole))
            continue;
        if (count++ < COMPLAINTS)
            say(arms, i % arms->count, i / arms->count,
                *words ? words : "its process died");
    }
    if (count > COMPLAINTS)
        (void)fprintf(stderr, "starswitch-sim: and %u more runs failed\n",
                      count - COMPLAINTS);
    return count;
}

static const char *refusal_of(const struct arms *arms, unsigned place)
{
    return arms->list[place].refused ? arms_run(arms, place, 0)->outcome.trouble
                                     : "";
}

/* How many are refused for the reason that `place` is; 0: an earlier one was
 * for the same. */
static unsigned count_alike(const struct arms *arms, unsigned place)
{
    const char *reason = refusal_of(arms, place);
    unsigned count = 0;

    for (unsigned i = 0; i < arms->count; i++) {
        if (strcmp(reason, refusal_of(arms, i)) != 0)
            continue;
        if (i < place)
            return 0;
        count++;
    }
    return count;
}

static void name_refused(const struct arms *arms)
{
    char bytes[ARMS_NAME_BYTES];
    unsigned reasons = 0;
    struct text name;

    for (unsigned i = 0; i < arms->count && reasons < COMPLAINTS; i++) {
        unsigned count = arms->list[i].refused ? count_alike(arms, i) : 0;

        if (!count)
            continue;
        reasons++;
        text_init(&name, bytes, sizeof bytes);
        grid_name(arms->grid, i, &name);
        (void)fprintf(stderr,
                      "starswitch-sim: %u of %u settings left out, such as "
                      "%s: %s\n",
                      count, arms->count, bytes, refusal_of(arms, i));
    }
    if (reasons == COMPLAINTS)
        (void)fprintf(stderr,
                      "starswitch-sim: %u of %u settings left out in "
                      "all\n",
                      arms->count - arms->played, arms->count);
}

static int conclude(struct arms_study *study)
{
    struct arms *arms = study->arms;
    const struct options *options = &arms->options;
    enum status status = STATUS_OK;
    struct why why = {""};
    unsigned failed;

    if (!options->json)
        (void)fputs(study->head, stdout);
    arms->curves = options->report[0] != '\0';
    study->whole = arms_play(arms, "runs");
    if (options->report[0])
        status = arms_report(study, options->report, &why);
    if (options->json)
        arms_print_json(arms);
    else
        print_all(study);
    (void)fflush(stdout);
    name_refused(arms);
    failed = complain(study);
    if (status == STATUS_OK && failed)
        status = because(&why, STATUS_BUG, "%u runs failed", failed);
    if (status == STATUS_OK && !study->whole)
        status = because(&why, STATUS_AGAIN,
                         "interrupted: this is what the first %u seeds say",
                         arms->seeds);
    return status == STATUS_OK ? 0 : run_fail(status, &why);
}

int arms_command(struct arms_study *study, int count, char **words)
{
    static struct grid grid;
    struct options options;
    struct why why = {""};
    struct text head;
    enum status status;
    int code;

    if (!run_options(count, words, &options, &code))
        return code;
    text_init(&head, study->head, sizeof study->head);
    status = study->read(&options, &grid, &why);
    if (status == STATUS_OK)
        status = arms_new(&grid, &options, &study->arms, &why);
    if (status == STATUS_OK)
        status = study->describe(study->arms, &head, &why);
    code = status == STATUS_OK ? conclude(study) : run_fail(status, &why);
    arms_destroy(&study->arms);
    return code;
}
