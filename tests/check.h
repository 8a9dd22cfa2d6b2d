/* What every test file includes: the suites, and checks that say what they
 * expected.
 *
 * A test is a function whose name is a sentence; add_NAME_tests adds each with
 * TEST(function). A check that fails is reported with the file and the line,
 * and the test goes on; each returns whether it held, so that a test can stop:
 * `if (!CHECK_OK(open_it(&it))) return;`. One thread only: CUnit has no lock.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

#define SUITE(name, file) void add_##name##_tests(CU_pSuite suite);
#include "tests/suites.def"
#undef SUITE

/* Adds the function to `suite` under its own name. */
#define TEST(function) check_add(suite, #function, function)
void check_add(CU_pSuite suite, const char *name, void (*function)(void));

/* The expected value comes first. Numbers are compared as long long, near
 * numbers within an absolute tolerance; texts may be NULL. */
#define CHECK(condition) check_true(!!(condition), #condition, HERE)
#define CHECK_EQUAL(expected, actual)                                          \
    check_equal((long long)(expected), (long long)(actual), #actual, HERE)
#define CHECK_NEAR(expected, actual, tolerance)                                \
    check_near((expected), (actual), (tolerance), #actual, HERE)
#define CHECK_TEXT(expected, actual)                                           \
    check_text((expected), (actual), #actual, HERE)
#define CHECK_CONTAINS(part, text) check_contains((part), (text), #text, HERE)
#define CHECK_STATUS(expected, call)                                           \
    check_status((expected), (call), #call, HERE)
#define CHECK_OK(call) CHECK_STATUS(STATUS_OK, call)

/* Where a check stands; use HERE. */
struct place {
    const char *file;
    unsigned line;
};
#define HERE ((struct place){__FILE__, __LINE__})

bool check_true(bool held, const char *condition, struct place place);
bool check_equal(long long expected, long long actual, const char *words,
                 struct place place);
bool check_near(double expected, double actual, double tolerance,
                const char *words, struct place place);
bool check_text(const char *expected, const char *actual, const char *words,
                struct place place);
bool check_contains(const char *part, const char *text, const char *words,
                    struct place place);
bool check_status(enum status expected, enum status actual, const char *words,
                  struct place place);

/* Whether they are so bit for bit, padding included. */
bool same_bytes(const void *one, const void *other, size_t size);

/* The page that `print` makes, which must fit; until the next call. */
struct text;
const char *check_page(void (*print)(struct text *out));

/* Where the programs of this build are, such as "build"; tests run from the
 * root of the tree. */
const char *build_folder(void);

/* True under sanitizers and valgrind: try fewer seeds, expect no speed. */
bool runs_slowly(void);

#endif
