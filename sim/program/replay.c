/* starswitch-sim replay: does a hub's journal again.
 *
 *     starswitch-sim replay JOURNAL [--json] */
#include "sim/program/program.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "record/replay.h"

struct request {
    const char *file;
    bool json, help;
};

static enum status read_words(int count, char **words, struct request *out,
                              struct why *why)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
            out->help = true;
        else if (strcmp(words[i], "--json") == 0)
            out->json = true;
        else if (words[i][0] == '-')
            return because(why, STATUS_USAGE,
                           "replay: there is no option "
                           "'%.80s'; --help says what there is",
                           words[i]);
        else if (out->file)
            return because(why, STATUS_USAGE,
                           "replay: '%.80s' is one word too "
                           "many; it does one journal again",
                           words[i]);
        else
            out->file = words[i];
    }
    if (out->help || out->file)
        return STATUS_OK;
    return because(why, STATUS_USAGE,
                   "replay: say which journal, as in: "
                   "starswitch-sim replay run.journal; starswitch-hub "
                   "--journal makes one");
}

static void print_help(void)
{
    (void)printf(
        "starswitch-sim replay: does a hub's journal again\n\n"
        "Usage: starswitch-sim replay JOURNAL [--json]\n\n"
        "Gives a new hub all that its journal says it was sent, and compares "
        "what it\ndoes with what the journal says it did: each message, byte "
        "for byte, each job,\neach note. Scores and the outcome of saving are "
        "those of the journal.\n\n"
        "Exit codes: 0 the same; %d not the same; %d the journal is damaged.\n"
        "\nExample:\n"
        "  starswitch-hub --journal run.journal\n"
        "  starswitch-sim replay run.journal\n",
        status_exit_code(STATUS_BUG), status_exit_code(STATUS_MALFORMED));
}

static double seconds_of(const struct replay *replay)
{
    return (double)(replay->last - replay->first) / (double)SECOND;
}

static void print_json(const struct replay *replay, enum status status,
                       const struct why *why)
{
    char line[4 * TRANSCRIPT_BYTES];
    struct text text;

    text_init(&text, line, sizeof line);
    text_add(&text,
             "{\"same\":%s,\"steps\":%" PRIu64 ",\"effects\":%" PRIu64
             ",\"jobs\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.3f",
             status == STATUS_OK ? "true" : "false", replay->steps,
             replay->effects, replay->jobs, replay->bytes, seconds_of(replay));
    if (status != STATUS_OK) {
        text_add(&text, ",\"why\":");
        quote_json(&text, why->text);
    }
    (void)printf("%s}\n", line);
}

static void print_plain(const struct replay *replay, enum status status)
{
    if (status == STATUS_OK)
        (void)printf("%" PRIu64 " step%s in %.1f s, %" PRIu64 " effects, "
                     "%" PRIu64 " jobs, %.1f MB from nodes: same, byte for "
                     "byte\n",
                     replay->steps, plural(replay->steps), seconds_of(replay),
                     replay->effects, replay->jobs,
                     (double)replay->bytes / 1e6);
    else if (replay->steps)
        (void)printf("%" PRIu64 " step%s the same, byte for byte; then:\n",
                     replay->steps, replay->steps == 1 ? " is" : "s are");
    if (status == STATUS_BUG)
        (void)printf("  %s\n  the journal says: %s\n  the replay did:   %s\n",
                     replay->event, replay->said, replay->done);
}

int sim_replay(int count, char **words)
{
    static struct replay replay;
    struct request request = {.file = NULL};
    struct why why = {""};
    enum status status = read_words(count, words, &request, &why);

    if (status == STATUS_OK && request.help) {
        print_help();
        return 0;
    }
    if (status == STATUS_OK) {
        status = replay_file(request.file, &replay, &why);
        if (request.json)
            print_json(&replay, status, &why);
        else
            print_plain(&replay, status);
        (void)fflush(stdout);
    }
    if (status != STATUS_OK)
        (void)fprintf(stderr, "starswitch-sim: %s\n", why.text);
    return status_exit_code(status);
}
