#include "tests/sim/trace/trace_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static bool put(void *of, const char *text, size_t length)
{
    struct text_buffer *buffer = of;
    char *longer;

    if (buffer->most && buffer->length + length > buffer->most)
        return false;
    longer = realloc(buffer->text, buffer->length + length + 1);
    if (!longer)
        return false;
    memcpy(longer + buffer->length, text, length);
    buffer->text = longer;
    buffer->length += length;
    longer[buffer->length] = '\0';
    return true;
}

struct trace_sink text_buffer_sink(struct text_buffer *buffer)
{
    return (struct trace_sink){put, buffer};
}

void text_buffer_free(struct text_buffer *buffer)
{
    free(buffer->text);
    *buffer = (struct text_buffer){.text = NULL};
}

char *text_of_trace(const struct trace *trace)
{
    struct text_buffer buffer = {.text = NULL};
    const struct trace_sink sink = text_buffer_sink(&buffer);

    CHECK(trace_write(trace, &sink));
    return buffer.text;
}

/* ---- traces at random ---- */

/* Small and large numbers are equally likely. */
static int64_t draw(struct prng *prng, int64_t below)
{
    uint64_t bits = prng_next(prng) >> 1 >> prng_below(prng, 62);

    return (int64_t)(bits % (uint64_t)below);
}

static void add_series(struct trace *trace, struct trace_track *track,
                       enum quantity quantity, struct prng *prng)
{
    unsigned count = (unsigned)prng_below(prng, 6);
    nanos time = prng_below(prng, 2) ? 0 : draw(prng, trace->span);

    for (unsigned i = 0; i < count && time < trace->span; i++) {
        int64_t least = quantity == QUANTITY_STEP ? TRACE_LEAST_STEP : 0;
        int64_t most = quantities[quantity].measure == MEASURE_PART
                           ? PART_WHOLE + 1
                           : NEVER - 1;

        CHECK_OK(trace_add_value(trace, track, quantity, time,
                                 least + draw(prng, most - least), NULL));
        time += 1 + draw(prng, trace->span - time + 1);
    }
}

static void add_event(struct trace *trace, const struct trace_track *track,
                      struct prng *prng)
{
    struct traced event = {.track = track};

    event.kind = (enum traced_kind)prng_below(prng, TRACED_KINDS);
    event.time = event.until = draw(prng, trace->span + 1);
    if (traced_kinds[event.kind].lasts)
        event.until += draw(prng, trace->span - event.time + 1);
    for (unsigned i = 0; i < TRACE_NUMBERS; i++)
        if (traced_kinds[event.kind].numbers[i])
            event.numbers[i] = prng_next(prng) >> prng_below(prng, 64);
    CHECK_OK(trace_add_event(trace, &event, NULL));
}

static void add_node(struct trace *trace, const char *name, struct prng *prng)
{
    struct trace_track *track = NULL;

    if (!CHECK_OK(trace_track(trace, name, &track, NULL)))
        return;
    add_event(trace, track, prng); /* a node of which nothing is said is none */
    for (unsigned i = 0; i < QUANTITIES; i++)
        if (!track->series[i].count)
            add_series(trace, track, (enum quantity)i, prng);
    while (prng_below(prng, 4))
        add_event(trace, track, prng);
}

struct trace *trace_of(const char *text)
{
    struct trace *trace = NULL;
    struct why why = {""};

    CHECK_OK(trace_parse(text, strlen(text), &trace, &why));
    CHECK_TEXT("", why.text);
    return trace;
}

struct trace *random_trace(struct prng *prng)
{
    static const char *const names[] = {
        "n1",     "n10", "n2", "end", "span", "up", "\xc3\xa9t\xc3\xa9",
        "a,b\"c", "-"};
    struct trace *trace = trace_new();

    trace_set_span(trace, 1 + draw(prng, NEVER / 4));
    for (unsigned i = 0; i < QUANTITIES; i++) {
        add_series(trace, &trace->all, (enum quantity)i, prng);
        add_series(trace, &trace->hub, (enum quantity)i, prng);
    }
    while (prng_below(prng, 4))
        add_node(trace, names[prng_below(prng, sizeof names / sizeof *names)],
                 prng);
    trace_sort(trace);
    return trace;
}

/* ---- hostile bytes ---- */

static char *exact_copy(const char *text, size_t size)
{
    char *copy = malloc(size ? size : 1);

    memcpy(copy, text, size);
    return copy;
}

struct trace *parse_exactly(const char *text, size_t size, struct why *why)
{
    char *exact = exact_copy(text, size);
    struct trace *trace = NULL;
    enum status status = trace_parse(exact, size, &trace, why);

    CHECK(status == (trace ? STATUS_OK : STATUS_MALFORMED));
    free(exact);
    return trace;
}

struct trace *import_exactly(const struct importer *importer, const char *text,
                             size_t size, const struct import_options *options,
                             struct why *why)
{
    char *exact = exact_copy(text, size);
    struct trace *trace = NULL;
    enum status status = importer->import(exact, size, options, &trace, why);

    CHECK((status == STATUS_OK) == (trace != NULL));
    free(exact);
    return trace;
}

char *imported(const char *name, const char *text,
               const struct import_options *options)
{
    static const struct import_options none = {.node = TRACE_ALL};
    struct why why = {""};
    struct trace *trace =
        import_exactly(importer_find(name), text, strlen(text),
                       options ? options : &none, &why);
    char *result = trace ? text_of_trace(trace) : strdup(why.text);

    trace_destroy(&trace);
    return result;
}

bool is_sound(const struct trace *trace, const struct why *why)
{
    struct trace *again;
    char *text;
    bool equal;

    if (!trace)
        return strncmp(why->text, "line ", 5) == 0;
    text = text_of_trace(trace);
    again = parse_exactly(text, strlen(text), NULL);
    equal = again && trace_equal(trace, again);
    trace_destroy(&again);
    free(text);
    return equal;
}

static bool reads_soundly(const struct importer *importer, const char *text,
                          size_t size)
{
    const struct import_options options = {.node = TRACE_ALL,
                                           .quantities = 1U << QUANTITY_UP};
    struct why why = {""};
    struct trace *trace =
        importer ? import_exactly(importer, text, size, &options, &why)
                 : parse_exactly(text, size, &why);
    bool sound = is_sound(trace, &why);

    trace_destroy(&trace);
    return sound;
}

static void change(char *text, size_t *size, struct prng *prng)
{
    static const char bytes[] = "\n\n  \t0199.,-+eE#*=[]{}\":hubnms%\x80\xff";
    size_t at = prng_below(prng, *size), count;

    switch (prng_below(prng, 3)) {
    case 0:
        text[at] = bytes[prng_below(prng, sizeof bytes)];
        return;
    case 1:
        text[at] = (char)(text[at] ^ 1 << prng_below(prng, 8));
        return;
    default:
        count = prng_below(prng, *size - at);
        memmove(text + at, text + at + count, *size - at - count);
        *size -= count;
    }
}

void check_damage(const struct importer *importer, const char *text,
                  unsigned rounds)
{
    struct prng prng;
    size_t size = strlen(text);
    char *copy = malloc(size + 1);

    for (size_t i = 0; i <= size; i++)
        if (!CHECK(reads_soundly(importer, text, i)))
            break;
    prng_seed(&prng, size);
    for (unsigned i = 0; i < (runs_slowly() ? rounds / 8 : rounds); i++) {
        size_t left = size;

        memcpy(copy, text, size + 1);
        for (uint64_t n = 1 + prng_below(&prng, 4); n && left; n--)
            change(copy, &left, &prng);
        if (!CHECK(reads_soundly(importer, copy, left))) {
            (void)printf("%.*s\n", (int)left, copy);
            break;
        }
    }
    free(copy);
}
