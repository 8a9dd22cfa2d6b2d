#include "sim/trace/lines.h"

#include <string.h>

#include "core/quote.h"

struct lines lines_of(const char *text, size_t size)
{
    return (struct lines){text, text + size, 0};
}

const char *lines_unpacker(const char *text, size_t size)
{
    static const struct {
        const char *magic;
        size_t length;
        const char *unpacker;
    } kinds[] = {{"\x1f\x8b", 2, "gunzip"},
                 {"\xfd"
                  "7zXZ",
                  5, "unxz"},
                 {"BZh", 3, "bunzip2"},
                 {"\x28\xb5\x2f\xfd", 4, "unzstd"},
                 {"PK\x03\x04", 4, "unzip"}};

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= kinds[i].length &&
            memcmp(text, kinds[i].magic, kinds[i].length) == 0)
            return kinds[i].unpacker;
    return NULL;
}

/* The next line. AGAIN: there is none. */
static enum status next_line(struct lines *lines, struct line *out,
                             struct why *why)
{
    size_t left = (size_t)(lines->end - lines->at);
    const char *newline = left ? memchr(lines->at, '\n', left) : NULL;
    size_t length = newline ? (size_t)(newline - lines->at) : left;

    if (!left)
        return STATUS_AGAIN;
    lines->number++;
    if (length >= LINE_BYTES)
        return because(why, STATUS_MALFORMED,
                       "line %lu is longer than %d bytes: this is another "
                       "kind of file",
                       lines->number, LINE_BYTES - 1);
    if (memchr(lines->at, '\0', length))
        return because(why, STATUS_MALFORMED,
                       "line %lu has a zero byte: this "
                       "is no text",
                       lines->number);
    if (!newline)
        return because(why, STATUS_MALFORMED,
                       "line %lu is cut off, the file ends within it: make the "
                       "file anew, or remove that line",
                       lines->number);
    memcpy(out->text, lines->at, length);
    lines->at += length + 1;
    if (length && out->text[length - 1] == '\r')
        length--;
    out->text[length] = '\0';
    out->length = length;
    out->number = lines->number;
    return STATUS_OK;
}

enum status lines_each(struct lines *lines,
                       enum status (*take)(void *of, struct line *line,
                                           struct why *why),
                       void *of, struct why *why)
{
    struct line line;
    enum status status;

    while ((status = next_line(lines, &line, why)) == STATUS_OK) {
        status = take(of, &line, why);
        if (status != STATUS_OK)
            return status;
    }
    return status == STATUS_AGAIN ? STATUS_OK : status;
}

char *line_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    size_t length = strcspn(word, " \t");

    if (!length) {
        *rest = word;
        return NULL;
    }
    *rest = word + length;
    if (**rest)
        *(*rest)++ = '\0';
    return word;
}

bool line_digits(const char **at, uint64_t *out)
{
    const char *digit = *at;
    uint64_t value = 0;

    for (; *digit >= '0' && *digit <= '9'; digit++) {
        uint64_t ones = (uint64_t)(*digit - '0');

        if (value > (UINT64_MAX - ones) / 10)
            return false;
        value = value * 10 + ones;
    }
    if (digit == *at)
        return false;
    *at = digit;
    *out = value;
    return true;
}

bool line_number(const char *text, uint64_t *out)
{
    uint64_t value;

    if (!line_digits(&text, &value) || *text)
        return false;
    *out = value;
    return true;
}

char *line_after(char *text, const char *start)
{
    size_t length = strlen(start);

    return strncmp(text, start, length) == 0 ? text + length : NULL;
}

const char *line_shown(const char *words, char room[SHOWN_BYTES])
{
    struct text text;

    text_init(&text, room, SHOWN_BYTES);
    (void)quote_plain(&text, words, 32);
    return room;
}

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

bool line_is_like(const char *text, const char *word, size_t length)
{
    if (strlen(text) != length || strlen(word) < length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (small(text[i]) != small(word[i]))
            return false;
    return true;
}
