#include "sim/study/grid.h"

#include <assert.h>
#include <string.h>

#include "core/quote.h"

/* ---- what may be varied ---- */

/* What says how to study, not what; and what results are compared by. */
static bool is_varied(const struct option *row)
{
    static const char *const groups[] = {"Study", "Files", "Program"};
    static const char *const names[] = {"seed", "goal"};

    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(row->group, groups[i]) == 0)
            return false;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(row->name, names[i]) == 0)
            return false;
    return true;
}

static enum status find(const struct grid *grid, const char *name,
                        const char *option, struct why *why)
{
    const struct option *row = options_find(PROGRAM_SIM, name);
    char shown[64];
    struct text text;

    text_init(&text, shown, sizeof shown);
    (void)quote_plain(&text, name, 40);
    if (!row)
        return because(why, STATUS_USAGE,
                       "--%s: there is no option %s; --help lists them", option,
                       shown);
    if (!is_varied(row))
        return because(why, STATUS_USAGE,
                       "--%s: %s is the same for all settings; give it "
                       "beside them",
                       option, shown);
    for (unsigned i = 0; i < grid->count; i++)
        if (strcmp(grid->axes[i].name, name) == 0)
            return because(why, STATUS_USAGE, "--%s: %s is there twice", option,
                           shown);
    return STATUS_OK;
}

/* ---- reading ---- */

static enum status add_value(struct grid_axis *axis, const char *value,
                             const char *option, struct why *why)
{
    struct options options;
    struct why detail = {""};
    enum status status;

    if (!*value)
        return because(why, STATUS_USAGE, "--%s: a value of %s is missing",
                       option, axis->name);
    options_defaults(&options);
    status = options_set(&options, PROGRAM_SIM, axis->name, value,
                         OPTION_ARGUMENT, &detail);
    if (status != STATUS_OK)
        return because(why, STATUS_USAGE, "--%s: %s", option, detail.text);
    for (unsigned i = 0; i < axis->count; i++)
        if (strcmp(axis->values[i], value) == 0)
            return because(why, STATUS_USAGE, "--%s: %s has %.60s twice",
                           option, axis->name, value);
    if (axis->count == GRID_VALUES)
        return because(why, STATUS_USAGE, "--%s: %s has more than %d values",
                       option, axis->name, GRID_VALUES);
    axis->values[axis->count++] = value;
    return STATUS_OK;
}

/* "every=10,20" */
static enum status add_axis(struct grid *grid, char *word, const char *option,
                            struct why *why)
{
    struct grid_axis *axis = &grid->axes[grid->count];
    char *values = strchr(word, '=');
    enum status status;

    if (!values)
        return because(why, STATUS_USAGE,
                       "--%s: expected NAME=VALUE,VALUE..., such as "
                       "\"every=10,20,50 delay=0,5\"",
                       option);
    *values++ = '\0';
    status = find(grid, word, option, why);
    if (status == STATUS_OK && grid->count == GRID_AXES)
        status = because(why, STATUS_USAGE, "--%s has more than %d options",
                         option, GRID_AXES);
    if (status != STATUS_OK)
        return status;
    *axis = (struct grid_axis){.name = word};
    grid->count++;
    while (status == STATUS_OK && values)
        status = add_value(axis, strsep(&values, ","), option, why);
    grid->places *= axis->count;
    if (status == STATUS_OK && grid->places > GRID_PLACES)
        return because(why, STATUS_USAGE,
                       "--%s has more than %d combinations: leave values out, "
                       "or vary one option after the other",
                       option, GRID_PLACES);
    return status;
}

enum status grid_parse(const char *text, const char *option, struct grid *out,
                       struct why *why)
{
    enum status status = STATUS_OK;
    char *rest = out->bytes;

    assert(strlen(text) < sizeof out->bytes);
    memcpy(out->bytes, text, strlen(text) + 1);
    out->count = 0;
    out->places = 1;
    while (status == STATUS_OK && rest) {
        char *word = strsep(&rest, " \t");

        if (*word)
            status = add_axis(out, word, option, why);
    }
    if (status == STATUS_OK && !out->count)
        return because(why, STATUS_USAGE,
                       "--%s: say what is to be varied, such as "
                       "\"every=10,20,50 delay=0,5\"",
                       option);
    return status;
}

/* ---- its places ---- */

/* How far apart the places of two neighbouring values are. */
static unsigned stride(const struct grid *grid, unsigned axis)
{
    unsigned stride = 1;

    for (unsigned i = grid->count - 1; i > axis; i--)
        stride *= grid->axes[i].count;
    return stride;
}

unsigned grid_value(const struct grid *grid, unsigned place, unsigned axis)
{
    return place / stride(grid, axis) % grid->axes[axis].count;
}

unsigned grid_sibling(const struct grid *grid, unsigned place, unsigned axis,
                      unsigned value)
{
    unsigned step = stride(grid, axis);

    return place - grid_value(grid, place, axis) * step + value * step;
}

void grid_apply(const struct grid *grid, unsigned place,
                struct options *options)
{
    for (unsigned i = 0; i < grid->count; i++) {
        const struct grid_axis *axis = &grid->axes[i];
        enum status status = options_set(
            options, PROGRAM_SIM, axis->name,
            axis->values[grid_value(grid, place, i)], OPTION_ARGUMENT, NULL);

        assert(status == STATUS_OK);
    }
}

void grid_name(const struct grid *grid, unsigned place, struct text *out)
{
    for (unsigned i = 0; i < grid->count; i++) {
        const struct grid_axis *axis = &grid->axes[i];

        if (grid->count > 1)
            text_add(out, "%s%s=", i ? " " : "", axis->name);
        text_add(out, "%s", axis->values[grid_value(grid, place, i)]);
    }
}
