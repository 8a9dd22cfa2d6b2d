#include "core/text.h"

#include <string.h>

#include "tests/check.h"

static char bytes[32];
static struct text text;

static void pieces_make_one_text(void)
{
    text_init(&text, bytes, sizeof bytes);
    CHECK_TEXT("", bytes);
    text_add(&text, "%s=%d", "k", 20);
    text_add_character(&text, '!');
    CHECK_TEXT("k=20!", bytes);
    CHECK_EQUAL(5, text.length);
    CHECK(!text.cut);
}

static void what_does_not_fit_is_cut_and_said(void)
{
    text_init(&text, bytes, 4);
    text_add(&text, "abc");
    CHECK(!text.cut);
    text_add_character(&text, 'd');
    text_add(&text, "%s", "ef");
    CHECK(text.cut);
    CHECK_TEXT("abc", bytes);
}

static void bytes_have_a_unit(void)
{
    text_init(&text, bytes, sizeof bytes);
    text_add_bytes(&text, 0);
    text_add_bytes(&text, 999.6);
    text_add_bytes(&text, 3.2e9);
    CHECK_TEXT("0 B1 kB3.2 GB", bytes);
}

static void columns_count_from_the_last_line(void)
{
    text_init(&text, bytes, sizeof bytes);
    CHECK_EQUAL(0, text_column(&text));
    text_add(&text, "abc\nde");
    CHECK_EQUAL(2, text_column(&text));
    text_pad(&text, 4);
    text_add(&text, "f");
    CHECK_TEXT("abc\nde  f", bytes);
    text_pad(&text, 2);
    CHECK_TEXT("abc\nde  f\n  ", bytes);
}

static void words_are_wrapped_between_blanks(void)
{
    text_init(&text, bytes, sizeof bytes);
    text_add(&text, "- ");
    text_wrap(&text, "one two  three", 2, 9);
    CHECK_TEXT("- one two\n  three", bytes);
    text_wrap(&text, "four", 2, 9);
    CHECK_TEXT("- one two\n  three\n  four", bytes);
}

static void a_word_too_long_stands_out(void)
{
    text_init(&text, bytes, sizeof bytes);
    text_wrap(&text, "a incomprehensible b", 0, 8);
    CHECK_TEXT("a\nincomprehensible\nb", bytes);
}

static void items_stand_between_commas(void)
{
    text_init(&text, bytes, sizeof bytes);
    text_add_item(&text, "one");
    CHECK_TEXT("one", bytes);
    text_add_item(&text, "two");
    text_add_item(&text, "three");
    CHECK_TEXT("one, two, three", bytes);
}

static void one_of_a_thing_is_no_plural(void)
{
    CHECK_TEXT("s", plural(0));
    CHECK_TEXT("", plural(1));
    CHECK_TEXT("s", plural(2));
}

void add_core_text_tests(CU_pSuite suite)
{
    TEST(pieces_make_one_text);
    TEST(what_does_not_fit_is_cut_and_said);
    TEST(bytes_have_a_unit);
    TEST(columns_count_from_the_last_line);
    TEST(words_are_wrapped_between_blanks);
    TEST(a_word_too_long_stands_out);
    TEST(items_stand_between_commas);
    TEST(one_of_a_thing_is_no_plural);
}
