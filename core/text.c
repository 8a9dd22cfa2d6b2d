#include "core/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_init(struct text *text, char *bytes, size_t size)
{
    assert(size > 0);
    bytes[0] = '\0';
    *text = (struct text){.bytes = bytes, .size = size};
}

void text_add(struct text *text, const char *format, ...)
{
    size_t room = text->size - text->length;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text->bytes + text->length, room, format, arguments);
    va_end(arguments);
    assert(length >= 0);
    if ((size_t)length >= room) {
        text->cut = true;
        length = (int)room - 1;
    }
    text->length += (size_t)length;
}

void text_add_character(struct text *text, char character)
{
    text_add(text, "%c", character);
}

void text_add_item(struct text *text, const char *item)
{
    text_add(text, "%s%s", text->length ? ", " : "", item);
}

size_t text_column(const struct text *text)
{
    size_t column = 0;

    while (column < text->length &&
           text->bytes[text->length - column - 1] != '\n')
        column++;
    return column;
}

const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

void text_add_bytes(struct text *text, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    unsigned unit = 0;

    while (bytes >= 999.5 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    text_add(text, "%.3g %s", bytes, units[unit]);
}

void text_pad(struct text *text, size_t column)
{
    if (text_column(text) >= column)
        text_add(text, "\n");
    text_add(text, "%*s", (int)(column - text_column(text)), "");
}

void text_wrap(struct text *text, const char *words, size_t indent,
               size_t width)
{
    size_t column = text_column(text);

    while (*words) {
        size_t length = strcspn(words, " ");

        if (column > indent && column + 1 + length > width) {
            text_add(text, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            text_add(text, " ");
            column++;
        }
        text_add(text, "%.*s", (int)length, words);
        column += length;
        words += length + strspn(words + length, " ");
    }
}
