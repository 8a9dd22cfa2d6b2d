#include "sim/trace/json.h"

#include <string.h>

void json_init(struct json *json, const char *text, size_t size)
{
    *json = (struct json){.at = text, .end = text + size, .line = 1};
}

static enum status wrong(const struct json *json, const char *what,
                         struct why *why)
{
    if (json->at == json->end)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the file ends within "
                       "its JSON: it is cut off",
                       json->line);
    return because(why, STATUS_MALFORMED, "line %lu: not JSON: %s", json->line,
                   what);
}

/* The next byte behind blanks, or NUL at the end. */
static char peek(struct json *json)
{
    for (; json->at < json->end; json->at++) {
        if (!strchr(" \t\r\n", *json->at) || !*json->at)
            return *json->at;
        json->line += *json->at == '\n';
    }
    return '\0';
}

static bool take(struct json *json, char wanted)
{
    if (peek(json) != wanted || json->at == json->end)
        return false;
    json->at++;
    return true;
}

/* What stands between two quotes, its first bytes in `out`. */
static enum status read_string(struct json *json, char *out, size_t size,
                               bool *whole, struct why *why)
{
    size_t length = 0;

    if (!take(json, '"'))
        return wrong(json, "a text in quotes is expected", why);
    for (; json->at < json->end && *json->at != '"'; json->at++) {
        if ((unsigned char)*json->at < ' ')
            return wrong(json, "a text has no closing quote", why);
        if (length + 1 < size)
            out[length] = *json->at;
        length++;
        if (*json->at != '\\')
            continue;
        if (++json->at == json->end)
            break;
        if (length + 1 < size)
            out[length] = *json->at;
        length++;
    }
    if (json->at == json->end)
        return wrong(json, "", why);
    json->at++;
    *whole = length < size;
    out[*whole ? length : size - 1] = '\0';
    return STATUS_OK;
}

/* Numbers and words: all that stands up to a blank or bracket. */
static enum status read_bare(struct json *json, enum json_token *out,
                             struct why *why)
{
    size_t length = 0;

    for (; json->at < json->end && !strchr(" \t\r\n,:{}[]\"", *json->at);
         json->at++) {
        if (length + 1 == sizeof json->text || !*json->at)
            return wrong(json, "a number or a word is too long", why);
        json->text[length++] = *json->at;
    }
    json->text[length] = '\0';
    if (!length)
        return wrong(json, "a value is expected", why);
    *out = JSON_WORD;
    if (strcmp(json->text, "true") == 0 || strcmp(json->text, "false") == 0 ||
        strcmp(json->text, "null") == 0)
        return STATUS_OK;
    *out = JSON_NUMBER;
    if (strspn(json->text, "+-.0123456789eE") != length)
        return wrong(json, "neither a number nor true, false or null", why);
    return STATUS_OK;
}

static void path_append(struct json *json, const char *key)
{
    size_t length = strlen(key);

    json->path[json->length++] = '/';
    memcpy(json->path + json->length, key, length + 1);
    json->length += length;
}

static void path_cut(struct json *json, size_t length)
{
    json->length = length;
    json->path[length] = '\0';
}

/* Goes to the next child of the innermost object or array: the comma before
 * it and its key. */
static enum status enter_child(struct json *json, struct why *why)
{
    char key[JSON_KEY_BYTES];
    enum status status;
    bool whole;

    path_cut(json, json->open[json->depth - 1].length);
    if (!json->open[json->depth - 1].first && !take(json, ','))
        return wrong(json, "a comma or a closing bracket is expected", why);
    json->open[json->depth - 1].first = false;
    if (!json->open[json->depth - 1].object) {
        path_append(json, "[]");
        return STATUS_OK;
    }
    status = read_string(json, key, sizeof key, &whole, why);
    if (status == STATUS_OK && !take(json, ':'))
        status = wrong(json, "a colon is expected behind a key", why);
    if (status == STATUS_OK)
        path_append(json, whole ? key : "?");
    return status;
}

static bool close_innermost(struct json *json)
{
    if (!take(json, json->open[json->depth - 1].object ? '}' : ']'))
        return false;
    json->depth--;
    path_cut(json, json->open[json->depth].length);
    return true;
}

static enum status open_another(struct json *json, struct why *why)
{
    if (json->depth == JSON_DEPTH - 1)
        return wrong(json, "objects and arrays are too deep in each other",
                     why);
    json->open[json->depth].object = *json->at++ == '{';
    json->open[json->depth].first = true;
    json->open[json->depth].length = json->length;
    json->depth++;
    return STATUS_OK;
}

/* Behind the outermost value nothing may stand. */
static enum status end(struct json *json, struct why *why)
{
    if (!peek(json) && json->at == json->end)
        return STATUS_AGAIN;
    return wrong(json, "something stands behind its end", why);
}

/* A number, a word or a text; with *open, an object or array begins. */
static enum status read_one(struct json *json, enum json_token *out, bool *open,
                            struct why *why)
{
    bool whole;

    *open = peek(json) == '{' || peek(json) == '[';
    if (*open)
        return open_another(json, why);
    if (peek(json) != '"')
        return read_bare(json, out, why);
    *out = JSON_TEXT;
    return read_string(json, json->text, sizeof json->text, &whole, why);
}

enum status json_next(struct json *json, enum json_token *out, struct why *why)
{
    enum status status = STATUS_OK;
    bool open = true;

    while (status == STATUS_OK && open) {
        if (json->begun && !json->depth)
            return end(json, why);
        json->begun = true;
        *out = JSON_CLOSE;
        if (json->depth && close_innermost(json))
            return STATUS_OK;
        if (json->depth)
            status = enter_child(json, why);
        if (status == STATUS_OK)
            status = read_one(json, out, &open, why);
    }
    return status;
}
