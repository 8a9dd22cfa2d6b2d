#include "train/spec.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

enum { PART_BYTES = 256 };

/* A row of numbers.def. */
struct spec_row {
    const char *name;
    int whole;
    unsigned models; /* bits 1 << enum spec_model */
    double least, most;
    double defaults[SPEC_MODELS];
};

#define WHOLE 1
#define REAL 0
#define MLP (1U << SPEC_MLP)
#define CNN (1U << SPEC_CNN)
#define LM (1U << SPEC_LM)
#define GPT (1U << SPEC_GPT)
#define TEXT (LM | GPT)
#define ALL (MLP | CNN | TEXT)
static const struct spec_row spec_rows[SPEC_NUMBERS] = {
#define NUMBER(ID, name, kind, models, least, most, mlp, cnn, lm, gpt, doc)    \
    {#name, kind, models, least, most, {mlp, cnn, lm, gpt}},
#include "train/numbers.def"
#undef NUMBER
};

/* How the shape of a gpt abbreviates them. */
static const struct {
    char letter;
    enum spec_number number;
} letters[] = {{'L', SPEC_LAYERS},
               {'D', SPEC_WIDTH},
               {'H', SPEC_HEADS},
               {'T', SPEC_CONTEXT}};

enum { LETTERS = sizeof letters / sizeof *letters };

static int knows(enum spec_model model, const struct spec_row *row)
{
    return (row->models >> model & 1) != 0;
}

/* One part of a spec and whom to tell about it. */
struct part {
    char text[PART_BYTES]; /* "name" or the whole part */
    char *value;           /* behind the '=', or NULL */
    enum spec_model model;
    struct why *why;
};

/* Numbers with '-' between them. */
struct list {
    const char *of, *like;
    unsigned most; /* numbers */
    unsigned long largest;
};

static const struct list widths_list = {"widths", "784-128-10",
                                        DENSE_LAYERS_MAX + 1, DENSE_WIDTH_MAX};
static const struct list channels_list = {
    "channels", "16-32", CONVOLUTION_BLOCKS_MAX, CONVOLUTION_CHANNELS_MAX};

static enum status read_list(const struct part *part, const struct list *list,
                             size_t *out, unsigned *count)
{
    const char *text = part->value ? part->value : part->text;

    for (*count = 0;;) {
        char *end;
        unsigned long number = strtoul(text, &end, 10);

        if (*text < '0' || *text > '9' || number < 1 ||
            number > list->largest || *count == list->most)
            return because(part->why, STATUS_USAGE,
                           "'%s' is not a list of %s; give up to %u numbers "
                           "from 1 to %lu with '-' between them, like %s",
                           part->value ? part->value : part->text, list->of,
                           list->most, list->largest, list->like);
        out[(*count)++] = number;
        if (*end == 0)
            return STATUS_OK;
        text = *end == '-' ? end + 1 : "";
    }
}

static enum status read_widths(const struct part *part, struct spec *spec)
{
    return read_list(part, &widths_list, spec->widths, &spec->width_count);
}

static enum status read_layers(const struct part *part, struct spec *spec)
{
    enum status status = read_widths(part, spec);

    spec->complete = !status && spec->width_count > 1;
    return status;
}

static enum status read_hidden(const struct part *part, struct spec *spec)
{
    enum status status = read_widths(part, spec);

    if (!status && spec->width_count > DENSE_LAYERS_MAX - 1)
        return because(part->why, STATUS_USAGE,
                       "hidden has %u layers; at most %d are supported",
                       spec->width_count, DENSE_LAYERS_MAX - 1);
    spec->complete = 0;
    return status;
}

static enum status read_optimizer(const struct part *part, struct spec *spec)
{
    char names[PART_BYTES];
    struct text list;

    for (unsigned i = 0; i < OPTIMIZERS; i++)
        if (strcmp(part->value, optimizer_rows[i].name) == 0) {
            spec->optimizer = (enum optimizer_kind)i;
            return STATUS_OK;
        }
    text_init(&list, names, sizeof names);
    for (unsigned i = 0; i < OPTIMIZERS; i++)
        text_add_item(&list, optimizer_rows[i].name);
    return because(part->why, STATUS_USAGE,
                   "there is no optimizer '%s'; take one of %s", part->value,
                   names);
}

static enum status read_number(const struct part *part,
                               const struct spec_row *row, double *out)
{
    char *end;
    double number = strtod(part->value, &end);

    if (end == part->value || *end || !(number >= row->least) ||
        !(number <= row->most) || (row->whole && number != floor(number)))
        return because(part->why, STATUS_USAGE,
                       "%s=%s does not work; give %s number from %g to %g",
                       row->name, part->value, row->whole ? "a whole" : "a",
                       row->least, row->most);
    *out = number;
    return STATUS_OK;
}

/* False if a gpt has no such number. */
static int take_gpt_letter(struct spec *spec, char letter, unsigned long number)
{
    for (unsigned i = 0; i < LETTERS; i++) {
        const struct spec_row *row = &spec_rows[letters[i].number];

        if (letters[i].letter == letter) {
            spec->number[letters[i].number] = (double)number;
            return (double)number >= row->least && (double)number <= row->most;
        }
    }
    return 0;
}

/* False if a cnn has no such number there: channels come before widths. */
static int take_cnn_letter(struct spec *spec, char letter, unsigned long number)
{
    if (letter == 'C' && !spec->width_count &&
        spec->channel_count < CONVOLUTION_BLOCKS_MAX) {
        spec->channels[spec->channel_count++] = number;
        return number >= 1 && number <= CONVOLUTION_CHANNELS_MAX;
    }
    if (letter == 'H' && spec->width_count < DENSE_LAYERS_MAX - 1) {
        spec->widths[spec->width_count++] = number;
        return number >= 1 && number <= DENSE_WIDTH_MAX;
    }
    return 0;
}

/* "L4-D128-H4-T64", "C16-C32-H64". */
static enum status read_shape(const struct part *part, struct spec *spec)
{
    int gpt = part->model == SPEC_GPT;

    for (const char *at = part->text;;) {
        char *end;
        unsigned long number = strtoul(at + (*at != 0), &end, 10);

        if (at[0] == 0 || at[1] < '0' || at[1] > '9' || (*end && *end != '-') ||
            !(gpt ? take_gpt_letter : take_cnn_letter)(spec, *at, number))
            return because(part->why, STATUS_USAGE,
                           "'%s' is not a shape; give %s", part->text,
                           gpt ? "layers, width, heads and context, like "
                                 "L4-D128-H4-T64"
                               : "channels of the blocks, then widths of "
                                 "hidden layers, like C16-C32-H64");
        if (*end == 0)
            return STATUS_OK;
        at = end + 1;
    }
}

/* Every name that the model knows, for the error's sentence. */
static void list_names(enum spec_model model, char *out, size_t size)
{
    struct text list;

    text_init(&list, out, size);
    if (model == SPEC_CNN)
        text_add_item(&list, "channels");
    if (model != SPEC_GPT)
        text_add_item(&list, "hidden");
    text_add_item(&list, "optimizer");
    for (unsigned i = 0; i < SPEC_NUMBERS; i++)
        if (knows(model, &spec_rows[i]))
            text_add_item(&list, spec_rows[i].name);
}

static enum status read_part(const struct part *part, int first,
                             struct spec *spec)
{
    char names[PART_BYTES];

    if (!part->value && first && part->model == SPEC_MLP)
        return read_layers(part, spec);
    if (!part->value && first && part->model != SPEC_LM)
        return read_shape(part, spec);
    if (part->value && part->model == SPEC_CNN &&
        strcmp(part->text, "channels") == 0)
        return read_list(part, &channels_list, spec->channels,
                         &spec->channel_count);
    if (part->value && part->model != SPEC_GPT &&
        strcmp(part->text, "hidden") == 0)
        return read_hidden(part, spec);
    if (part->value && strcmp(part->text, "optimizer") == 0)
        return read_optimizer(part, spec);
    for (unsigned i = 0; i < SPEC_NUMBERS && part->value; i++)
        if (strcmp(part->text, spec_rows[i].name) == 0 &&
            knows(part->model, &spec_rows[i]))
            return read_number(part, &spec_rows[i], &spec->number[i]);
    list_names(part->model, names, sizeof names);
    return because(part->why, STATUS_USAGE,
                   "'%s' is not a setting of this model; write NAME=VALUE "
                   "with one of: %s",
                   part->text, names);
}

static enum status next_part(const char **text, struct part *out)
{
    size_t size = strcspn(*text, ",");

    if (size >= sizeof out->text)
        return because(out->why, STATUS_USAGE,
                       "a part of the model's spec is longer than %d bytes",
                       PART_BYTES - 1);
    memcpy(out->text, *text, size);
    out->text[size] = 0;
    out->value = strchr(out->text, '=');
    if (out->value)
        *out->value++ = 0;
    *text += size;
    if (**text == ',')
        ++*text;
    return STATUS_OK;
}

/* Where no shape has been given. */
static void set_default_shape(enum spec_model model, struct spec *spec)
{
    if (!spec->width_count)
        spec->widths[spec->width_count++] = model == SPEC_CNN ? 64 : 128;
    if (!spec->channel_count) {
        spec->channels[spec->channel_count++] = 16;
        spec->channels[spec->channel_count++] = 32;
    }
}

enum status spec_parse(const char *text, enum spec_model model,
                       struct spec *out, struct why *why)
{
    struct spec spec = {.optimizer = OPTIMIZER_ADAMW};
    struct part part = {.model = model, .why = why};
    const char *at = text;

    for (unsigned i = 0; i < SPEC_NUMBERS; i++)
        spec.number[i] = spec_rows[i].defaults[model];
    while (*at) {
        int first = at == text;
        enum status status = next_part(&at, &part);

        if (!status)
            status = read_part(&part, first, &spec);
        if (status)
            return status;
    }
    set_default_shape(model, &spec);
    if (spec.number[SPEC_RATE] == 0)
        spec.number[SPEC_RATE] = optimizer_rows[spec.optimizer].rate;
    *out = spec;
    return STATUS_OK;
}

enum status spec_complete(struct spec *spec, size_t inputs, size_t outputs,
                          struct why *why)
{
    size_t *widths = spec->widths;
    unsigned last = spec->width_count - 1;

    if (spec->complete && widths[0] != inputs)
        return because(why, STATUS_CONFIG,
                       "the model takes %zu numbers but the data has %zu per "
                       "sample; begin the widths with %zu",
                       widths[0], inputs, inputs);
    if (spec->complete && widths[last] < outputs)
        return because(why, STATUS_CONFIG,
                       "the model tells %zu classes apart but the data has "
                       "%zu; end the widths with %zu",
                       widths[last], outputs, outputs);
    if (spec->complete)
        return STATUS_OK;
    if (inputs > DENSE_WIDTH_MAX || outputs > DENSE_WIDTH_MAX ||
        spec->width_count > DENSE_LAYERS_MAX - 1)
        return because(why, STATUS_CONFIG,
                       "the model would have %zu inputs, %zu outputs and %u "
                       "hidden layers; at most %d, %d and %d are supported",
                       inputs, outputs, spec->width_count, DENSE_WIDTH_MAX,
                       DENSE_WIDTH_MAX, DENSE_LAYERS_MAX - 1);
    memmove(widths + 1, widths, spec->width_count * sizeof *widths);
    widths[0] = inputs;
    widths[last + 2] = outputs;
    spec->width_count += 2;
    spec->complete = 1;
    return STATUS_OK;
}

void spec_print_widths(const struct spec *spec, char *out, size_t size)
{
    size_t used = 0;

    assert(size > 0);
    out[0] = 0;
    for (unsigned i = 0; i < spec->width_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? "-" : "",
                                 spec->widths[i]);
}

struct optimizer_settings spec_optimizer(const struct spec *spec)
{
    const double *number = spec->number;

    return (struct optimizer_settings){.kind = spec->optimizer,
                                       .rate = number[SPEC_RATE],
                                       .decay = number[SPEC_DECAY],
                                       .momentum = number[SPEC_MOMENTUM],
                                       .beta1 = number[SPEC_BETA1],
                                       .beta2 = number[SPEC_BETA2],
                                       .epsilon = number[SPEC_EPSILON],
                                       .muon_momentum =
                                           number[SPEC_MUON_MOMENTUM],
                                       .clip = number[SPEC_CLIP],
                                       .warmup = (uint64_t)number[SPEC_WARMUP]};
}
