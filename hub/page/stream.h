/* What all who follow the hub are sent: server-sent events, each made once.
 *
 * An event is kept until STREAM_FRAMES later ones have come, or STREAM_BYTES of
 * them; who lags further behind has lost the thread, and is cut off. Each is
 * text that may be sent as it is. A log of the last notes is kept beside it for
 * those who come back and say which one they had (Last-Event-ID). One thread.
 */
#ifndef HUB_PAGE_STREAM_H
#define HUB_PAGE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"
#include "hub/page/feed.h"

enum { STREAM_FRAMES = 64, STREAM_BYTES = 4 << 20, STREAM_NOTES = 300 };

/* An event; freed once nobody reads it. */
struct frame {
    unsigned readers; /* and 1 for the stream, as long as it has it */
    size_t size;
    char bytes[];
};

struct stream {
    uint64_t boot; /* of this server: what its events' ids begin with */
    struct frame *frames[STREAM_FRAMES];
    uint64_t next, first; /* numbers of frames: the next one, the oldest kept */
    size_t bytes;
    struct told_note notes[STREAM_NOTES];
    uint64_t told; /* notes, in all */
};

void stream_init(struct stream *stream, uint64_t boot);
void stream_free(struct stream *stream);

/* Takes the event over; NULL does nothing. */
void stream_add(struct stream *stream, struct frame *frame);
/* An event of this name with the data of one line, or a comment; NULL: no
 * memory. */
struct frame *frame_of(const char *event, const char *data, size_t size);
struct frame *frame_ping(void);
/* The same of a note, whose id is BOOT-NUMBER. */
struct frame *frame_note(const struct stream *stream,
                         const struct told_note *note);
void frame_leave(struct frame *frame);

/* Keeps the note, and adds its event. */
void stream_note(struct stream *stream, const struct told_note *note);

/* What a reader is sent first: `retry`, and the notes after the one that it has
 * seen, if that was of this server; else all that are kept. NULL: no memory. */
struct frame *stream_begin(const struct stream *stream, uint64_t boot,
                           uint64_t seen);
/* The frame of this number, for one more reader. NULL: there is none yet, or,
 * *lost, no more. */
struct frame *stream_take(struct stream *stream, uint64_t number, bool *lost);

/* A note as an object of JSON. */
void note_write(const struct told_note *note, struct text *out);

#endif
