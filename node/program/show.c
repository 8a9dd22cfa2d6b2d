#include "node/program/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/codec.h"
#include "core/quote.h"
#include "net/net.h"
#include "report/stamp.h"
#include "seam/machine.h"

#define REDRAW (200 * MILLISECOND)
#define JSON_LINE SECOND
#define LINE (5 * SECOND)
#define MEGA 1e6

/* Room for every number at its longest and for name and state, quoted. */
enum { LINE_BYTES = 2048 };

static void print_hubs(const struct options *options,
                       char bytes[ENDPOINTS_TEXT_BYTES])
{
    struct text text;

    text_init(&text, bytes, ENDPOINTS_TEXT_BYTES);
    endpoints_print(&options->hubs, &text);
}

void node_show_begin(struct node_show *show, const struct options *options,
                     const struct trainer *trainer)
{
    const char *term = getenv("TERM");
    char hubs[ENDPOINTS_TEXT_BYTES];

    (void)pthread_mutex_init(&show->lock, NULL);
    show->model = trainer->model.summary;
    show->json = options->json;
    show->terminal = !options->json && isatty(STDOUT_FILENO) && term &&
                     strcmp(term, "dumb") != 0;
    show->step_time = options->step_time;
    show->loss = (double)NAN;
    (void)snprintf(show->name, sizeof show->name, "%.39s",
                   options->name[0] ? options->name : "node");
    print_hubs(options, hubs);
    if (!show->json)
        (void)printf("training %s, %" PRIu64 " parameters, %" PRIu64
                     " samples; hub %s\n",
                     show->model, trainer->model.elements,
                     trainer->model.training_samples, hubs);
    (void)fflush(stdout);
}

static double in_seconds(nanos time)
{
    return (double)time / (double)SECOND;
}

static nanos interval(const struct node_show *show)
{
    if (show->terminal)
        return REDRAW;
    return show->json ? JSON_LINE : LINE;
}

static void print_json(FILE *file, const struct node_show *show,
                       const struct star_progress *progress,
                       const struct star_state *state)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, "{\"time\":\"");
    stamp_add(&line, net_wall());
    text_add(&line, "\",\"event\":\"status\",\"name\":");
    quote_json(&line, state->name);
    text_add(
        &line,
        ",\"seconds\":%.3f,\"iteration\":%" PRIu64 ",\"rate\":%.2f,\"loss\":",
        in_seconds(show->shown - show->begun), state->iteration, show->rate);
    quote_json_number(&line, show->loss);
    text_add(&line,
             ",\"accuracy\":%.4f,\"offered\":%" PRIu64 ",\"applied\":%" PRIu64
             ",\"missed\":%" PRIu64
             ",\"waited\":%.3f,\"inside\":%.6f,\"attached\":%s,\"state\":",
             progress->accuracy, state->offered, state->applied, state->missed,
             state->waited, state->inside, state->attached ? "true" : "false");
    quote_json(&line, state->text);
    (void)fprintf(file, "%s}\n", bytes);
}

static void print_line(struct node_show *show,
                       const struct star_progress *progress,
                       const struct star_state *state)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, "node=");
    (void)quote_plain(&line, state->name, sizeof state->name);
    text_add(&line, " iteration=%" PRIu64 " it/s=%.0f loss=%.4f",
             state->iteration, show->rate, show->loss);
    if (progress->accuracy >= 0)
        text_add(&line, " test=%.1f%%", 100 * progress->accuracy);
    text_add(&line, " applied=%" PRIu64 " late=%" PRIu64 " state=\"",
             state->applied, state->missed);
    (void)quote_plain(&line, state->text,
                      show->terminal ? 40 : sizeof state->text);
    (void)printf(show->terminal ? "\r\033[K%s\"" : "%s\"\n", bytes);
    show->drawn = show->terminal;
}

void node_show_step(struct node_show *show, nanos now,
                    const struct star_progress *progress,
                    const struct star_state *state)
{
    nanos span = now - show->shown;

    show->loss = !isfinite(show->loss)
                     ? progress->loss
                     : 0.95 * show->loss + 0.05 * progress->loss;
    if (show->shown && span < interval(show))
        return;
    if (show->shown)
        show->rate = (double)(state->iteration - show->shown_iteration) /
                     in_seconds(span);
    else
        show->begun = now;
    show->shown = now;
    show->shown_iteration = state->iteration;
    (void)pthread_mutex_lock(&show->lock);
    memcpy(show->name, state->name, sizeof show->name);
    if (show->json)
        print_json(stdout, show, progress, state);
    else
        print_line(show, progress, state);
    (void)fflush(stdout);
    (void)pthread_mutex_unlock(&show->lock);
}

void node_show_state(struct node_show *show,
                     const struct star_progress *progress,
                     const struct star_state *state)
{
    (void)pthread_mutex_lock(&show->lock);
    print_json(stderr, show, progress, state);
    (void)pthread_mutex_unlock(&show->lock);
}

/* As report/log.h prints it. */
static void add_event(const struct node_show *show, const char *level,
                      const char *event, const char *sentence,
                      struct text *line)
{
    text_add(line, "{\"time\":\"");
    stamp_add(line, net_wall());
    text_add(line, "\",\"level\":\"%s\",\"event\":\"%s\",\"subject\":", level,
             event);
    quote_json(line, show->name);
    text_add(line, ",\"text\":");
    quote_json(line, sentence);
    text_add(line, "}");
}

void node_show_note(struct node_show *show, enum star_level level,
                    const char *event, const char *sentence)
{
    enum level as_ours = (enum level)level;
    char bytes[LINE_BYTES];
    struct text line;

    if (level == STAR_DEBUG || strcmp(event, "node_refused") == 0)
        return; /* a refusal is said at the end, once */
    text_init(&line, bytes, sizeof bytes);
    (void)pthread_mutex_lock(&show->lock);
    if (show->json) {
        add_event(show, level_name(as_ours), event, sentence, &line);
    } else {
        stamp_add(&line, net_wall());
        text_add(&line, " %s %s: ", level_capitals(as_ours), event);
        (void)quote_plain(&line, sentence, sizeof bytes / 4);
    }
    if (show->drawn)
        (void)printf("\r\033[K");
    show->drawn = false;
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s\n", bytes);
    (void)pthread_mutex_unlock(&show->lock);
}

void node_show_refusal(const char *sentence)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    (void)quote_plain(&line, sentence, sizeof bytes / 4);
    (void)fprintf(stderr, "starswitch-node: %s\n", bytes);
}

/* What the model makes up, as a JSON string; nothing if it does not. */
static void add_made_up(struct trainer *trainer, const char *before,
                        struct text *out)
{
    char words[TRAINER_WORDS_BYTES];

    if (!trainer_write(trainer, NULL, words, sizeof words))
        return;
    text_add(out, "%s", before);
    quote_json(out, words);
}

static void end_as_json(const struct node_show *show, double seconds,
                        const struct star_state *state, const char *made_up)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, "{\"time\":\"");
    stamp_add(&line, net_wall());
    text_add(&line, "\",\"event\":\"end\",\"name\":");
    quote_json(&line, state->name);
    (void)printf(
        "%s,\"end\":true,\"seconds\":%.3f,"
        "\"iterations\":%" PRIu64 ",\"offered\":%" PRIu64
        ",\"applied\":%" PRIu64 ",\"missed\":%" PRIu64 ",\"bytes_up\":%" PRIu64
        ",\"bytes_down\":%" PRIu64 ",\"inside\":%.6f,\"waited\":%.6f,"
        "\"overruns\":%" PRIu64 "%s}\n",
        bytes, seconds, state->iteration, state->offered, state->applied,
        state->missed, state->bytes_up, state->bytes_down, state->inside,
        state->waited, show->overruns, made_up);
}

/* Why results came late, or none at all. */
static void say_late(const struct star_state *state)
{
    if (state->missed && !state->applied)
        (void)printf("No result came%s; ctl status at the hub says for "
                     "whom.\n",
                     state->shards > 1
                         ? ": rounds wait for the others, at first for as many "
                           "as the hub's --nodes says"
                         : ", and no other node was there: a hub whose --nodes "
                           "asks for more waits for them");
    else if (state->missed * 2 > state->applied)
        (void)printf("Late: not there --delay iterations after its offer, and "
                     "applied when it came. Where most are, the network, or "
                     "another node that a round waits for, is slower than the "
                     "hub's --every and --delay expect; starswitch-sim tune "
                     "finds others.\n");
}

static void end_as_words(const struct node_show *show, double seconds,
                         const struct star_state *state, const char *made_up)
{
    (void)printf("%s: %" PRIu64 " iteration%s in %.1f s; "
                 "%" PRIu64 " result%s applied, %" PRIu64 " late; %.1f MB "
                 "up, %.1f MB down; %.2f %% of the time in the library, "
                 "%.1f s waited\n",
                 state->name, state->iteration, plural(state->iteration),
                 seconds, state->applied, plural(state->applied), state->missed,
                 (double)state->bytes_up / MEGA,
                 (double)state->bytes_down / MEGA,
                 100 * state->inside / seconds, state->waited);
    say_late(state);
    if (show->step_time)
        (void)printf("%" PRIu64 " of %" PRIu64 " step%s took longer than "
                     "--step-time\n",
                     show->overruns, state->iteration,
                     plural(state->iteration));
    if (made_up[0])
        (void)printf("%s\n", made_up);
}

void node_show_end(struct node_show *show, nanos elapsed,
                   const struct star_state *state, struct trainer *trainer)
{
    char made_up[LINE_BYTES];
    struct text words;

    text_init(&words, made_up, sizeof made_up);
    if (state->iteration)
        add_made_up(trainer, show->json ? ",\"text\":" : "It writes: ", &words);
    if (show->drawn)
        (void)printf("\n");
    if (show->json)
        end_as_json(show, in_seconds(elapsed), state, made_up);
    else
        end_as_words(show, in_seconds(elapsed), state, made_up);
    (void)fflush(stdout);
}

void node_show_plan(const struct trainer *trainer,
                    const struct options *options, double loss)
{
    const struct star_trainer_model *model = &trainer->model;
    char hubs[ENDPOINTS_TEXT_BYTES];

    print_hubs(options, hubs);
    (void)printf("model   %s: %" PRIu64 " parameters in %zu tensor%s\n"
                 "traffic %.4g MB per exchange and direction as int8, %.4g MB "
                 "raw: the hub's codecs decide\n",
                 model->summary, model->elements, model->tensor_count,
                 plural(model->tensor_count),
                 (double)codec_int8_bound((size_t)model->elements) / MEGA,
                 (double)model->elements * sizeof(float) / MEGA);
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct star_trainer_tensor *tensor = &model->tensors[i];

        (void)printf("        %-20s f32", tensor->name);
        for (int j = 0; j < tensor->rank; j++)
            (void)printf("%s%" PRIu64, j ? "," : " ", tensor->shape[j]);
        (void)printf("\n");
    }
    (void)printf("data    %" PRIu64 " training samples, %" PRIu64
                 " held out; first minibatch: loss %.4f\n",
                 model->training_samples, model->held_out_samples, loss);
    (void)printf("key     %s\n",
                 options->key[0]
                     ? "has the form of one; the hub decides"
                     : "none, which will do for a hub that listens on this "
                       "PC only; others want --key-file");
    (void)printf("hub     would connect to %s, and train alone until it is "
                 "there\n",
                 hubs);
    (void)printf("Nothing was sent. Next: the same without --dry-run\n");
}
