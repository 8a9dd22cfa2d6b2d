/* Text from outside, line by line.
 *
 *     struct lines lines = lines_of(text, size);
 *     status = lines_each(&lines, take_line, &reader, why);
 *
 * A line is copied, so that it is a string that may be cut into words. */
#ifndef SIM_TRACE_LINES_H
#define SIM_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum {
    LINE_BYTES = 4096, /* with its NUL */
    SHOWN_BYTES = 48   /* of what errors repeat */
};

struct lines {
    const char *at, *end;
    unsigned long number; /* of the line read last */
};

struct line {
    unsigned long number; /* from 1 */
    size_t length;
    char text[LINE_BYTES]; /* without its end, "\n" or "\r\n" */
};

struct lines lines_of(const char *text, size_t size);

/* Gives each line to `take`, together with `of`, until that is not OK, which is
 * then returned. MALFORMED: a line is too long, has a zero byte, or the text
 * ends within it, as a file does that was cut off. */
enum status lines_each(struct lines *lines,
                       enum status (*take)(void *of, struct line *line,
                                           struct why *why),
                       void *of, struct why *why) MUST_CHECK;

/* Cuts the next word off, between blanks and tabs; NULL when none is left. */
char *line_word(char **rest);

/* Reads digits, a whole number of 64 bits, and moves *at behind them; false,
 * with *at unchanged, when there are none or too many. */
bool line_digits(const char **at, uint64_t *out);
/* The same; false when something stands behind them. */
bool line_number(const char *text, uint64_t *out);

/* If `text` begins with `start`: what is behind it, else NULL. */
char *line_after(char *text, const char *start);

/* `words` made harmless and short for an error, in `room`. */
const char *line_shown(const char *words, char room[SHOWN_BYTES]);

/* How to unpack a compressed file, by its first bytes: "gunzip". NULL: it is
 * not compressed. */
const char *lines_unpacker(const char *text, size_t size);

/* Whether it is the first `length` characters of the word, in any case of the
 * letters of ASCII. */
bool line_is_like(const char *text, const char *word, size_t length);

#endif
