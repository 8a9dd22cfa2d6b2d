/* The frame of our pages of HTML: head, style, facts and settings.
 *
 * A page holds its style and its drawings (chart.h, dots.h); it has no
 * script and asks no other machine for anything. It follows the reader's
 * choice of light or dark. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>

#include "core/status.h"
#include "core/text.h"

/* An option and its value, as people write them. */
struct setting {
    const char *name, *value;
};

void page_begin(const char *title, struct text *out);
void page_end(struct text *out);

/* A name and what is known of it, in a row with others; no value, no fact. */
void page_fact(const char *name, const char *value, struct text *out);
/* A name and its value in a list (dl); no value, nothing. */
void page_setting(const char *name, const char *value, struct text *out);
void page_settings(const struct setting *settings, size_t count,
                   struct text *out);

/* Writes the page that `write` adds to a text of `room` bytes to a file, whole
 * or not at all. IO, NO_MEMORY. */
enum status page_write(const char *path, size_t room,
                       void (*write)(const void *of, struct text *out),
                       const void *of, struct why *why) MUST_CHECK;

#endif
