/* Reads JSON (RFC 8259) value by value, from text in memory. Inside of trace/.
 *
 *     struct json json;
 *     json_init(&json, text, size);
 *     while ((status = json_next(&json, &token, why)) == STATUS_OK)
 *         ...                        // json.path, json.text, json.line
 *     // AGAIN: that was all of it
 *
 * It keeps no tree: memory does not grow, keys that stand twice (as iperf3 has
 * had them) come twice, and each value knows its line. */
#ifndef SIM_TRACE_JSON_H
#define SIM_TRACE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum {
    JSON_DEPTH = 32,      /* of objects and arrays in each other */
    JSON_KEY_BYTES = 32,  /* longer ones are `?` in the path */
    JSON_TEXT_BYTES = 128 /* longer texts are cut */
};

enum json_token {
    JSON_NUMBER, /* its digits are `text` */
    JSON_TEXT,   /* `text`, with its escapes as they stand */
    JSON_WORD,   /* true, false or null, as `text` */
    JSON_CLOSE   /* the object or array of this path is complete */
};

struct json {
    const char *at, *end;
    unsigned long line;
    bool begun;
    unsigned depth;
    struct {
        bool object, first;
        size_t length; /* of its own path */
    } open[JSON_DEPTH];
    size_t length;                                /* of `path` */
    char path[JSON_DEPTH * (JSON_KEY_BYTES + 1)]; /* "/intervals/[]/sum" */
    char text[JSON_TEXT_BYTES];
};

void json_init(struct json *json, const char *text, size_t size);

/* The next value. AGAIN: there is none, all was well. MALFORMED: this is not
 * JSON, or too deep. */
enum status json_next(struct json *json, enum json_token *out,
                      struct why *why) MUST_CHECK;

#endif
