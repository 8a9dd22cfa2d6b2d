#include "core/status.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

struct row {
    const char *name, *words;
    int code;
};

static const struct row rows[STATUSES] = {
#define STATUS(name, code, words) [STATUS_##name] = {#name, words, code},
#include "core/status.def"
#undef STATUS
};

static const struct row *row_of(enum status status)
{
    assert((unsigned)status < STATUSES);
    return &rows[status];
}

const char *status_name(enum status status)
{
    return row_of(status)->name;
}

const char *status_words(enum status status)
{
    return row_of(status)->words;
}

int status_exit_code(enum status status)
{
    return row_of(status)->code;
}

void explain(struct why *why, const char *format, ...)
{
    va_list arguments;

    if (!why)
        return;
    va_start(arguments, format);
    (void)vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
}
