#include "tests/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

void check_add(CU_pSuite suite, const char *name, void (*function)(void))
{
    if (CU_add_test(suite, name, function))
        return;
    (void)fprintf(stderr, "%s: %s\n", name, CU_get_error_msg());
    exit(1);
}

/* Counts the check, and keeps the sentence (CUnit copies it) when it failed. */
FORMAT(3, 4)
static bool report(bool held, struct place place, const char *format, ...)
{
    char sentence[1000];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    CU_assertImplementation(held, place.line, sentence, place.file, "",
                            CU_FALSE);
    return held;
}

bool check_true(bool held, const char *condition, struct place place)
{
    return report(held, place, "%s", condition);
}

bool check_equal(long long expected, long long actual, const char *words,
                 struct place place)
{
    return report(expected == actual, place, "%s is %lld, not %lld", words,
                  actual, expected);
}

bool check_near(double expected, double actual, double tolerance,
                const char *words, struct place place)
{
    return report(fabs(expected - actual) <= tolerance, place,
                  "%s is %.17g, not %.17g within %g", words, actual, expected,
                  tolerance);
}

static const char *or_null(const char *text)
{
    return text ? text : "(null)";
}

bool check_text(const char *expected, const char *actual, const char *words,
                struct place place)
{
    bool same =
        expected && actual ? strcmp(expected, actual) == 0 : expected == actual;

    return report(same, place, "%s is \"%s\", not \"%s\"", words,
                  or_null(actual), or_null(expected));
}

bool check_contains(const char *part, const char *text, const char *words,
                    struct place place)
{
    return report(text && strstr(text, part), place,
                  "%s is \"%s\", without \"%s\"", words, or_null(text), part);
}

bool check_status(enum status expected, enum status actual, const char *words,
                  struct place place)
{
    return report(expected == actual, place, "%s is %s, not %s", words,
                  status_name(actual), status_name(expected));
}

bool same_bytes(const void *one, const void *other, size_t size)
{
    return memcmp(one, other, size) == 0;
}

const char *check_page(void (*print)(struct text *out))
{
    static char bytes[32 * 1024];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    print(&text);
    CHECK(!text.cut);
    return bytes;
}

const char *build_folder(void)
{
    const char *folder = getenv("STAR_BUILD");

    return folder ? folder : "build";
}

bool runs_slowly(void)
{
    return getenv("STAR_SLOW") != NULL;
}
