#include "core/goal.h"

#include <string.h>

#include "core/decimal.h"

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
    bool accuracy;

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
    text_add(out, "%s", accuracy ? "%" : "");
}
