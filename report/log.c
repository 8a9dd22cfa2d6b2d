#include "report/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "report/stamp.h"

void log_init(struct logger *logger, const struct log_config *config)
{
    memset(logger, 0, sizeof *logger);
    logger->config = *config;
}

static void print_plain(const struct note *note, nanos wall, struct text *out)
{
    stamp_add(out, wall);
    text_add(out, " %s %s", level_capitals(note_level(note->kind)),
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
             level_name(note_level(note->kind)), note_name(note->kind));
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

/* What was withheld about `subject`, or nothing. */
static void say_withheld(struct logger *logger, const struct log_count *count,
                         const char *subject, nanos interval)
{
    char bytes[LOG_LINE_BYTES];
    struct text line;

    if (!count->withheld)
        return;
    text_init(&line, bytes, sizeof bytes);
    if (logger->config.json) {
        text_add(&line, "{\"time\":\"");
        stamp_add(&line, count->since);
        text_add(&line,
                 "\",\"level\":\"warning\",\"event\":\"withheld\","
                 "\"subject\":\"%s\",\"count\":%" PRIu64 "}\n",
                 subject, count->withheld);
    } else {
        text_add(&line, "... and %" PRIu64 " more %s in the last %u s\n",
                 count->withheld, subject, (unsigned)(interval / SECOND));
    }
    logger->config.write(logger->config.of, bytes);
}

static void end_kind(struct logger *logger, enum note_kind kind)
{
    say_withheld(logger, &logger->kinds[kind], note_name(kind), LOG_INTERVAL);
    logger->kinds[kind] = (struct log_count){0};
}

static void end_address(struct logger *logger, struct log_address *one)
{
    char subject[ADDRESS_BYTES + 32];

    (void)snprintf(subject, sizeof subject,
                   logger->config.json ? "%s"
                                       : "of nodes at %s that come and go",
                   one->address);
    say_withheld(logger, &one->count, subject, LOG_ADDRESS_INTERVAL);
    *one = (struct log_address){0};
}

/* A clock that was set back ends the interval, too. */
static bool is_over(const struct log_count *count, nanos wall, nanos interval)
{
    return wall < count->since || wall - count->since >= interval;
}

void log_tick(struct logger *logger, nanos wall)
{
    for (unsigned i = 0; i < NOTE_KINDS; i++)
        if (is_over(&logger->kinds[i], wall, LOG_INTERVAL))
            end_kind(logger, (enum note_kind)i);
    for (unsigned i = 0; i < LOG_ADDRESSES; i++)
        if (logger->addresses[i].address[0] &&
            is_over(&logger->addresses[i].count, wall, LOG_ADDRESS_INTERVAL))
            end_address(logger, &logger->addresses[i]);
}

/* Its own place, or a free one; NULL: there is none. */
static struct log_address *place_of(struct logger *logger, const char *address)
{
    struct log_address *free_one = NULL;

    for (unsigned i = 0; i < LOG_ADDRESSES; i++) {
        struct log_address *each = &logger->addresses[i];

        if (strcmp(each->address, address) == 0)
            return each;
        if (!each->address[0] && !free_one)
            free_one = each;
    }
    return free_one;
}

/* Whether one more may be said; counts it in either case. */
static bool has_room(struct log_count *count, unsigned most, nanos wall)
{
    if (count->said == 0)
        count->since = wall;
    if (count->said < most)
        count->said++;
    else
        count->withheld++;
    return !count->withheld;
}

static bool address_has_room(struct logger *logger, nanos wall,
                             const struct note *note)
{
    static const bool of_coming_and_going[NOTE_KINDS] = {
        [NOTE_JOINED] = true,   [NOTE_REJOINED] = true, [NOTE_LEFT] = true,
        [NOTE_LOST] = true,     [NOTE_REFUSED] = true,  [NOTE_OFFENCE] = true,
        [NOTE_ENROLLED] = true,
    };
    struct log_address *place;

    if (!note->address[0] || !of_coming_and_going[note->kind])
        return true;
    place = place_of(logger, note->address);
    if (!place)
        return true;
    memcpy(place->address, note->address, sizeof place->address);
    return has_room(&place->count, LOG_OF_ADDRESS, wall);
}

void log_note(struct logger *logger, nanos wall, const struct note *note)
{
    char bytes[LOG_LINE_BYTES];
    struct text line;

    logger->notes[note->kind]++;
    if (note_level(note->kind) < logger->config.least)
        return;
    log_tick(logger, wall);
    if (!address_has_room(logger, wall, note) ||
        !has_room(&logger->kinds[note->kind], LOG_MOST, wall))
        return;
    text_init(&line, bytes, sizeof bytes);
    log_print(note, wall, logger->config.json, &line);
    logger->config.write(logger->config.of, bytes);
}
