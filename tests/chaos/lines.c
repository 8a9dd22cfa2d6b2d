#include <stdlib.h>
#include <string.h>

#include "tests/chaos/inside.h"

enum { LINE_ROOM = 8192 };

static const char *cut(char **rest)
{
    char *word = strsep(rest, " ");

    return word ? word : "";
}

/* The time of an event: seconds with at most nine decimals. */
static nanos read_time(const char *text)
{
    char *end;
    nanos time = strtoll(text, &end, 10) * SECOND, unit = SECOND;

    for (end += *end == '.'; *end >= '0' && *end <= '9'; end++) {
        unit /= 10;
        time += (*end - '0') * unit;
    }
    return time;
}

/* Takes the line apart, in place. */
static void take_apart(struct entry *entry, char *text)
{
    char *rest = text;

    entry->effect = *rest == ' ';
    if (entry->effect)
        rest += strspn(rest, " ");
    else
        entry->now = read_time(cut(&rest));
    entry->verb = cut(&rest);
    entry->kind = "";
    entry->peer = 0;
    if (strcmp(entry->verb, "message") == 0 ||
        strcmp(entry->verb, "send") == 0) {
        entry->peer = strtoull(cut(&rest), NULL, 10);
        entry->kind = cut(&rest);
    } else if (strcmp(entry->verb, "note") == 0) {
        entry->kind = cut(&rest);
    }
    entry->rest = rest ? rest : "";
}

static void read_entry(const struct entry *entry, const struct reader *reader,
                       void *of)
{
    for (; reader->verb; reader++)
        if (strcmp(entry->verb, reader->verb) == 0 &&
            strcmp(entry->kind, reader->kind) == 0) {
            reader->read(of, entry);
            return;
        }
}

bool entries_read(const char *path, const struct reader *readers, void *of,
                  nanos *now)
{
    static char text[LINE_ROOM];
    struct entry entry = {.path = path};
    FILE *file = fopen(path, "re");

    if (!file)
        return false;
    while (fgets(text, sizeof text, file) && strchr(text, '\n')) {
        text[strcspn(text, "\n")] = '\0';
        if (entry.line++ == 0 && strncmp(text, "starswitch-", 11) == 0)
            continue;
        take_apart(&entry, text);
        read_entry(&entry, readers, of);
    }
    *now = entry.now;
    (void)fclose(file);
    return true;
}

/* What is behind "field=", or NULL. */
static const char *find(const struct entry *entry, const char *field)
{
    size_t length = strlen(field);

    for (const char *at = entry->rest; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, field, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

uint64_t entry_number(const struct entry *entry, const char *field)
{
    const char *text = find(entry, field);

    return text ? strtoull(text, NULL, 10) : 0;
}

bool entry_text_is(const struct entry *entry, const char *field,
                   const char *text)
{
    const char *at = find(entry, field);
    size_t length = strlen(text);

    return at && *at == '"' && strncmp(at + 1, text, length) == 0 &&
           at[1 + length] == '"';
}

bool start_settles(const struct entry *entry)
{
    uint64_t start = entry_number(entry, "start");

    return start != START_HOLD && start != START_GIVE;
}

bool entry_noted(const struct entry *entry, const char *word, uint64_t *out)
{
    const char *at = strstr(entry->rest, word);
    char *end;

    if (!at)
        return false;
    *out = strtoull(at + strlen(word), &end, 10);
    return end > at + strlen(word);
}
