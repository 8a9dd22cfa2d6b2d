#include "core/quote.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"

static char buffer[200];

static struct text start(void)
{
    struct text text;

    text_init(&text, buffer, sizeof buffer);
    return text;
}

static const char *json_of(const char *words)
{
    struct text text = start();

    quote_json(&text, words);
    return buffer;
}

static const char *html_of(const char *words)
{
    struct text text = start();

    quote_html(&text, words);
    return buffer;
}

static const char *plain_of(const char *words, size_t columns)
{
    struct text text = start();

    CHECK(quote_plain(&text, words, columns) <= columns);
    return buffer;
}

static void json_strings_keep_what_is_text(void)
{
    CHECK_TEXT("\"\"", json_of(""));
    CHECK_TEXT("\"b\xc3\xbcro \xf0\x9f\x98\x80\"",
               json_of("b\xc3\xbcro \xf0\x9f\x98\x80"));
}

static void json_strings_escape_quotes_and_controls(void)
{
    CHECK_TEXT("\"a\\\"b\\\\c\\nd\\u001b[2J\\u007f\"",
               json_of("a\"b\\c\nd\x1b[2J\x7f"));
    CHECK_TEXT("\"\\u009b2J\\u2028\"", json_of("\xc2\x9b"
                                               "2J\xe2\x80\xa8"));
}

/* A name that a terminal would show backwards, or as another one. */
static void json_strings_show_all_that_is_in_them(void)
{
    // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what is tested
    CHECK_TEXT("\"a\\u202etxt.exe\"", json_of("a\xe2\x80\xae"
                                              "txt.exe"));
    CHECK_TEXT("\"n\\u200b1\"", json_of("n\xe2\x80\x8b"
                                        "1"));
    CHECK_TEXT("\"\\udb40\\udc41\"", json_of("\xf3\xa0\x81\x81"));
}

static void json_strings_are_always_utf_8(void)
{
    CHECK_TEXT("\"\\ufffda\"", json_of("\xff"
                                       "a"));
    CHECK_TEXT("\"\\ufffd\\ufffd\"", json_of("\xc0\x80"));
    CHECK_TEXT("\"\\ufffd\\ufffd\\ufffd\"", json_of("\xed\xa0\x80"));
    CHECK_TEXT("\"\\ufffd\"", json_of("\xc3"));
    CHECK_TEXT("\"\\ufffd\\ufffd\"", json_of("\xe2\x82"));
    CHECK_TEXT("\"\\ufffd\\ufffd\\ufffd\\ufffd\"", json_of("\xf4\x90\x80\x80"));
}

static void json_has_no_word_for_infinity(void)
{
    struct text text = start();

    quote_json_number(&text, 0.25);
    quote_json_number(&text, INFINITY);
    quote_json_number(&text, NAN);
    CHECK_TEXT("0.25nullnull", buffer);
}

static void html_escapes_what_begins_a_tag_or_ends_an_attribute(void)
{
    CHECK_TEXT("&lt;b a=&quot;&#39;&quot;&gt;&amp;amp;",
               html_of("<b a=\"'\">&amp;"));
    CHECK_TEXT("b\xc3\xbcro ??", html_of("b\xc3\xbcro \x1b\xff"));
}

static void html_does_not_turn_the_direction_of_writing(void)
{
    /* U+202E and U+2066, byte by byte: compilers warn of them in strings. */
    static const unsigned char turning[] = {'a',  0xE2, 0x80, 0xAE, 'b',
                                            0xE2, 0x81, 0xA6, 0};

    CHECK_TEXT("a?b?", html_of((const char *)turning));
}

static void plain_text_moves_no_cursor(void)
{
    CHECK_TEXT("a?[2Jb??c", plain_of("a\x1b[2Jb\r\nc", 20));
    CHECK_TEXT("?2J", plain_of("\xc2\x9b"
                               "2J",
                               20));
    CHECK_TEXT("b\xc3\xbcro", plain_of("b\xc3\xbcro", 20));
    CHECK_TEXT("??", plain_of("\xe4\xba\xac\xff", 20));
}

static void plain_text_has_as_many_columns_as_it_says(void)
{
    struct text text = start();

    CHECK_EQUAL(4, quote_plain(&text, "b\xc3\xbcro", 4));
    CHECK_TEXT("b\xc3\xbcro", buffer);
    CHECK_TEXT("b\xc3\xbc~", plain_of("b\xc3\xbcro", 3));
    CHECK_TEXT("", plain_of("b\xc3\xbcro", 0));
}

static void a_long_name_is_cut_in_its_middle(void)
{
    char bytes[80];
    struct text out;

    text_init(&out, bytes, sizeof bytes);
    CHECK_EQUAL(16, quote_name(&out, "laboratory-west-pc17", 16));
    CHECK_TEXT("laborat~est-pc17", bytes);
    text_init(&out, bytes, sizeof bytes);
    CHECK_EQUAL(5, quote_name(&out, "caf\xc3\xa9\xc3\xa9\xc3\xa9n", 5));
    CHECK_TEXT("ca~\xc3\xa9n", bytes);
    text_init(&out, bytes, sizeof bytes);
    CHECK_EQUAL(4, quote_name(&out, "pc17", 4));
    CHECK_TEXT("pc17", bytes);
}

static const char *short_of(const char *name)
{
    struct text text = start();

    quote_short(&text, name, 10);
    return buffer;
}

/* Of any script; East Asian characters and emoji are two wide, accents none. */
static void a_short_name_is_in_its_own_script(void)
{
    /* Right to left from here on. */
    static const char turned[] = {'a', '\xe2', '\x80', '\xae', 'b', '\0'};

    CHECK_TEXT("\xd1\x83\xd0\xb7\xd0\xb5\xd0\xbb",
               short_of("\xd1\x83\xd0\xb7\xd0\xb5\xd0\xbb"));
    CHECK_TEXT("\xe6\x9d\xb1\xe4\xba\xac\xf0\x9f\x90\x8d",
               short_of("\xe6\x9d\xb1\xe4\xba\xac\xf0\x9f\x90\x8d"));
    CHECK_TEXT("e\xcc\x81tage", short_of("e\xcc\x81tage"));
    CHECK_TEXT("a?b", short_of(turned));
    CHECK_TEXT("a?", short_of("a\xff"));
    CHECK_TEXT("pc-o\xe2\x80\xa6st-17", short_of("pc-of-the-east-17"));
    CHECK_TEXT("\xe6\x9d\xb1\xe4\xba\xac\xe2\x80\xa6\xe4\xba\xac-17",
               short_of("\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac"
                        "\xe6\x9d\xb1\xe4\xba\xac-17"));
}

void add_core_quote_tests(CU_pSuite suite)
{
    TEST(json_strings_keep_what_is_text);
    TEST(json_strings_escape_quotes_and_controls);
    TEST(json_strings_show_all_that_is_in_them);
    TEST(json_strings_are_always_utf_8);
    TEST(json_has_no_word_for_infinity);
    TEST(html_escapes_what_begins_a_tag_or_ends_an_attribute);
    TEST(html_does_not_turn_the_direction_of_writing);
    TEST(plain_text_moves_no_cursor);
    TEST(a_long_name_is_cut_in_its_middle);
    TEST(plain_text_has_as_many_columns_as_it_says);
    TEST(a_short_name_is_in_its_own_script);
}
