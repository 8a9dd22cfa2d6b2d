/* Text of bounded length, built piece by piece.
 *
 * The caller owns the bytes; they are always a terminated string. What does
 * not fit is cut and `cut` says so, so that nobody has to check each piece. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct text {
    char *bytes;
    size_t size;   /* room, the terminating NUL included */
    size_t length; /* without the NUL */
    bool cut;      /* something did not fit */
};

/* Starts an empty text in `bytes`; size >= 1. */
void text_init(struct text *text, char *bytes, size_t size);

void text_add(struct text *text, const char *format, ...) FORMAT(2, 3);
void text_add_character(struct text *text, char character);

/* The next one of a list, which is all of the text: "one, two". */
void text_add_item(struct text *text, const char *item);

/* The ending of a noun of which there are so many: "" or "s". */
const char *plural(uint64_t count);

/* Such as "3.4 MB". */
void text_add_bytes(struct text *text, double bytes);

/* Columns of the line that is being written, from 0. */
size_t text_column(const struct text *text);

/* Blanks up to `column`, on a new line if this one is already that long. */
void text_pad(struct text *text, size_t column);

/* Adds words, broken between blanks so that no line is longer than `width`;
 * new lines are indented by `indent`. A word longer than that stands out. */
void text_wrap(struct text *text, const char *words, size_t indent,
               size_t width);

#endif
