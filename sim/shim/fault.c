#include "sim/shim/fault.h"

#include <stdlib.h>
#include <string.h>

#include "core/prng.h"

enum {
    GREETING_BYTES = 64,
    MECHANISM_AT = 12, /* in the greeting: 20 bytes, with zeros behind */
    FLAG_MORE = 1,
    FLAG_LONG = 2,
    FLAG_COMMAND = 4
};
static const double mebibyte = 1 << 20;

/* Bytes that are put in behind and taken in front. */
struct store {
    unsigned char *at;
    size_t begin, end, room;
};

struct shim_fault {
    const struct shim_faults *faults;
    struct shim_fault_figures *figures;
    bool bulk, broken, ended, blind;
    struct prng prng;
    unsigned char greeting[GREETING_BYTES];
    size_t greeted;
    struct store in;   /* since the last whole message */
    struct store held; /* the message that lets another go first, if any */
    struct store out;
    nanos until;   /* it stands still; or 0 */
    nanos release; /* of what is held */
};

/* ---- stores ---- */

static bool store_add(struct store *store, const void *bytes, size_t size)
{
    size_t used = store->end - store->begin;

    if (!size)
        return true;
    if (store->room - store->end < size) {
        size_t room = 2 * (used + size);
        unsigned char *at = malloc(room);

        if (!at)
            return false;
        if (used)
            memcpy(at, store->at + store->begin, used);
        free(store->at);
        store->at = at;
        store->begin = 0;
        store->end = used;
        store->room = room;
    }
    memcpy(store->at + store->end, bytes, size);
    store->end += size;
    return true;
}

static void store_take(struct store *store, size_t size)
{
    store->begin += size;
    if (store->begin == store->end)
        store->begin = store->end = 0;
}

static size_t store_size(const struct store *store)
{
    return store->end - store->begin;
}

/* ---- messages ---- */

struct frame {
    size_t head, body; /* bytes */
    unsigned flags;
};

/* Reads the head of a frame; false: not all of the frame is there. */
static bool read_frame(const unsigned char *bytes, size_t size,
                       struct frame *out)
{
    uint64_t body = 0;

    if (size < 2)
        return false;
    out->flags = bytes[0];
    out->head = out->flags & FLAG_LONG ? 9 : 2;
    if (size < out->head)
        return false;
    for (size_t i = 1; i < out->head; i++)
        body = body << 8 | bytes[i];
    out->body = (size_t)body;
    return body <= size - out->head;
}

/* A message: its bytes, and where its last frame's body begins. A command is
 * one, too. */
struct message {
    size_t size, body;
    bool command;
};

static bool read_message(const struct store *in, struct message *out)
{
    struct frame frame = {.flags = FLAG_MORE};

    *out = (struct message){0};
    while (frame.flags & FLAG_MORE) {
        if (!read_frame(in->at + in->begin + out->size,
                        store_size(in) - out->size, &frame))
            return false;
        out->body = out->size + frame.head;
        out->size = out->body + frame.body;
        out->command = (frame.flags & FLAG_COMMAND) != 0;
    }
    return true;
}

/* ---- faults ---- */

static bool happens(struct shim_fault *fault, double probability,
                    uint64_t *figure)
{
    bool does = prng_unit(&fault->prng) < probability;

    *figure += does;
    return does;
}

static void flip(struct shim_fault *fault, unsigned char *bytes, size_t size)
{
    uint64_t bit;

    if (!size || !happens(fault, fault->faults->flip * (double)size / mebibyte,
                          &fault->figures->flips))
        return;
    bit = prng_below(&fault->prng, 8 * (uint64_t)size);
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
}

static bool let_go(struct shim_fault *fault)
{
    size_t size = store_size(&fault->held);
    bool done = !size || store_add(&fault->out, fault->held.at, size);

    store_take(&fault->held, size);
    return done;
}

/* A whole message is on its way. */
static bool pass(struct shim_fault *fault, nanos now, unsigned char *bytes,
                 const struct message *message)
{
    const struct shim_faults *faults = fault->faults;
    struct shim_fault_figures *figures = fault->figures;
    size_t size = message->size;

    if (fault->bulk)
        flip(fault, bytes + message->body, size - message->body);
    if (happens(fault, faults->cut, &figures->cuts)) {
        fault->broken = true;
        return store_add(&fault->out, bytes,
                         (size_t)prng_below(&fault->prng, size));
    }
    if (happens(fault, faults->stall, &figures->stalls))
        fault->until = now + SHIM_STALL;
    if (!fault->bulk)
        return store_add(&fault->out, bytes, size);
    if (!store_size(&fault->held) &&
        happens(fault, faults->swap, &figures->swaps)) {
        fault->release = now + SHIM_SWAP;
        return store_add(&fault->held, bytes, size);
    }
    if (happens(fault, faults->duplicate, &figures->duplicates) &&
        !store_add(&fault->out, bytes, size))
        return false;
    return store_add(&fault->out, bytes, size) && let_go(fault);
}

static bool pass_all(struct shim_fault *fault, nanos now)
{
    struct message message;
    bool done = true;

    while (done && !fault->broken && store_size(&fault->in) &&
           read_message(&fault->in, &message)) {
        unsigned char *bytes = fault->in.at + fault->in.begin;

        if (message.command)
            done = store_add(&fault->out, bytes, message.size);
        else
            done = pass(fault, now, bytes, &message);
        store_take(&fault->in, message.size);
    }
    return done;
}

/* The greeting goes on as it comes: the sides answer parts of it. Returns the
 * bytes that belong to it. */
static size_t greet(struct shim_fault *fault, const unsigned char *bytes,
                    size_t size)
{
    size_t more = GREETING_BYTES - fault->greeted;

    more = more < size ? more : size;
    memcpy(fault->greeting + fault->greeted, bytes, more);
    fault->greeted += more;
    fault->blind =
        fault->greeted == GREETING_BYTES &&
        memcmp(fault->greeting + MECHANISM_AT, "NULL", sizeof "NULL") != 0;
    return store_add(&fault->out, bytes, more) ? more : 0;
}

/* ---- from outside ---- */

bool shim_faults_any(const struct shim_faults *faults)
{
    return faults->flip > 0 || faults->cut > 0 || faults->duplicate > 0 ||
           faults->swap > 0 || faults->stall > 0;
}

struct shim_fault *shim_fault_new(const struct shim_faults *faults, bool bulk,
                                  uint64_t seed,
                                  struct shim_fault_figures *figures)
{
    struct shim_fault *fault = calloc(1, sizeof *fault);

    if (!fault)
        return NULL;
    fault->faults = faults;
    fault->figures = figures;
    fault->bulk = bulk;
    prng_seed(&fault->prng, seed);
    return fault;
}

void shim_fault_destroy(struct shim_fault **reference)
{
    struct shim_fault *fault = *reference;

    *reference = NULL;
    if (!fault)
        return;
    free(fault->in.at);
    free(fault->held.at);
    free(fault->out.at);
    free(fault);
}

bool shim_fault_put(struct shim_fault *fault, nanos now, const void *bytes,
                    size_t size)
{
    const unsigned char *next = bytes;
    size_t greeting = 0;

    if (fault->broken)
        return true;
    if (fault->greeted < GREETING_BYTES) {
        greeting = greet(fault, next, size);
        if (!greeting)
            return false;
    }
    if (!store_add(fault->blind ? &fault->out : &fault->in, next + greeting,
                   size - greeting))
        return false;
    if (!fault->blind)
        return pass_all(fault, now);
    flip(fault, fault->out.at + fault->out.end - (size - greeting),
         size - greeting);
    return true;
}

void shim_fault_end(struct shim_fault *fault)
{
    fault->ended = true;
}

size_t shim_fault_ready(struct shim_fault *fault, nanos now, const void **bytes)
{
    if (now < fault->until)
        return 0;
    fault->until = 0;
    if (store_size(&fault->held) && (fault->ended || now >= fault->release) &&
        !let_go(fault))
        fault->broken = true;
    *bytes = fault->out.at + fault->out.begin;
    return store_size(&fault->out);
}

void shim_fault_consume(struct shim_fault *fault, size_t size)
{
    store_take(&fault->out, size);
}

bool shim_fault_broken(const struct shim_fault *fault)
{
    return fault->broken;
}

bool shim_fault_blind(const struct shim_fault *fault)
{
    return fault->blind;
}

nanos shim_fault_next(const struct shim_fault *fault)
{
    nanos next = NEVER;

    if (store_size(&fault->held))
        next = fault->release;
    if (fault->until &&
        (store_size(&fault->out) || store_size(&fault->held) || fault->broken))
        next = fault->until > next || next == NEVER ? fault->until : next;
    return next;
}
