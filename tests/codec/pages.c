#include "codec/pages.h"

#include <stdio.h>
#include <string.h>

#include "codec/codec.h"
#include "tests/check.h"

static char bytes[16 * 1024];

static void help_says_what_every_codec_takes_and_is(void)
{
    const char *page = check_page(codecs_print_help);

    for (unsigned i = 0; i < CODEC_COUNT; i++)
        CHECK_CONTAINS(codecs[i].name, page);
    CHECK_CONTAINS("\n  int8           8.125 bits: ", page);
    for (const char *line = page; *line;
         line += strcspn(line, "\n"), line += *line == '\n')
        CHECK(strcspn(line, "\n") <= 80);
}

static void the_manual_page_has_ascii_hyphens(void)
{
    const char *page = check_page(codecs_print_man);

    CHECK_CONTAINS(".SH CODECS\n.TP\n.B raw\n32 bits: float32", page);
    for (const char *at = strchr(page, '-'); at; at = strchr(at + 1, '-'))
        CHECK(at[-1] == '\\');
}

static void docs_have_a_row_for_every_codec(void)
{
    FILE *file = fopen("docs/codecs.md", "r");
    size_t size = file ? fread(bytes, 1, sizeof bytes - 1, file) : 0;
    char row[100];

    bytes[size] = 0;
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        (void)snprintf(row, sizeof row, "\n| `%s` | %g | %s |", codecs[i].name,
                       codecs[i].bits,
                       codecs[i].use == CODEC_FOR_ALL ? "all" : "changes");
        CHECK_CONTAINS(row, bytes);
    }
    if (file)
        (void)fclose(file);
}

static void a_head_says_the_codecs_of_both_ways(void)
{
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    codecs_describe(CODEC_INT8, CODEC_INT8, &text);
    codecs_describe(CODEC_RAW, CODEC_RAW, &text);
    codecs_describe(CODEC_INT8, CODEC_RAW, &text);
    CHECK_TEXT(" codec int8 codec raw codec-up int8 codec-down raw", bytes);
}

void add_codec_pages_tests(CU_pSuite suite)
{
    TEST(help_says_what_every_codec_takes_and_is);
    TEST(the_manual_page_has_ascii_hyphens);
    TEST(docs_have_a_row_for_every_codec);
    TEST(a_head_says_the_codecs_of_both_ways);
}
