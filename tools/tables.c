/* Prints the pages that are loops over the tables, for tools/docs.
 *
 *     star-tables          the paths of all pages, one a line
 *     star-tables PATH     the page of this path */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/msg.h"
#include "codec/pages.h"
#include "core/options.h"
#include "core/schema.h"
#include "hub/hub.h"
#include "hub/ledger.h"
#include "hub/page/metrics.h"
#include "policies/pages.h"

enum { WIDTH = 80 };

enum line_kind { LINE_HEADING, LINE_PARAGRAPH, LINE_ITEM, LINE_FIGURE };

struct line {
    enum line_kind kind;
    const char *words;
};

#define HEADING(words) {LINE_HEADING, words},
#define PARAGRAPH(words) {LINE_PARAGRAPH, words},
#define ITEM(words) {LINE_ITEM, words},
#define FIGURE(words) {LINE_FIGURE, words},
#define LIMIT(what, value, why)
static const struct line lines[] = {
#include "tools/protocol.def"
};
#undef HEADING
#undef PARAGRAPH
#undef ITEM
#undef FIGURE
#undef LIMIT

#define HEADING(words)
#define PARAGRAPH(words)
#define ITEM(words)
#define FIGURE(words)
#define LIMIT(what, value, why) {what, value, why},
static const struct {
    const char *what;
    unsigned long long value;
    const char *why;
} limits[] = {
#include "tools/protocol.def"
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* The first heading is the page's, the others are of sections. */
static void print_line(const struct line *line, bool first)
{
    char bytes[2000];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    if (line->kind == LINE_ITEM)
        text_add(&text, "- ");
    if (line->kind == LINE_PARAGRAPH || line->kind == LINE_ITEM)
        text_wrap(&text, line->words, text.length, WIDTH);
    else
        text_add(&text, "%s", line->words);
    assert(!text.cut);
    printf("%s%s\n",
           line->kind != LINE_HEADING ? ""
           : first                    ? "# "
                                      : "## ",
           bytes);
}

static void print_words(void)
{
    for (size_t i = 0; i < LENGTH(lines); i++) {
        enum line_kind kind = lines[i].kind;
        bool figure = kind == LINE_FIGURE;
        bool before = i > 0 && lines[i - 1].kind == kind;
        bool after = i + 1 < LENGTH(lines) && lines[i + 1].kind == kind;

        if (figure && !before)
            printf("```text\n");
        print_line(&lines[i], i == 0);
        if (figure && !after)
            printf("```\n");
        if ((!figure && kind != LINE_ITEM) || !after)
            printf("\n");
    }
}

/* What messages.def says of a message or, with a type, of a field. */
struct row {
    const char *name, *type, *about, *to, *doc;
    enum channel channel;
};

#define MESSAGE(KIND, name, channel, to, payload, doc)                         \
    {#KIND, NULL, #payload, #to, doc, CHANNEL_##channel},
#define FIELD(name, type, field, limit, doc)                                   \
    {#field, #type, #limit, NULL, doc, CHANNEL_COUNT},
#define MESSAGE_END(name)
static const struct row rows[] = {
#include "codec/messages.def"
};
#undef MESSAGE
#undef FIELD
#undef MESSAGE_END

/* A word of a list; the list itself, which its words follow, has no text. */
struct entry {
    const char *name, *text, *doc;
};

#define LIST(list, LIST_, doc) {#list, NULL, doc},
#define WORD(LIST_, name, text, doc) {#name, text, doc},
#define LIST_END(list, LIST_)
#define CODEC(NAME, name, bits, use, valid, doc) {#NAME, #name, doc},
static const struct entry entries[] = {
#include "core/words.def"
    {"codec", NULL, "How the values of a chunk are encoded."},
#include "codec/codecs.def"
};
#undef LIST
#undef WORD
#undef LIST_END
#undef CODEC

/* The list that a field's limit counts, "verdict" for "VERDICT_COUNT". */
static const struct entry *list_of(const char *limit)
{
    for (size_t i = 0; i < LENGTH(entries); i++) {
        const char *name = entries[i].name;
        size_t j = 0;

        if (entries[i].text)
            continue;
        while (name[j] && (name[j] & ~0x20) == limit[j])
            j++;
        if (!name[j] && strcmp(limit + j, "_COUNT") == 0)
            return &entries[i];
    }
    return NULL;
}

static void print_limit(const char *limit)
{
    const struct entry *list = list_of(limit);

    if (list)
        printf("[%s](#values-of-%s)", list->name, list->name);
    else if (strcmp(limit, "OPTIONAL") == 0)
        printf("may be missing");
    else if (strcmp(limit, "0") != 0)
        printf("below %s", limit);
}

/* As the anchor of a heading is written. */
static void print_lower(const char *name)
{
    for (; *name; name++)
        printf("%c", *name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name);
}

static void print_overview(void)
{
    unsigned kind = 0;

    printf("## Messages\n\n"
           "| kind | name | channel | to | payload | meaning |\n"
           "|--:|---|---|---|---|---|\n");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].type)
            continue;
        printf("| %u | [%s](#", kind++, rows[i].name);
        print_lower(rows[i].name);
        printf(") | %s | %s | %s | %s |\n", channel_words[rows[i].channel].text,
               rows[i].to,
               strcmp(rows[i].about, "NONE") == 0 ? "" : rows[i].about,
               rows[i].doc);
    }
    printf("\nMessages of the channel local go between a node's trainer and "
           "its machine, in one\nprocess; from the network they are refused. "
           "A payload SCHEMA is the schema's text,\nCHUNK one encoded chunk, "
           "VECTOR float32 values in memory.\n");
}

static void print_fields(void)
{
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct row *row = &rows[i];

        if (!row->type) {
            printf("\n### %s\n\n%s\n\n| field | type | values | meaning |\n"
                   "|---|---|---|---|\n",
                   row->name, row->doc);
            continue;
        }
        printf("| %s | %s | ", row->name, row->type);
        print_limit(row->about);
        printf(" | %s |\n", row->doc);
    }
}

static bool is_sent(const struct entry *list)
{
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (rows[i].type && list_of(rows[i].about) == list)
            return true;
    return false;
}

/* The lists whose numbers travel in fields. */
static void print_lists(void)
{
    printf("\n## Values\n");
    for (size_t i = 0; i < LENGTH(entries); i++) {
        if (entries[i].text || !is_sent(&entries[i]))
            continue;
        printf("\n### Values of %s\n\n%s\n\n"
               "| value | word | meaning |\n|--:|---|---|\n",
               entries[i].name, entries[i].doc);
        for (size_t j = i + 1; j < LENGTH(entries) && entries[j].text; j++)
            printf("| %zu | %s | %s |\n", j - i - 1, entries[j].text,
                   entries[j].doc);
    }
}

static void print_limits(void)
{
    printf("\n## Limits\n\n| | | |\n|---|--:|---|\n");
    for (size_t i = 0; i < LENGTH(limits); i++)
        printf("| %s | %llu | %s |\n", limits[i].what, limits[i].value,
               limits[i].why);
}

static void print_protocol(enum program program)
{
    (void)program;
    print_words();
    print_overview();
    print_fields();
    print_lists();
    print_limits();
}

/* Codecs and policies stand between the options and where these may be given.
 */
static void print_man(enum program program)
{
    static char bytes[OPTIONS_PAGE_BYTES], more[OPTIONS_PAGE_BYTES];
    const char *rest = NULL;
    struct text page;

    text_init(&page, bytes, sizeof bytes);
    options_print_man(program, &page);
    text_init(&page, more, sizeof more);
    if (program != PROGRAM_NODE) {
        codecs_print_man(&page);
        policies_print_man(&page);
        rest = strstr(bytes, ".SH ENVIRONMENT");
    }
    printf("%.*s%s%s", rest ? (int)(rest - bytes) : (int)sizeof bytes, bytes,
           more, rest ? rest : "");
}

static void print_metrics(enum program program)
{
    static char bytes[OPTIONS_PAGE_BYTES];
    struct text page;

    (void)program;
    text_init(&page, bytes, sizeof bytes);
    metrics_print(&page);
    assert(!page.cut);
    (void)fputs(bytes, stdout);
}

static const struct {
    const char *path;
    void (*print)(enum program program);
    enum program program;
} pages[] = {
#define PROGRAM(NAME, name, verb, summary, description)                        \
    {"docs/man/" name ".1", print_man, PROGRAM_##NAME},
#include "core/programs.def"
    {"docs/protocol.md", print_protocol, PROGRAMS},
    {"docs/metrics.md", print_metrics, PROGRAMS},
};

int main(int count, char **arguments)
{
    for (size_t i = 0; i < LENGTH(pages); i++) {
        if (count < 2) {
            printf("%s\n", pages[i].path);
        } else if (strcmp(arguments[1], pages[i].path) == 0) {
            pages[i].print(pages[i].program);
            return ferror(stdout) ? 74 : 0;
        }
    }
    if (count < 2)
        return 0;
    (void)fprintf(stderr, "no page %s; without an argument I list them\n",
                  arguments[1]);
    return 64;
}
