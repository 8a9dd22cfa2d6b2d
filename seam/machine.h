/* The seam: hub and node are machines, drivers own time and the network.
 *
 * A machine takes one event and gives effects back; it does no I/O, reads no
 * clock and has no hidden randomness. net/ drives machines over ZeroMQ, sim/
 * over a virtual star, tests by hand. A step never touches a payload: work on
 * payloads is a job, a pure function on blobs that the driver runs where it
 * likes and hands back with EVENT_DONE. */
#ifndef SEAM_MACHINE_H
#define SEAM_MACHINE_H

#include <stdint.h>

#include "codec/payload.h"
#include "core/blob.h"
#include "core/status.h"
#include "core/time.h"

/* A connection, not a node: a node has one on each channel. The driver gives
 * the numbers and never uses one twice. A node's machine knows three. */
typedef uint64_t peer_id;
enum { PEER_NONE = 0, PEER_TRAINER = 1, PEER_CONTROL = 2, PEER_BULK = 3 };

enum event_kind {
    EVENT_JOIN,    /* a connection is there: peer, channel */
    EVENT_LEAVE,   /* it is gone: peer */
    EVENT_MESSAGE, /* from peer: msg, payload (or NULL) */
    EVENT_WAKE,    /* the deadline has come */
    EVENT_DONE,    /* job has run */
    EVENT_KINDS
};

struct job;

/* Whose a connection is: a hash of the key that it has proved to hold. */
enum { KEY_NONE = 0, KEY_ENROLS = 1 }; /* no keys; one that may only enrol */

struct event {
    nanos now;
    enum event_kind kind;
    peer_id peer;
    enum channel channel;
    uint64_t key;          /* of a JOIN at a hub */
    const struct msg *msg; /* borrowed for the step */
    struct blob *payload;  /* borrowed: reference it to keep it */
    struct job *job;       /* borrowed: the driver destroys it afterwards */
};

/* A kind of work: a const row beside its functions. */
struct work {
    const char *name;
    void (*run)(struct job *job); /* pure on the job; any thread */
    /* Tells the machine that began the job what came of it, within the step of
     * its EVENT_DONE. NULL: that machine asks for the work by its address. */
    void (*done)(void *machine, struct job *job);
};

struct input {
    struct blob *blob;
    double weight;
    enum codec_id codec;
};

enum { JOB_OUTPUTS = 3, JOB_NUMBERS = 6, JOB_TAGS = 4 };

/* One piece of work. `run` reads in[] and numbers, and sets out[], numbers and
 * status; it allocates from `pool`. The rest is for the machine.
 *
 * A kind of work with values of its own is a struct that begins with the job,
 * and has no need of number[] and tag[]:
 *
 *     struct segment_check {
 *         struct job job;
 *         uint64_t checksum;
 *     };
 *     struct segment_check *check = job_make(&row, sizeof *check, pool, 1);
 *
 * `run` and `done` get &check->job, and cast it back. */
struct job {
    const struct work *work;
    uint64_t id;
    struct pool *pool;
    const void *context;  /* outlives the job; what kind is the work's matter */
    struct extent extent; /* the chunk or vector; its `exempt` is borrowed */
    enum status status;
    double number[JOB_NUMBERS];
    struct blob *out[JOB_OUTPUTS];
    uint64_t tag[JOB_TAGS]; /* the machine's own notes */
    unsigned plain;  /* 1 + the input that job_add_up takes statistics from, as
                        they are; 0: they are added up, too */
    bool adds_means; /* but those that are averaged are all the same */
    unsigned inputs;
    struct input *in; /* behind the struct that the job is the head of */
};

/* A job of a struct that is `size` bytes long and begins with a struct job,
 * all zero but for what is said here, with room for `inputs` blobs. */
void *job_make(const struct work *work, size_t size, struct pool *pool,
               unsigned inputs);
/* One that has nothing beyond a struct job. */
struct job *job_new(const struct work *work, struct pool *pool,
                    unsigned inputs);
/* Releases its blobs too. */
void job_destroy(struct job **job);
void job_run(struct job *job);
/* into[i] = sum over in[from..to) of weight * decoded value first + i, in
 * double and in the order of the inputs: the same on every machine. `first` is
 * a multiple of job_tile(), `count` at most that. */
void job_sum(const struct job *job, unsigned from, unsigned to, size_t first,
             size_t count, double *into);
/* How many elements to go through at a time: a multiple of FLOATS_TILE that
 * all the codecs of the inputs can be cut at, at most CODEC_GRAIN. */
size_t job_tile(const struct job *job);
/* out[out] = the sum of in[from..to), rounded; returns its squared norm without
 * statistics, which is not finite when some value, theirs too, is not. `seals`
 * it in passing. NO_MEMORY. */
double job_add_up(struct job *job, unsigned from, unsigned to, unsigned out,
                  bool seals);
/* Whether that is what job_add_up makes of all inputs, to the last bit. Stops
 * at the first tile that differs. */
bool job_adds_up_to(const struct job *job, const struct blob *sum);
/* What a payload that the job has made counts for on a link. */
void job_weigh(const struct job *job, struct blob *blob, enum codec_id codec);
/* Squared norm of a payload that a node is moved by, at most: of numbers up to
 * 1e30, so that the trainer's parameters stay finite. What a hub takes is a
 * hundredth of that, so that the difference of two is not beyond it. */
#define MOST_SQUARES 1e60
#define MOST_SQUARES_TAKEN (MOST_SQUARES / 1e4)
/* Of elements [first, first + count): statistics become 0, but for what is not
 * finite. For norms, which do not count them. */
void job_mask(const struct job *job, size_t first, size_t count,
              double *values);
/* The squared norm of input `i`, as job_add_up takes it; sets the checksum of
 * its blob in passing, if nobody has yet. */
double job_measure(const struct job *job, unsigned i);

enum level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR };

/* "warning", and "WARNING" for lines that people read. */
const char *level_name(enum level level);
const char *level_capitals(enum level level);

enum note_kind {
#define NOTE(NAME, LEVEL, name) NOTE_##NAME,
#include "seam/notes.def"
#undef NOTE
    NOTE_KINDS
};

const char *note_name(enum note_kind note);
enum level note_level(enum note_kind note);

enum effect_kind {
    EFFECT_SEND, /* msg and payload to peer */
    EFFECT_DROP, /* cut the connection peer */
    EFFECT_JOB,  /* run job, then EVENT_DONE */
    EFFECT_NOTE, /* tell people */
    EFFECT_KINDS
};

enum { SUBJECT_BYTES = 40, NOTE_BYTES = 200, ADDRESS_BYTES = 64 };

struct note {
    enum note_kind kind;
    char address[ADDRESS_BYTES]; /* of whose word, coming or going led to it, as
                                    a driver may know; or empty */
    char subject[SUBJECT_BYTES]; /* a node's name, or empty */
    char text[NOTE_BYTES];
};

struct effect {
    enum effect_kind kind;
    peer_id peer;
    struct blob *payload; /* a reference that the list owns */
    struct job *job;      /* the driver's, once taken */
    union {
        struct msg msg;
        struct note note;
    };
};

/* The effects of a step, in order. Zeroed at first; reused between steps. */
struct effects {
    struct effect *list;
    unsigned count, capacity;
};

/* References `payload` (or NULL). */
void effects_send(struct effects *out, peer_id peer, const struct msg *msg,
                  struct blob *payload);
void effects_drop(struct effects *out, peer_id peer);
/* Takes the job over. */
void effects_job(struct effects *out, struct job *job);
void effects_note(struct effects *out, enum note_kind note, const char *subject,
                  const char *format, ...) FORMAT(4, 5);
/* Empties the list: releases payloads, and jobs that nobody took. */
void effects_clear(struct effects *out);
void effects_free(struct effects *out);

struct machine {
    void *self;
    const char *name;
    /* Takes one event; appends to `out`. */
    void (*step)(void *self, const struct event *event, struct effects *out);
    /* When it wants EVENT_WAKE at the latest; NEVER: not at all. */
    nanos (*deadline)(const void *self);
};

#endif
