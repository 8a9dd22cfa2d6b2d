#include "core/goal.h"

#include <math.h>
#include <string.h>

#include "core/decimal.h"

/* A whole number from here to 100 is rather an accuracy without its sign. */
#define PERCENT_LEAST 10

static enum status expected(struct why *why, const char *what)
{
    return because(why, STATUS_USAGE, "expected %s", what);
}

enum status goal_parse(const char *text, struct goal *out, struct why *why)
{
    static const char wanted[] =
        "87% (accuracy at least) or 0.35 (loss at most)";
    struct goal goal;
    struct decimal decimal;
    double number;
    bool accuracy, whole = !strchr(text, '.');

    if (!decimal_read(&text, &decimal))
        return expected(why, wanted);
    accuracy = *text == '%';
    if (accuracy) {
        decimal.exponent -= 2;
        text++;
    }
    if (*text || !decimal_number(&decimal, &number) || number <= 0)
        return expected(why, wanted);
    if (accuracy && number > 1)
        return expected(why, "at most 100%");
    if (!accuracy && whole && number >= PERCENT_LEAST && number <= 100)
        return because(why, STATUS_USAGE,
                       "%.0f alone is a loss: say %.0f%% for an accuracy, or "
                       "%.0f.0 if a loss is meant",
                       number, number, number);
    memset(&goal, 0, sizeof goal);
    goal.kind = accuracy ? GOAL_ACCURACY : GOAL_LOSS;
    goal.value = number;
    memcpy(out, &goal, sizeof goal);
    return STATUS_OK;
}

void goal_print(const struct goal *goal, struct text *out)
{
    bool accuracy = goal->kind == GOAL_ACCURACY;

    number_print(goal->value, accuracy ? 100 : 1, out);
    if (accuracy)
        text_add(out, "%%");
    else if (goal->value >= PERCENT_LEAST && goal->value <= 100 &&
             floor(goal->value) >= goal->value)
        text_add(out, ".0");
}
