#include "hub/program/look.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 10000 };

/* The number that is next in the line, which goes on behind it. */
static unsigned number(const char **at)
{
    char *end = NULL;
    unsigned long value = strtoul(*at, &end, 10);

    *at = end + strspn(end, " ");
    return value < MOST ? (unsigned)value : MOST;
}

bool look_answer(const char *line, const struct table *table, struct text *out)
{
    static const char drawn[] = "table ";
    struct table_style style = {0};
    const char *at = line + sizeof drawn - 1;

    if (strcmp(line, "line") == 0) {
        table_line(table, out);
    } else if (strcmp(line, "json") == 0) {
        table_json(table, out);
    } else if (strncmp(line, drawn, sizeof drawn - 1) == 0) {
        style.width = number(&at);
        style.height = number(&at);
        style.colour = strcmp(at, "colour") == 0;
        table_draw(table, &style, out);
    } else {
        return false;
    }
    return true;
}
