#include "show/log.h"

#include <inttypes.h>
#include <string.h>

#include "core/quote.h"
#include "show/stamp.h"

struct level_words {
    const char *upper, *lower;
};

static const struct level_words levels[] = {
    [LEVEL_DEBUG] = {"DEBUG", "debug"},
    [LEVEL_INFO] = {"INFO", "info"},
    [LEVEL_WARNING] = {"WARNING", "warning"},
    [LEVEL_ERROR] = {"ERROR", "error"},
};

void log_init(struct logger *logger, const struct log_config *config)
{
    memset(logger, 0, sizeof *logger);
    logger->config = *config;
}

static void print_plain(const struct note *note, nanos wall, struct text *out)
{
    stamp_add(out, wall);
    text_add(out, " %s %s", levels[note_level(note->kind)].upper,
             note_name(note->kind));
    if (note->subject[0]) {
        text_add(out, " ");
        (void)quote_plain(out, note->subject, sizeof note->subject);
    }
    text_add(out, ": ");
    (void)quote_plain(out, note->text, sizeof note->text);
    text_add(out, "\n");
}

static void print_json(const struct note *note, nanos wall, struct text *out)
{
    text_add(out, "{\"time\":\"");
    stamp_add(out, wall);
    text_add(out, "\",\"level\":\"%s\",\"event\":\"%s\",\"subject\":",
             levels[note_level(note->kind)].lower, note_name(note->kind));
    quote_json(out, note->subject);
    text_add(out, ",\"text\":");
    quote_json(out, note->text);
    text_add(out, "}\n");
}

/* The line of one note. */
static void log_print(const struct note *note, nanos wall, bool json,
                      struct text *out)
{
    if (json)
        print_json(note, wall, out);
    else
        print_plain(note, wall, out);
}

static void print_withheld(const struct log_kind *state, const char *name,
                           bool json, struct text *out)
{
    if (!json) {
        text_add(out, "... and %" PRIu64 " more %s in the last %u s\n",
                 state->withheld, name, (unsigned)(LOG_INTERVAL / SECOND));
        return;
    }
    text_add(out, "{\"time\":\"");
    stamp_add(out, state->since);
    text_add(out, "\",\"level\":\"warning\",\"event\":\"withheld\","
             "\"subject\":\"%s\",\"count\":%" PRIu64 "}\n", name,
             state->withheld);
}

/* Ends the interval of a kind: says what was withheld in it. */
static void end_interval(struct logger *logger, enum note_kind kind)
{
    struct log_kind *state = &logger->kinds[kind];
    char bytes[LOG_LINE_BYTES];
    struct text line;

    if (state->withheld) {
        text_init(&line, bytes, sizeof bytes);
        print_withheld(state, note_name(kind), logger->config.json, &line);
        logger->config.write(logger->config.of, bytes);
    }
    *state = (struct log_kind){0};
}

/* A clock that was set back ends the interval, too. */
static bool is_over(const struct log_kind *state, nanos wall)
{
    return wall < state->since || wall - state->since >= LOG_INTERVAL;
}

void log_tick(struct logger *logger, nanos wall)
{
    for (unsigned i = 0; i < NOTE_KINDS; i++)
        if (is_over(&logger->kinds[i], wall))
            end_interval(logger, (enum note_kind)i);
}

void log_note(struct logger *logger, nanos wall, const struct note *note)
{
    struct log_kind *state = &logger->kinds[note->kind];
    char bytes[LOG_LINE_BYTES];
    struct text line;

    logger->notes[note->kind]++;
    if (note_level(note->kind) < logger->config.least)
        return;
    if (is_over(state, wall))
        end_interval(logger, note->kind);
    if (state->said == 0)
        state->since = wall;
    if (state->said == LOG_MOST) {
        state->withheld++;
        return;
    }
    state->said++;
    text_init(&line, bytes, sizeof bytes);
    log_print(note, wall, logger->config.json, &line);
    logger->config.write(logger->config.of, bytes);
}
