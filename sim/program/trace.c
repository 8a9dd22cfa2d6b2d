/* starswitch-sim import and export: traces from and for other programs.
 *
 *     starswitch-sim import KIND FILE [-o OUT] [--node NAME] [OPTIONS]
 *     starswitch-sim export KIND FILE [-o OUT]
 *
 * FILE may be `-`, standard input; without -o the result goes to standard
 * output. */
#include "sim/program/program.h"
#include "sim/program/run.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/files.h"
#include "sim/trace/export.h"
#include "sim/trace/import.h"
#include "sim/trace/join.h"
#include "store/file.h"

/* What the words of the command line say. */
struct request {
    const char *command; /* "import" or "export" */
    const char *kind, *file, *out, *node, *quantity, *column, *time_unit, *unit,
        *join;
    bool help;
};

/* Text that grows. */
struct page {
    char *bytes;
    size_t length, room;
};

static bool page_put(void *of, const char *text, size_t length)
{
    struct page *page = of;

    if (page->room - page->length < length) {
        size_t room = 2 * page->room + length + 4096;
        char *bytes = realloc(page->bytes, room);

        if (!bytes)
            return false;
        page->bytes = bytes;
        page->room = room;
    }
    memcpy(page->bytes + page->length, text, length);
    page->length += length;
    return true;
}

/* ---- the command line ---- */

/* The place for the value of this option, or NULL: there is none. */
static const char **option_place(struct request *request, const char *word)
{
    bool import = strcmp(request->command, "import") == 0;

    if (strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0)
        return &request->out;
    if (import && strcmp(word, "--node") == 0)
        return &request->node;
    if (import && strcmp(word, "--quantity") == 0)
        return &request->quantity;
    if (import && strcmp(word, "--column") == 0)
        return &request->column;
    if (import && strcmp(word, "--time-unit") == 0)
        return &request->time_unit;
    if (import && strcmp(word, "--unit") == 0)
        return &request->unit;
    if (import && strcmp(word, "--join") == 0)
        return &request->join;
    return NULL;
}

static enum status take_word(struct request *request, const char *word,
                             struct why *why)
{
    const char **place = request->kind ? &request->file : &request->kind;

    if (*place)
        return because(why, STATUS_USAGE,
                       "%s: what is '%.80s'? It takes one "
                       "kind and one file; options begin with --",
                       request->command, word);
    *place = word;
    return STATUS_OK;
}

static enum status read_words(int count, char **words, struct request *out,
                              struct why *why)
{
    for (int i = 1; i < count; i++) {
        const char **place = option_place(out, words[i]);
        enum status status = STATUS_OK;

        if (strcmp(words[i], "--help") == 0)
            out->help = true;
        else if (place && i + 1 == count)
            return because(why, STATUS_USAGE, "%s: %s needs a value",
                           out->command, words[i]);
        else if (place)
            *place = words[++i];
        else if (words[i][0] == '-' && words[i][1])
            return because(why, STATUS_USAGE,
                           "%s: there is no option '%.80s'; "
                           "--help says what there is",
                           out->command, words[i]);
        else
            status = take_word(out, words[i], why);
        if (status != STATUS_OK)
            return status;
    }
    if (out->help || out->file)
        return STATUS_OK;
    return because(why, STATUS_USAGE,
                   "%s: say which kind and which file, as "
                   "in: starswitch-sim %s %s; --help says what there is",
                   out->command, out->command,
                   strcmp(out->command, "import") == 0
                       ? "ping lan.log -o lan.trace"
                       : "csv lan.trace -o lan.csv");
}

/* ---- files ---- */

static enum status read_file(const char *path, struct page *page,
                             struct why *why)
{
    enum status status =
        file_read(path, LONGEST_FILE, &page->bytes, &page->length, why);

    return status == STATUS_OK
               ? files_check(path, page->bytes, page->length, why)
               : status;
}

static enum status write_out(const char *path, const struct page *page,
                             struct why *why)
{
    const struct part part = {page->bytes, page->length};

    if (path)
        return file_replace(path, &part, 1, why);
    if (fwrite(page->bytes, 1, page->length, stdout) == page->length &&
        fflush(stdout) == 0)
        return STATUS_OK;
    return file_failed("write", "the result", why);
}

/* ---- import ---- */

static void print_import_help(void)
{
    (void)printf(
        "starswitch-sim import: makes a trace of what was measured\n\n"
        "Usage: starswitch-sim import KIND FILE [-o OUT] [--node NAME] "
        "[OPTIONS]\n\n"
        "FILE may be -, standard input. Kinds:\n");
    for (unsigned i = 0; i < importer_count; i++)
        (void)printf("  %-10s  %s\n", importers[i].name, importers[i].doc);
    (void)printf(
        "\nOptions:\n"
        "  -o OUT           write the trace to this file (default: to standard "
        "output)\n"
        "  --node NAME      of which node it is said (default: *, all of "
        "them); hub is\n"
        "                   the hub's port; a recording has names of its own\n"
        "  --quantity WHAT  what the numbers are: rate (up and down), or\n"
        "                   ");
    for (unsigned i = 0; i < QUANTITIES; i++)
        (void)printf("%s%s",
                     i == 0               ? ""
                     : i + 1 < QUANTITIES ? ", "
                                          : " or ",
                     quantities[i].name);
    (void)printf("\n"
                 "  --column C       of a table: the value's column, or TIME,"
                 "VALUE; by number\n"
                 "                   from 1 or by name (default: 1,2)\n"
                 "  --time-unit U    of times without a unit: s, ms, us, ns "
                 "(default: s); dates as\n"
                 "                   2026-11-22T15:04:05Z need none\n"
                 "  --unit U         of values without a unit: Mbit, ms, %% "
                 "... (default: bytes\n"
                 "                   a second, seconds, parts of 1)\n"
                 "  --join TRACE     a trace that this is added to, as when up "
                 "and down of a link\n"
                 "                   are two files; the shorter one repeats\n"
                 "\nExamples:\n"
                 "  ping -D -c 100 hub > lan.log\n"
                 "  starswitch-sim import ping lan.log -o lan.trace\n"
                 "  iperf3 -c hub --bidir -J | starswitch-sim import iperf3 - "
                 "--node n1\n"
                 "  starswitch-sim import csv wifi.csv --quantity delay "
                 "--column 1,4 --unit ms\n"
                 "  starswitch-sim import mahimahi up.log --quantity up -o "
                 "up.trace\n"
                 "  starswitch-sim import mahimahi down.log --quantity down "
                 "--join up.trace\n\n"
                 "The format is described in starswitch-trace(5).\n");
}

static enum status unknown_kind(const struct request *request,
                                const char *kinds, struct why *why)
{
    if (strcmp(request->kind, "flent") == 0)
        return because(why, STATUS_USAGE,
                       "import: flent's own files are not "
                       "read: write a table, flent -f csv -i FILE -o OUT.csv, "
                       "then: starswitch-sim import csv OUT.csv --column NAME "
                       "--quantity rate --unit Mbit");
    return because(why, STATUS_USAGE,
                   "%s: there is no kind '%.80s'; there are "
                   "%s",
                   request->command, request->kind, kinds);
}

static enum status find_importer(const struct request *request,
                                 struct import_options *options,
                                 const struct importer **out, struct why *why)
{
    char bytes[120];
    struct text kinds;

    *out = importer_find(request->kind);
    text_init(&kinds, bytes, sizeof bytes);
    for (unsigned i = 0; i < importer_count; i++)
        text_add_item(&kinds, importers[i].name);
    if (!*out)
        return unknown_kind(request, bytes, why);
    options->node = request->node ? request->node : TRACE_ALL;
    options->column = request->column;
    options->time_unit = request->time_unit;
    options->unit = request->unit;
    if (request->quantity &&
        !import_quantities(request->quantity, &options->quantities))
        return because(why, STATUS_USAGE,
                       "import: --quantity is rate, up, "
                       "down, delay, jitter, loss, step or score, not '%.80s'",
                       request->quantity);
    return STATUS_OK;
}

/* An error in a file's content names the file. */
static enum status in_file(const char *file, enum status status,
                           const struct why *reason, struct why *why)
{
    return status == STATUS_USAGE
               ? because(why, status, "%s", reason->text)
               : because(why, status, "%.80s: %s", file, reason->text);
}

/* Adds the trace to the one that --join names, and takes its place. */
static enum status join(const char *path, struct trace **trace, struct why *why)
{
    struct trace *first = NULL, *all = NULL;
    enum status status = trace_load(path ? path : "", &first, why);

    if (status != STATUS_OK || !path)
        return status;
    status = trace_join(first, *trace, &all, why);
    trace_destroy(&first);
    if (status == STATUS_OK) {
        trace_destroy(trace);
        *trace = all;
    }
    return status;
}

static enum status import_page(const struct request *request,
                               const struct page *page, struct why *why)
{
    struct import_options options = {.node = NULL};
    const struct importer *importer = NULL;
    struct trace *trace = NULL;
    struct page result = {.bytes = NULL};
    const struct trace_sink sink = {page_put, &result};
    struct why reason = {""};
    enum status status = find_importer(request, &options, &importer, why);

    if (status != STATUS_OK)
        return status;
    status = importer->import(page->bytes ? page->bytes : "", page->length,
                              &options, &trace, &reason);
    if (status != STATUS_OK)
        return in_file(request->file, status, &reason, why);
    status = join(request->join, &trace, why);
    if (status == STATUS_OK)
        status = trace_write(trace, &sink)
                     ? write_out(request->out, &result, why)
                     : because(why, STATUS_NO_MEMORY, "not enough memory");
    free(result.bytes);
    trace_destroy(&trace);
    return status;
}

/* ---- export ---- */

static void print_export_help(void)
{
    (void)printf("starswitch-sim export: a trace for other programs\n\n"
                 "Usage: starswitch-sim export KIND FILE [-o OUT]\n\n"
                 "FILE is a trace, or -, standard input. Kinds:\n");
    for (unsigned i = 0; i < exporter_count; i++)
        (void)printf("  %-10s  %s\n", exporters[i].name, exporters[i].doc);
    (void)printf("\nOptions:\n"
                 "  -o OUT  write to this file (default: to standard output)\n"
                 "\nExample:\n"
                 "  starswitch-sim import record run.rec | starswitch-sim "
                 "export timeline - -o run.json\n\n"
                 "The format of traces is described in starswitch-trace(5).\n");
}

static enum status export_page(const struct request *request,
                               const struct page *page, struct why *why)
{
    const struct exporter *exporter = exporter_find(request->kind);
    struct trace *trace = NULL;
    struct page result = {.bytes = NULL};
    const struct trace_sink sink = {page_put, &result};
    struct why reason = {""};
    enum status status;
    char bytes[120];
    struct text kinds;

    text_init(&kinds, bytes, sizeof bytes);
    for (unsigned i = 0; i < exporter_count; i++)
        text_add_item(&kinds, exporters[i].name);
    if (!exporter)
        return unknown_kind(request, bytes, why);
    status = trace_parse(page->bytes ? page->bytes : "", page->length, &trace,
                         &reason);
    if (status != STATUS_OK)
        return in_file(request->file, status, &reason, why);
    status = exporter->export(trace, &sink, why);
    if (status == STATUS_OK)
        status = write_out(request->out, &result, why);
    free(result.bytes);
    trace_destroy(&trace);
    return status;
}

/* ---- both ---- */

static int run(int argc, char **argv, const char *command,
               void (*print_help)(void),
               enum status (*act)(const struct request *request,
                                  const struct page *page, struct why *why))
{
    struct request request = {.command = command};
    struct page page = {.bytes = NULL};
    struct why why = {""};
    enum status status = read_words(argc, argv, &request, &why);

    if (status != STATUS_OK)
        return run_fail(status, &why);
    if (request.help) {
        print_help();
        return 0;
    }
    status = read_file(request.file, &page, &why);
    if (status == STATUS_OK)
        status = act(&request, &page, &why);
    free(page.bytes);
    return status == STATUS_OK ? 0 : run_fail(status, &why);
}

int sim_import(int argc, char **argv)
{
    return run(argc, argv, "import", print_import_help, import_page);
}

int sim_export(int argc, char **argv)
{
    return run(argc, argv, "export", print_export_help, export_page);
}
