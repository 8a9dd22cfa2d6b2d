#include "report/page.h"

#include <stdlib.h>

#include "core/quote.h"
#include "report/page_style.h"
#include "store/file.h"

void page_begin(const char *title, struct text *out)
{
    text_add(out,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n"
             "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
             "content=\"width=device-width\"/>\n"
             "<title>starswitch: %s</title>\n<style>\n",
             title);
    text_add(out, "%s</style>\n</head>\n<body>\n<main>\n", page_style);
}

void page_end(struct text *out)
{
    text_add(out, "</main>\n</body>\n</html>\n");
}

void page_fact(const char *name, const char *value, struct text *out)
{
    if (!value)
        return;
    text_add(out, "<span class=\"soft\">%s</span> ", name);
    quote_html(out, value);
    text_add(out, " &#160; ");
}

void page_setting(const char *name, const char *value, struct text *out)
{
    if (!value)
        return;
    text_add(out, "<div><dt>");
    quote_html(out, name);
    text_add(out, "</dt><dd><code>");
    quote_html(out, value);
    text_add(out, "</code></dd></div>\n");
}

void page_settings(const struct setting *settings, size_t count,
                   struct text *out)
{
    for (size_t i = 0; i < count; i++)
        page_setting(settings[i].name, settings[i].value, out);
}

enum status page_write(const char *path, size_t room,
                       void (*write)(const void *of, struct text *out),
                       const void *of, struct why *why)
{
    char *bytes = malloc(room);
    enum status status;
    struct text text;

    if (!bytes)
        return because(why, STATUS_NO_MEMORY, "no memory for the report");
    text_init(&text, bytes, room);
    write(of, &text);
    status = file_replace(path, &(struct part){bytes, text.length}, 1, why);
    free(bytes);
    return status;
}
