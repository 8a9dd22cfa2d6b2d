/* Prints docs/operating.md for tools/docs: what an operator does at each exit
 * code and at each warning.
 *
 *     star-operating          the path of the page
 *     star-operating PATH     the page */
#include <stdbool.h>
#include <stdio.h>

#include "core/status.h"
#include "core/text.h"
#include "seam/machine.h"

enum { WIDTH = 80 };

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct {
    enum status status;
    const char *advice;
} exits[] = {
#define EXIT(STATUS, advice) {STATUS_##STATUS, advice},
#define EVENT(NOTE, means, advice)
#include "tools/operating.def"
#undef EXIT
#undef EVENT
};

static const struct {
    enum note_kind note;
    const char *means, *advice;
} events[] = {
#define EXIT(STATUS, advice)
#define EVENT(NOTE, means, advice) {NOTE_##NOTE, means, advice},
#include "tools/operating.def"
#undef EXIT
#undef EVENT
};

static bool incomplete; /* a row that should be there is not */

static void print_wrapped(const char *words)
{
    char bytes[2000];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    text_wrap(&text, words, 0, WIDTH);
    printf("%s\n\n", bytes);
}

/* Of several statuses with a code the first one has the advice. */
static void print_exit(enum status status)
{
    const char *between = "";

    for (enum status other = 0; other < status; other++)
        if (status_exit_code(other) == status_exit_code(status))
            return;
    printf("### Exit code %d\n\n*", status_exit_code(status));
    for (enum status other = status; other < STATUSES; other++)
        if (status_exit_code(other) == status_exit_code(status)) {
            printf("%s%s", between, status_words(other));
            between = "; or ";
        }
    printf("*\n\n");
    for (size_t i = 0; i < LENGTH(exits); i++)
        if (exits[i].status == status) {
            print_wrapped(exits[i].advice);
            return;
        }
    incomplete = true;
}

static void print_event(enum note_kind note)
{
    if (note_level(note) < LEVEL_WARNING)
        return;
    printf("### %s\n\n", note_name(note));
    for (size_t i = 0; i < LENGTH(events); i++)
        if (events[i].note == note) {
            print_wrapped(events[i].means);
            print_wrapped(events[i].advice);
            return;
        }
    incomplete = true;
}

static void print_checks(void)
{
    printf("| check | finds out |\n|---|---|\n");
#define CHECK(NAME, name, what) printf("| %s | %s |\n", name, what);
#include "node/program/doctor.def"
#undef CHECK
}

static void print_page(void)
{
    printf("# Operating\n\n");
    print_wrapped("Made from core/status.def, seam/notes.def, "
                  "node/program/doctor.def and tools/operating.def by `make "
                  "docs`. What to do when a program of starswitch says that "
                  "something is wrong: by its exit code, and by the event in "
                  "its log, the word before the node's name (`event` in "
                  "JSON). Begin with `starswitch-node doctor --hub HOST "
                  "--key-file invitation` on the PC that has trouble.");
    printf("## What doctor looks at\n\n");
    print_checks();
    printf("\n");
    print_wrapped("Each is `ok`, `warn` or `bad`, with what to do. It exits "
                  "with the code of the first that is bad: "
                  "69 name, port or link; 76 protocol; 77 key; 78 the hub's "
                  "second port was given as its first; 70 too little memory. "
                  "If none is bad it exits with 75 where the link's rates "
                  "could not be measured, as with the invitation of a PC that "
                  "has not enrolled yet, and else with 0. "
                  "`--json` prints one object a line, {check, level, text, "
                  "advice, code}, and then {ok, warn, bad, code}.");
    print_wrapped("A rate is that of bytes as they arrive, behind the burst "
                  "that a shaper lets through, in up to 3 s; `at least` "
                  "stands before it where the test was too short to tell: "
                  "it sends 8 MiB each way at most. A hub takes and gives 32 "
                  "MiB for tests, 1 MiB a second from then on, for one PC at "
                  "a time: so nobody's test is a burden. "
                  "A loss is a packet that TCP sent again, either way, as "
                  "both systems count them (of a hub of protocol 3: packets "
                  "that came behind a gap, which are more). Where there are "
                  "some, up to 4 MiB each way go at half of the rate, with few "
                  "packets on their way: what is lost then, too, is lost by a "
                  "cable or by wireless, what is not by a queue that was "
                  "full, as a shaper's. "
                  "Where long messages vanish it finds out, in up to 15 s, how "
                  "long the longest packet is that goes there and back.");
    printf("## What a node said last\n\n");
    print_wrapped("`starswitch-hub logs NODE`, on the hub's PC, prints the "
                  "last 20 lines of a node's log, `-n LINES` others, and `-f` "
                  "goes on until Ctrl-C: what the node and the library in its "
                  "program tell of themselves from INFO on, what a script logs "
                  "with `logging.getLogger(\"starswitch\")` and a C program "
                  "says with `star_say`, not what they print; of a long line "
                  "the beginning. The hub keeps the last 128 lines of each of "
                  "64 nodes while it runs, also of those that are gone. A node "
                  "sends 20 lines a second at most, and the hub takes 50; "
                  "`... 312 lines left out` stands where there were more. "
                  "Characters that would do something to the terminal are "
                  "shown as `?`. From another PC: `ssh HUB starswitch-hub logs "
                  "NODE -f --directory DIR`; `ssh -t HUB starswitch-hub top "
                  "--directory DIR` shows the table there.");
    printf("## Exit codes\n\n");
    for (enum status status = 0; status < STATUSES; status++)
        print_exit(status);
    printf("## Warnings in the log\n\n");
    for (enum note_kind note = 0; note < NOTE_KINDS; note++)
        print_event(note);
}

int main(int count, char **arguments)
{
    (void)arguments;
    if (count < 2) {
        (void)puts("docs/operating.md");
        return 0;
    }
    print_page();
    if (incomplete)
        (void)fprintf(stderr, "a row of tools/operating.def is missing\n");
    return ferror(stdout) || incomplete ? 74 : 0;
}
