#include "hub/page/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/quote.h"
#include "hub/page/metrics.h"
#include "hub/page/picture.h"
#include "hub/page/status.h"

/* A loop that has told nothing for so long stands; jobs of large models take
 * minutes. */
#define LOOP_STANDS (10 * SECOND)
#define JOBS_STAND (300 * SECOND)

enum { WORDS_BYTES = 1024 };

static const char plain[] = "text/plain; charset=utf-8";
static const char metrics_text[] = "text/plain; version=0.0.4; charset=utf-8";
static const char open_text[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";
static const char json[] = "application/json";
static const char drawing[] = "image/svg+xml";

/* Room for a body; false: there is none, and the answer has no bytes. */
static bool begin(struct answer *out, unsigned status, const char *type,
                  size_t room, struct text *text)
{
    *out = (struct answer){.status = status, .type = type};
    out->bytes = malloc(room);
    if (!out->bytes)
        return false;
    text_init(text, out->bytes, room);
    return true;
}

static void end(struct answer *out, const struct text *text)
{
    out->size = text->length;
}

void answer_words(struct answer *out, unsigned status, const char *words)
{
    struct text text;

    if (!begin(out, status, plain, WORDS_BYTES, &text))
        return;
    text_add(&text, "%s\n", words);
    end(out, &text);
}

void answer_status(const struct web *web, struct answer *out)
{
    struct status_source source = web_status(web);
    struct text text;

    if (!web->now)
        answer_words(out, 503, "the hub is starting");
    else if (begin(out, 200, json, status_room(web->now->view.count), &text)) {
        status_write(&source, web->now->view.count, &text);
        end(out, &text);
    }
}

void answer_course(const struct web *web, struct answer *out)
{
    struct text text;

    if (!begin(out, 200, json, timeline_room(&web->timeline), &text))
        return;
    timeline_write(&web->timeline, &text);
    end(out, &text);
}

static void answer_bytes(struct answer *out, const char *bytes, size_t size)
{
    struct text text;

    if (!begin(out, 200, json, size + 1, &text))
        return;
    text_add(&text, "%.*s", (int)size, bytes);
    end(out, &text);
}

static void answer_recording(const struct course_reader *course,
                             struct answer *out)
{
    struct text text;

    if (!begin(out, 200, json, course_reader_room(course), &text))
        return;
    course_reader_write(course, &text);
    end(out, &text);
}

void answer_recorded(const struct course_reader *course, enum route route,
                     struct answer *out)
{
    if (route == ROUTE_RECORDING)
        answer_recording(course, out);
    else if (route == ROUTE_STATUS)
        answer_bytes(out, course->last, course->last_size);
    else if (route == ROUTE_HEALTH)
        answer_words(out, 200, "ok: a recording");
    else
        answer_words(out, 404, "this is a recording: there is no hub to ask");
}

void answer_metrics(const struct web *web, bool open_metrics,
                    struct answer *out)
{
    const struct metrics_source source = {web->now, web->config.head->policy,
                                          web->config.goal};
    struct text text;

    if (!web->now)
        answer_words(out, 503, "the hub is starting");
    else if (begin(out, 200, open_metrics ? open_text : metrics_text,
                   metrics_room(web->now->view.count), &text)) {
        metrics_write(&source, open_metrics, &text);
        end(out, &text);
    }
}

void answer_picture(const struct web *web, struct answer *out)
{
    struct text text;

    if (!web->now)
        answer_words(out, 503, "the hub is starting");
    else if (begin(out, 200, drawing, PICTURE_BYTES, &text)) {
        picture_write(web->config.head, web->now, &web->timeline, &text);
        end(out, &text);
    }
}

void answer_health(const struct web *web, nanos now, struct answer *out)
{
    if (!web->now)
        answer_words(out, 200, "ok: starting");
    else if (now - web->heard > LOOP_STANDS)
        answer_words(out, 503, "the hub's loop has said nothing for 10 s");
    else if (web->now->stalled > JOBS_STAND)
        answer_words(out, 503, "no job has begun for 5 minutes");
    else
        answer_words(out, 200, "ok");
}

/* Why nodes are not served; NULL: they are. */
static const char *not_ready(const struct web *web, nanos now)
{
    const struct snapshot *snapshot = web->now;

    if (!snapshot)
        return "the hub is starting";
    if (now - web->heard > LOOP_STANDS)
        return "the hub's loop has said nothing for 10 s";
    if (snapshot->view.recovering)
        return "the hub asks its nodes for the newest centre";
    if (snapshot->view.superseded)
        return "another hub has taken the run over";
    if (snapshot->view.ended || snapshot->view.stopping)
        return "the hub ends";
    return NULL;
}

void answer_ready(const struct web *web, nanos now, struct answer *out)
{
    const char *words = not_ready(web, now);

    answer_words(out, words ? 503 : 200, words ? words : "ok");
}

/* The status of HTTP for how an order ended. */
static unsigned status_of(enum status status)
{
    switch (status) {
    case STATUS_OK:
        return 200;
    case STATUS_USAGE:
        return 400;
    case STATUS_AGAIN:
    case STATUS_UNAVAILABLE:
        return 503;
    default:
        return 409;
    }
}

void answer_order(const struct msg_answer *answer, struct answer *out)
{
    enum status status = (enum status)answer->status;
    struct text text;

    if (!begin(out, status_of(status), json, WORDS_BYTES, &text))
        return;
    if (status == STATUS_OK)
        text_add(&text, "{\"ok\":true,\"version\":%" PRIu64 ",\"text\":",
                 answer->version);
    else
        text_add(&text, "{\"ok\":false,\"code\":%d,\"text\":",
                 status_exit_code(status));
    quote_json(&text, answer->text);
    text_add(&text, "}\n");
    end(out, &text);
}
