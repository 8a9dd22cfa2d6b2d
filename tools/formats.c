/* Prints the pages of file formats, for tools/docs.
 *
 *     star-formats          the paths of all pages, one a line
 *     star-formats PATH     the page of this path */
#include <stdio.h>
#include <string.h>

#include "sim/trace/export.h"
#include "sim/trace/import.h"

#define PAGE "docs/man/starswitch-trace.5"

/* Troff takes a hyphen for a dash, and a line may begin with a point. */
static void print_plain(const char *words)
{
    if (*words == '.' || *words == '\'')
        printf("\\&");
    for (; *words; words++)
        printf("%s%c", *words == '-' || *words == '\\' ? "\\" : "",
               *words == '\\' ? 'e' : *words);
}

static const char head[] =
    ".\\\" Made from trace/*.def and tools/formats.c: make docs\n"
    ".TH STARSWITCH-TRACE 5 \"\" starswitch \"File Formats\"\n"
    ".SH NAME\n"
    "starswitch-trace \\- how a network and its PCs behaved over time\n"
    ".SH SYNOPSIS\n"
    ".EX\n" TRACE_FORMAT "\n"
    "span 60s\n"
    "# a switch at 1 Gbit, and one PC that is slow and loses its cable\n"
    "0s * up 1Gbit\n"
    "0s * down 1Gbit\n"
    "0s * delay 150us\n"
    "0s * step 200ms\n"
    "0s n3 step 350ms\n"
    "20s n3 up 0\n"
    "22.5s n3 up 1Gbit\n"
    "4.2s n1 offer exchange=1 iteration=20\n"
    "4.2s n1 upload exchange=1 chunks=10 bytes=10485760 until=4.29s\n"
    "end\n"
    ".EE\n"
    ".SH DESCRIPTION\n"
    "A trace says how the network of a star and the PCs in it behave, as the\n"
    "simulator follows them, and what has happened at each node.\n"
    "It is made by hand, by\n"
    ".B starswitch\\-sim import\n"
    "from what other programs have measured, or from a recording.\n"
    ".PP\n"
    "A trace is text, line by line.\n"
    "The first line is\n"
    ".BR \"" TRACE_FORMAT "\" ,\n"
    "where 1 is the version of the format.\n"
    "The last is\n"
    ".BR end ,\n"
    "so that a file that was cut off is seen as such.\n"
    "Empty lines, and all from a word that begins with # on, are passed over.\n"
    "Lines end in a newline, also the last one, and have at most 4095 bytes.\n"
    ".PP\n"
    "Before anything else, and once, the line\n"
    ".BI span \" TIME\"\n"
    "says how long the trace is.\n"
    "All other lines are\n"
    ".PP\n"
    ".I TIME WHO WHAT ...\n"
    ".PP\n"
    "where TIME counts from the trace's begin.\n"
    "WHO is a node's name (one word of at most 63 bytes that does not begin\n"
    "with #),\n"
    ".B *\n"
    "for all nodes, or\n"
    ".B hub\n"
    "for the hub's port, through which all nodes send.\n"
    "WHAT is a quantity, followed by its value, or an event, followed by its\n"
    "numbers.\n"
    ".SH QUANTITIES\n"
    "A value holds from its time on, until that of the next one.\n"
    "Values of one quantity and node stand in the order of their times; all\n"
    "other lines may stand in any order.\n"
    "A node for which nothing is said, or nothing yet, behaves as\n"
    ".B *\n"
    "says; if that says nothing, as the simulator's options do.\n"
    "After the span all begins again: at time\n"
    ".I t\n"
    "+ span everything is as it was at\n"
    ".IR t .\n";

static const char units[] =
    ".SH UNITS\n"
    "All values are exact: times to the nanosecond, rates to the byte per\n"
    "second, probabilities and other numbers to 0.000000001.\n"
    "A time ends in ns, us, ms, s, min or h.\n"
    "A rate, bytes or bits per second, ends in B, kB, KiB, MB, MiB, GB, GiB,\n"
    "kbit, Mbit or Gbit.\n"
    "A probability is a number from 0 to 1, or ends in %.\n"
    "Other numbers have no unit, and 0 needs none.\n";

static const char events[] =
    ".SH EVENTS\n"
    "Events happen at a node, have whole numbers, and do not repeat.\n"
    "The simulator does not follow them; they are what a recorded run is\n"
    "compared with.\n"
    "Those that last end at\n"
    ".BR until .\n";

static const char tail[] =
    ".SH EXIT STATUS\n"
    "A file that is no trace ends the program that reads it with 74; the\n"
    "sentence that it prints names the line.\n"
    ".SH SEE ALSO\n"
    ".BR starswitch\\-sim (1),\n"
    ".BR starswitch\\-hub (1)\n";

static void print_item(const char *name, const char *value, const char *doc)
{
    printf(".TP\n\\fB%s\\fR", name);
    if (value)
        printf(" \\fI%s\\fR", value);
    printf("\n");
    print_plain(doc);
    printf("\n");
}

static void print_quantities(void)
{
    static const char *const values[MEASURES] = {[MEASURE_RATE] = "RATE",
                                                 [MEASURE_TIME] = "TIME",
                                                 [MEASURE_PART] = "PROBABILITY",
                                                 [MEASURE_NUMBER] = "NUMBER"};

    for (unsigned i = 0; i < QUANTITIES; i++)
        print_item(quantities[i].name, values[quantities[i].measure],
                   quantities[i].doc);
}

static void print_events(void)
{
    for (unsigned i = 0; i < TRACED_KINDS; i++) {
        const struct traced_info *info = &traced_kinds[i];

        printf(".TP\n\\fB%s\\fR", info->name);
        for (unsigned j = 0; j < TRACE_NUMBERS && info->numbers[j]; j++)
            printf(" %s=\\fIN\\fR", info->numbers[j]);
        printf("%s\n", info->lasts ? " until=\\fITIME\\fR" : "");
        print_plain(info->doc);
        printf("\n");
    }
}

static void print_programs(void)
{
    printf(".SH IMPORT AND EXPORT\n"
           ".B starswitch\\-sim import\n"
           ".I KIND FILE\n"
           "makes a trace of\n");
    for (unsigned i = 0; i < importer_count; i++)
        print_item(importers[i].name, NULL, importers[i].doc);
    printf(".PP\n"
           ".B starswitch\\-sim export\n"
           ".I KIND FILE\n"
           "makes of a trace\n");
    for (unsigned i = 0; i < exporter_count; i++)
        print_item(exporters[i].name, NULL, exporters[i].doc);
}

static void print_page(void)
{
    printf("%s", head);
    print_quantities();
    printf("%s%s", units, events);
    print_events();
    print_programs();
    printf(".SH LIMITS\nAt most %d nodes, and %d values and events in all.\n",
           TRACE_MAX_NODES, TRACE_MAX_ITEMS);
    printf("%s", tail);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        printf("%s\n", PAGE);
        return 0;
    }
    if (strcmp(arguments[1], PAGE) == 0) {
        print_page();
        return ferror(stdout) ? 74 : 0;
    }
    (void)fprintf(stderr, "no page %s; without an argument I list them\n",
                  arguments[1]);
    return 64;
}
