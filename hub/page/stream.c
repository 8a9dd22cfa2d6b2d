#include "hub/page/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/quote.h"

enum { ROOM_OF_NOTE = 2048, RETRY_MILLISECONDS = 1000 };

void stream_init(struct stream *stream, uint64_t boot)
{
    memset(stream, 0, sizeof *stream);
    stream->boot = boot;
}

void frame_leave(struct frame *frame)
{
    if (frame && --frame->readers == 0)
        free(frame);
}

/* The oldest one goes. */
static void forget(struct stream *stream)
{
    struct frame **place = &stream->frames[stream->first++ % STREAM_FRAMES];

    stream->bytes -= (*place)->size;
    frame_leave(*place);
    *place = NULL;
}

void stream_free(struct stream *stream)
{
    while (stream->first < stream->next)
        forget(stream);
}

/* ---- events ---- */

static struct frame *frame_new(size_t size)
{
    struct frame *frame = malloc(sizeof *frame + size);

    if (frame)
        *frame = (struct frame){.readers = 1, .size = size};
    return frame;
}

struct frame *frame_of(const char *event, const char *data, size_t size)
{
    size_t room = size + strlen(event) + 32;
    struct frame *frame = frame_new(room);
    struct text text;

    while (size && data[size - 1] == '\n')
        size--;
    if (!frame)
        return NULL;
    text_init(&text, frame->bytes, room);
    text_add(&text, "event: %s\ndata: ", event);
    memcpy(frame->bytes + text.length, data, size);
    memcpy(frame->bytes + text.length + size, "\n\n", 2);
    frame->size = text.length + size + 2;
    return frame;
}

struct frame *frame_ping(void)
{
    static const char ping[] = ": ping\n\n";
    struct frame *frame = frame_new(sizeof ping - 1);

    if (frame)
        memcpy(frame->bytes, ping, sizeof ping - 1);
    return frame;
}

void note_write(const struct told_note *note, struct text *out)
{
    text_add(
        out,
        "{\"elapsed\":%.3f,\"wall\":%.3f,\"level\":\"%s\",\"event\":\"%s\"",
        (double)note->elapsed / (double)SECOND,
        (double)note->wall / (double)SECOND,
        level_name(note_level(note->note.kind)), note_name(note->note.kind));
    text_add(out, ",\"subject\":");
    quote_json(out, note->note.subject);
    text_add(out, ",\"text\":");
    quote_json(out, note->note.text);
    text_add(out, "}");
}

static void add_note(struct text *out, uint64_t boot,
                     const struct told_note *note)
{
    text_add(out, "id: %" PRIu64 "-%" PRIu64 "\nevent: note\ndata: ", boot,
             note->number);
    note_write(note, out);
    text_add(out, "\n\n");
}

struct frame *frame_note(const struct stream *stream,
                         const struct told_note *note)
{
    struct frame *frame = frame_new(ROOM_OF_NOTE);
    struct text text;

    if (!frame)
        return NULL;
    text_init(&text, frame->bytes, ROOM_OF_NOTE);
    add_note(&text, stream->boot, note);
    frame->size = text.length;
    return frame;
}

/* ---- the stream ---- */

void stream_add(struct stream *stream, struct frame *frame)
{
    if (!frame)
        return;
    while (stream->first < stream->next &&
           (stream->next - stream->first == STREAM_FRAMES ||
            stream->bytes + frame->size > STREAM_BYTES))
        forget(stream);
    stream->frames[stream->next++ % STREAM_FRAMES] = frame;
    stream->bytes += frame->size;
}

void stream_note(struct stream *stream, const struct told_note *note)
{
    stream->notes[stream->told++ % STREAM_NOTES] = *note;
    stream_add(stream, frame_note(stream, note));
}

struct frame *stream_begin(const struct stream *stream, uint64_t boot,
                           uint64_t seen)
{
    uint64_t kept = stream->told < STREAM_NOTES ? stream->told : STREAM_NOTES;
    size_t room = 64 + (size_t)kept * ROOM_OF_NOTE;
    struct frame *frame = frame_new(room);
    struct text text;

    if (!frame)
        return NULL;
    text_init(&text, frame->bytes, room);
    text_add(&text, "retry: %d\n\n", RETRY_MILLISECONDS);
    for (uint64_t i = stream->told - kept; i < stream->told; i++) {
        const struct told_note *note = &stream->notes[i % STREAM_NOTES];

        if (boot != stream->boot || note->number > seen)
            add_note(&text, stream->boot, note);
    }
    frame->size = text.length;
    return frame;
}

struct frame *stream_take(struct stream *stream, uint64_t number, bool *lost)
{
    struct frame *frame;

    *lost = number < stream->first;
    if (*lost || number >= stream->next)
        return NULL;
    frame = stream->frames[number % STREAM_FRAMES];
    frame->readers++;
    return frame;
}
