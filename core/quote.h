/* Text from outside made harmless for where it is shown.
 *
 * Names and sentences may come from a hostile peer: control characters that
 * move a terminal's cursor, quotes that end a string, bytes that are not
 * UTF-8, characters that turn the direction of writing. None of these get
 * through here. */
#ifndef CORE_QUOTE_H
#define CORE_QUOTE_H

#include <stddef.h>

#include "core/text.h"

/* Adds `words` as a JSON string, with its quotes. What shows nothing, or turns
 * the direction of writing, stands there by its number; bytes that are not
 * UTF-8 become U+FFFD. */
void quote_json(struct text *out, const char *words);

/* Adds a number as JSON has it; null when it is not finite. */
void quote_json_number(struct text *out, double number);

/* Adds `words` for the text or a quoted attribute of HTML or SVG. */
void quote_html(struct text *out, const char *words);

/* Adds `words` as they are; `?` stands for what shows nothing, turns the
 * direction of writing or is not UTF-8. A character that does not fit whole is
 * left out. */
void quote_visible(struct text *out, const char *words);

/* Adds at most `columns` characters of `words`, each one column wide on any
 * terminal: ASCII, Latin, Greek, Cyrillic; `?` stands for all others. Where
 * something had to be left out, the last one is `~`. Returns the columns. */
size_t quote_plain(struct text *out, const char *words, size_t columns);

/* The same for a name, which is cut in its middle: names that begin alike
 * often end with a number. */
size_t quote_name(struct text *out, const char *name, size_t columns);

/* A name for where fonts draw any script, a picture or a page: about `columns`
 * wide at most, East Asian characters and emoji counted twice; cut in its
 * middle, with an ellipsis there. What quote_visible replaces is `?` here, too.
 */
void quote_short(struct text *out, const char *name, size_t columns);

#endif
