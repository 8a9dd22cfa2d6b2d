#include "sim/trace/fields.h"

#include <string.h>

#include "sim/trace/lines.h"

enum status fields_lack(const struct fields *fields, const char *what,
                        struct why *why)
{
    return because(why, STATUS_MALFORMED,
                   "line %lu: the message has no %s: it "
                   "is damaged, or of a newer program",
                   fields->line, what);
}

/* What is behind "name=", or NULL. */
static const char *field(const struct fields *fields, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = fields->text; (at = strstr(at, name)) != NULL;
         at += length)
        if ((at == fields->text || at[-1] == ' ') && at[length] == '=')
            return at + length + 1;
    return NULL;
}

bool fields_count(const struct fields *fields, const char *name, uint64_t *out)
{
    const char *at = field(fields, name);

    return at && line_digits(&at, out);
}

bool fields_rounded(const struct fields *fields, const char *name, int power,
                    int64_t *out)
{
    const char *at = field(fields, name);
    struct decimal decimal;

    return at && decimal_read(&at, &decimal) &&
           trace_round(decimal, power, out);
}

bool fields_payload(const struct fields *fields, uint64_t *out)
{
    const char *at = strrchr(fields->text, '[');

    *out = 0;
    if (!at)
        return true;
    at++;
    return line_digits(&at, out) && (*at == ' ' || *at == ']') &&
           strchr(at, ']') && *out < UINT64_C(1) << 40;
}

bool fields_name(const struct fields *fields, char name[TRACE_NAME_BYTES])
{
    const char *at = field(fields, "name");
    size_t length = 0;

    if (!at || *at++ != '"')
        return false;
    for (; *at && *at != '"'; at++)
        if (length + 2 < TRACE_NAME_BYTES) {
            bool plain = (unsigned char)*at > ' ' && *at != 0x7f &&
                         *at != '\\' && (length > 0 || *at != '#');

            name[length++] = *at;
            if (!plain)
                name[length - 1] = '_';
        }
    name[length] = '\0';
    if (!length || strcmp(name, TRACE_ALL) == 0 || strcmp(name, TRACE_HUB) == 0)
        memcpy(name + length, "_", sizeof "_");
    return *at == '"';
}
