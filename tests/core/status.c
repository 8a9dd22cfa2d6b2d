#include "core/status.h"

#include <string.h>

#include "tests/check.h"

static void every_status_has_words_and_a_name(void)
{
    for (int i = 0; i < STATUSES; i++) {
        CHECK(strlen(status_name((enum status)i)) > 0);
        CHECK(strlen(status_words((enum status)i)) > 0);
    }
    CHECK_TEXT("OK", status_name(STATUS_OK));
}

static void names_are_unique(void)
{
    for (int i = 0; i < STATUSES; i++)
        for (int j = 0; j < i; j++)
            CHECK(strcmp(status_name((enum status)i),
                         status_name((enum status)j)) != 0);
}

static void only_ok_exits_with_zero(void)
{
    for (int i = 0; i < STATUSES; i++) {
        int code = status_exit_code((enum status)i);

        CHECK_EQUAL(i == STATUS_OK, code == 0);
        CHECK(code >= 0 && code < 128);
    }
}

static void because_gives_the_sentence_and_returns_the_status(void)
{
    struct why why;

    CHECK_STATUS(STATUS_CONFIG, because(&why, STATUS_CONFIG, "k is %d", 0));
    CHECK_TEXT("k is 0", why.text);
}

static void because_nobody_asked_why_is_fine(void)
{
    CHECK_STATUS(STATUS_IO, because(NULL, STATUS_IO, "no %s", "reader"));
}

static void a_sentence_too_long_is_cut_and_ended(void)
{
    struct why why;
    char text[2 * sizeof why.text];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_STATUS(STATUS_IO, because(&why, STATUS_IO, "%s", text));
    CHECK_EQUAL(sizeof why.text - 1, strlen(why.text));
}

void add_core_status_tests(CU_pSuite suite)
{
    TEST(every_status_has_words_and_a_name);
    TEST(names_are_unique);
    TEST(only_ok_exits_with_zero);
    TEST(because_gives_the_sentence_and_returns_the_status);
    TEST(because_nobody_asked_why_is_fine);
    TEST(a_sentence_too_long_is_cut_and_ended);
}
