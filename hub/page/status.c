#include "hub/page/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <starswitch.h>

#include "codec/codec.h"
#include "core/quote.h"
#include "hub/page/timeline.h"

enum { EXTRA_BYTES = 8 * 1024 };

uint64_t resident_bytes(void)
{
    char line[100] = "", *rest = line; /* its second number: pages */
    FILE *file = fopen("/proc/self/statm", "re");

    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    (void)fclose(file);
    (void)strtoull(line, &rest, 10);
    return strtoull(rest, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void add_words(struct text *out, const char *key, const char *words)
{
    text_add(out, ",\"%s\":", key);
    if (words)
        quote_json(out, words);
    else
        text_add(out, "null");
}

static void add_number(struct text *out, const char *key, double number)
{
    text_add(out, ",\"%s\":", key);
    quote_json_number(out, number);
}

static void add_flag(struct text *out, const char *key, bool flag)
{
    text_add(out, ",\"%s\":%s", key, flag ? "true" : "false");
}

static double limit(uint64_t bytes)
{
    return bytes ? (double)bytes : NAN;
}

/* The hub stops, or another one has taken its run over. */
static bool goes_on(const struct hub_view *view)
{
    return view->stopping || view->superseded;
}

/* What the page shows and ctl does not. */
static void add_extra(const struct status_source *source, struct text *out)
{
    static const char *const kinds[] = {NULL, "loss", "accuracy"};
    const struct snapshot *now = source->now;
    const struct goal *goal = &source->goal;
    const struct table_head *head = source->head;

    text_add(out, ",\"boot\":%" PRIu64, source->boot);
    add_words(out, "release", STAR_VERSION);
    add_words(out, "title", head->title);
    add_words(out, "model", head->model);
    add_words(out, "data", head->data);
    add_words(out, "policy", head->policy);
    add_words(out, "rules", head->rules);
    add_words(out, "codec_up", codecs[now->view.codec_up].name);
    add_words(out, "codec_down", codecs[now->view.codec_down].name);
    add_words(out, "goal_of", kinds[goal->kind]);
    add_number(out, "goal", goal->kind ? goal->value : NAN);
    add_number(out, "first_loss",
               score_known(now->view.first_score) ? now->view.first_score
                                                  : NAN);
    if (now->saved) /* with more digits than other numbers */
        text_add(out, ",\"saved\":%.3f", (double)now->saved / (double)SECOND);
    else
        add_number(out, "saved", NAN);
    text_add(out, ",\"saves_failed\":%u", now->view.saves_failed);
    add_number(out, "up_limit", limit(now->view.up_limit));
    add_number(out, "down_limit", limit(now->view.down_limit));
    add_number(out, "most_nodes", TIMELINE_NODES);
    add_flag(out, "ended", now->view.ended && !goes_on(&now->view));
    add_flag(out, "stopping", goes_on(&now->view));
}

size_t status_room(unsigned nodes)
{
    return TABLE_REST_BYTES + (size_t)nodes * TABLE_NODE_BYTES + EXTRA_BYTES;
}

void status_write(const struct status_source *source, unsigned nodes,
                  struct text *out)
{
    const struct snapshot *now = source->now;
    const struct table table = {source->head, &now->view, now->elapsed,
                                now->wall};
    const struct table_process process = {now->uploads,  resident_bytes(),
                                          now->pool,     now->notes,
                                          now->refusals, now->reasons};

    table_state(&table, &process, nodes, out);
    while (out->length && (out->bytes[out->length - 1] == '\n' ||
                           out->bytes[out->length - 1] == '}'))
        out->bytes[--out->length] = '\0';
    add_extra(source, out);
    text_add(out, "}\n");
}
