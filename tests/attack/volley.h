/* What is sent in one go: frames, one behind the other. */
#ifndef TESTS_ATTACK_VOLLEY_H
#define TESTS_ATTACK_VOLLEY_H

#include "codec/msg.h"
#include "net/zmtp/inside.h"
#include "tests/attack/attack.h"

enum { VOLLEY_BYTES = 65536, VOLLEY_FRAMES = 1024 };

struct volley {
    unsigned char bytes[VOLLEY_BYTES];
    size_t size;
    size_t begins[VOLLEY_FRAMES]; /* where each frame does */
    unsigned frames;
};

bool one_in(struct attack *attack, uint64_t many);

/* What does not fit any more is left out. */
void put(struct volley *volley, const void *bytes, size_t size);
void put_random(struct attack *attack, struct volley *volley, size_t size);
/* The head of a frame that says it has `said` bytes. */
void put_head(struct attack *attack, struct volley *volley, unsigned char flags,
              uint64_t said);
void put_frame(struct attack *attack, struct volley *volley,
               unsigned char flags, const void *bytes, size_t size);
void put_greeting(struct attack *attack, struct volley *volley);
void put_ready(struct attack *attack, struct volley *volley, const void *name,
               size_t name_bytes);
void put_handshake(struct attack *attack, struct volley *volley);
/* A message that may be one of ours, or nearly; returns its length. */
size_t some_header(struct attack *attack, unsigned char out[MSG_MAX_BYTES]);
void put_some_frame(struct attack *attack, struct volley *volley);

/* False when the other end has had enough. */
bool fire(struct attack *attack, int fd, const struct volley *volley);
/* With keys: shakes hands, more or less, and sends boxes. */
void boxes(struct attack *attack, int fd);

#endif
