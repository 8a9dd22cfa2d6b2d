#include "core/quote.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xFFFDu

/* The least code point that may take 1, 2, 3, 4 bytes. */
static const uint32_t least_of_length[] = {0, 0, 0x80, 0x800, 0x10000};

static unsigned length_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first < 0xE0)
        return 2;
    if (first >= 0xE0 && first < 0xF0)
        return 3;
    return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

static bool is_character(uint32_t code, unsigned length)
{
    return code >= least_of_length[length] && code <= 0x10FFFF &&
           (code < 0xD800 || code > 0xDFFF);
}

/* Reads one character of UTF-8 and moves *words behind it; a byte that
 * belongs to none is a REPLACEMENT of its own. */
static uint32_t next_character(const char **words)
{
    const unsigned char *bytes = (const unsigned char *)*words;
    unsigned length = length_of(bytes[0]);
    uint32_t code = length > 1 ? bytes[0] & (0x7Fu >> length) : bytes[0];

    ++*words;
    for (unsigned i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return REPLACEMENT;
        code = code << 6 | (bytes[i] & 0x3F);
    }
    if (length == 0 || !is_character(code, length))
        return REPLACEMENT;
    *words += length - 1;
    return code;
}

static void add_bytes(struct text *out, const char *from, const char *to)
{
    text_add(out, "%.*s", (int)(to - from), from);
}

/* Characters that show nothing, or turn the direction of what follows. */
static bool is_invisible(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD ||
           (code >= 0x200B && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
           code >= 0xE0000 || (code & 0xFFFE) == 0xFFFE;
}

/* As JSON has them: what is beyond 16 bits in two halves. */
static void add_escape(struct text *out, uint32_t code)
{
    if (code > 0xFFFF) {
        code -= 0x10000;
        text_add(out, "\\u%04x", (unsigned)(0xD800 + (code >> 10)));
        code = 0xDC00 + (code & 0x3FF);
    }
    text_add(out, "\\u%04x", (unsigned)code);
}

static void add_json_character(struct text *out, uint32_t code,
                               const char *from, const char *to)
{
    if (code == '"' || code == '\\')
        text_add(out, "\\%c", (int)code);
    else if (code == '\n')
        text_add(out, "\\n");
    else if (is_invisible(code) || code == REPLACEMENT)
        add_escape(out, code);
    else
        add_bytes(out, from, to);
}

void quote_json(struct text *out, const char *words)
{
    text_add_character(out, '"');
    while (*words) {
        const char *from = words;
        uint32_t code = next_character(&words);

        add_json_character(out, code, from, words);
    }
    text_add_character(out, '"');
}

void quote_json_number(struct text *out, double number)
{
    if (isfinite(number))
        text_add(out, "%.9g", number);
    else
        text_add(out, "null");
}

static const char *entity_of(uint32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void quote_html(struct text *out, const char *words)
{
    while (*words) {
        const char *from = words;
        uint32_t code = next_character(&words);

        if (entity_of(code))
            text_add(out, "%s", entity_of(code));
        else if (is_invisible(code) || code == REPLACEMENT)
            text_add(out, "?");
        else
            add_bytes(out, from, words);
    }
}

static void add_visible(struct text *out, const char *words, const char *end)
{
    while (words < end) {
        const char *from = words;
        uint32_t code = next_character(&words);

        if (out->length + (size_t)(words - from) >= out->size)
            return;
        if (is_invisible(code) || code == REPLACEMENT)
            text_add(out, "?");
        else
            add_bytes(out, from, words);
    }
}

void quote_visible(struct text *out, const char *words)
{
    add_visible(out, words, words + strlen(words));
}

static bool takes_one_column(uint32_t code)
{
    return (code >= 0x20 && code < 0x7F) ||
           (code > 0xA0 && code < 0x300 && code != 0xAD) ||
           (code >= 0x370 && code < 0x483) || (code >= 0x48A && code < 0x530);
}

static void add_column(struct text *out, uint32_t code, const char *from,
                       const char *to)
{
    if (takes_one_column(code))
        add_bytes(out, from, to);
    else
        text_add(out, "?");
}

size_t quote_plain(struct text *out, const char *words, size_t columns)
{
    size_t column = 0;

    while (*words && column < columns) {
        const char *from = words;
        uint32_t code = next_character(&words);

        column++;
        if (*words && column == columns)
            text_add(out, "~");
        else
            add_column(out, code, from, words);
    }
    return column;
}

size_t quote_name(struct text *out, const char *name, size_t columns)
{
    const char *tail = name;
    size_t length = 0, head;

    for (const char *at = name; *at; length++)
        (void)next_character(&at);
    if (length <= columns || columns < 3)
        return quote_plain(out, name, columns);
    head = (columns - 1) / 2;
    for (size_t i = 0; i < length - (columns - 1 - head); i++)
        (void)next_character(&tail);
    for (size_t i = 0; i < head; i++) {
        const char *from = name;
        uint32_t code = next_character(&name);

        add_column(out, code, from, name);
    }
    text_add(out, "~");
    return head + 1 + quote_plain(out, tail, columns);
}

/* Accents take no place; whatever is not written with letters takes two. */
static size_t width_of(uint32_t code)
{
    if ((code >= 0x300 && code < 0x370) || (code >= 0xFE00 && code < 0xFE10))
        return 0;
    return code < 0x2E80 ? 1 : 2;
}

/* Moves on by characters that are so wide together, and by their accents. */
static const char *after_width(const char *words, size_t width)
{
    while (*words) {
        const char *next = words;
        size_t wide = width_of(next_character(&next));

        if (wide > width)
            break;
        width -= wide;
        words = next;
    }
    return words;
}

void quote_short(struct text *out, const char *name, size_t columns)
{
    const char *end = name + strlen(name), *head;
    size_t width = 0;

    for (const char *at = name; *at;)
        width += width_of(next_character(&at));
    if (width <= columns || columns < 3) {
        quote_visible(out, name);
        return;
    }
    head = after_width(name, (columns - 1) / 2);
    add_visible(out, name, head);
    text_add(out, "\xE2\x80\xA6");
    add_visible(out, after_width(head, width - columns + 1), end);
}
