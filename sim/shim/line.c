#include "sim/shim/line.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/prng.h"

static const nanos shortest_timeout = 200 * MILLISECOND;
static const nanos piece_time = 100 * MICROSECOND;

enum {
    PIECE_PACKETS = 45,  /* at most */
    SPARE_PIECES = 4096, /* for those that are not full */
    FAST_PACKETS = 3,    /* behind a lost one, that tell of it */
    TRIES = 10           /* of a packet */
};

struct piece {
    size_t bytes; /* 0: the end */
    nanos arrives;
};

/* Pieces, in a ring: first those that travel, then those that wait. Bytes, in
 * a ring: first those that have arrived, then those of the pieces. */
struct shim_line {
    const struct shim_link *link;
    bool to_hub;
    struct shim_state state; /* as last looked up */
    struct prng prng;
    char *bytes;
    size_t size, begin, arrived, travelling, waiting;
    size_t most_waiting;
    struct piece *pieces;
    size_t piece_room, first, travel_count, wait_count;
    nanos clock;   /* the link has worked so far */
    uint64_t left; /* of the first piece that waits */
    bool paused;   /* before it; or a message has ended */
    uint64_t run;  /* bytes since the jitter was drawn */
    double drawn;  /* the share of it */
    nanos lag;     /* what lost packets have cost the message */
    nanos last_arrival;
    enum shim_end end; /* as put in */
};

static const struct shim_state *state_at(struct shim_line *line, nanos now)
{
    if (now < line->state.from || now >= line->state.until)
        line->state = shim_link_at(line->link, line->to_hub, now);
    return &line->state;
}

/* ---- a line ---- */

struct shim_line *shim_line_new(const struct shim_link *link, bool to_hub,
                                uint64_t seed, nanos now)
{
    struct shim_line *line = calloc(1, sizeof *line);

    if (!line)
        return NULL;
    line->paused = true;
    line->link = link;
    line->to_hub = to_hub;
    prng_seed(&line->prng, seed);
    line->most_waiting =
        SHIM_WAITING_BYTES + shim_link_bytes(link, to_hub, SHIM_WAITING_TIME);
    line->size = line->most_waiting +
                 shim_link_bytes(link, to_hub, shim_link_length(link));
    line->piece_room = line->size / SHIM_PACKET_BYTES + SPARE_PIECES;
    line->bytes = malloc(line->size);
    line->pieces = malloc(line->piece_room * sizeof *line->pieces);
    if (!line->bytes || !line->pieces) {
        shim_line_destroy(&line);
        return NULL;
    }
    line->clock = now + shim_round_trip(state_at(line, now));
    return line;
}

void shim_line_destroy(struct shim_line **reference)
{
    struct shim_line *line = *reference;

    *reference = NULL;
    if (!line)
        return;
    free(line->bytes);
    free(line->pieces);
    free(line);
}

static struct piece *piece_at(const struct shim_line *line, size_t place)
{
    return &line->pieces[(line->first + place) % line->piece_room];
}

/* ---- on its way ---- */

/* What lost packets cost a piece; `waiting` bytes are behind it. */
static nanos loss_cost(struct shim_line *line, const struct shim_state *state,
                       size_t bytes, size_t waiting)
{
    size_t packets = (bytes + SHIM_PACKET_BYTES - 1) / SHIM_PACKET_BYTES;
    nanos most = 0;

    for (size_t i = 0; state->loss > 0 && i < packets; i++) {
        size_t behind = packets - 1 - i + waiting / SHIM_PACKET_BYTES;
        bool fast = behind >= FAST_PACKETS;
        nanos pause = shim_round_trip(state) + (fast ? 0 : shortest_timeout);
        nanos cost = 0;

        for (int k = 0; k < TRIES && prng_unit(&line->prng) < state->loss;
             k++) {
            cost += pause;
            pause = fast ? pause : 2 * pause;
        }
        most = cost > most ? cost : most;
    }
    return most;
}

/* The first piece that waits is through. */
static void send_off(struct shim_line *line, const struct shim_state *state)
{
    struct piece *piece = piece_at(line, line->travel_count);
    nanos at = line->clock + state->delay, lag;

    line->waiting -= piece->bytes;
    line->travelling += piece->bytes;
    line->wait_count--;
    line->travel_count++;
    if (line->paused || line->run >= line->link->message) {
        line->drawn = prng_unit(&line->prng);
        line->run = 0;
        line->lag = 0;
    }
    line->paused = false;
    line->run += piece->bytes;
    at += (nanos)(line->drawn * (double)state->jitter);
    lag = loss_cost(line, state, piece->bytes, line->waiting);
    line->lag = lag > line->lag ? lag : line->lag;
    at += line->lag;
    if (at < line->last_arrival)
        at = line->last_arrival;
    line->last_arrival = piece->arrives = at;
    if (line->wait_count)
        line->left = piece_at(line, line->travel_count)->bytes;
}

/* When the link will have sent so many of the bytes that wait, if nothing
 * changes. */
static nanos sent_at(const struct shim_line *line,
                     const struct shim_state *state, uint64_t bytes)
{
    double time;

    if (state->rate == 0)
        return NEVER;
    if (state->rate == SHIM_UNLIMITED)
        return line->clock;
    time = ceil((double)bytes * (double)SECOND / (double)state->rate);
    return line->clock + (nanos)time;
}

void shim_line_pass(struct shim_line *line, nanos now)
{
    while (line->wait_count) {
        const struct shim_state *state = state_at(line, line->clock);
        nanos through = sent_at(line, state, line->left);
        uint64_t sent;

        if (through > now && state->until > now)
            break;
        if (through <= state->until) {
            line->clock = through;
            send_off(line, state);
            continue;
        }
        sent =
            (uint64_t)((double)state->rate *
                       (double)(state->until - line->clock) / (double)SECOND);
        line->left -= sent < line->left ? sent : line->left;
        line->clock = state->until;
    }
    while (line->travel_count && line->pieces[line->first].arrives <= now) {
        line->arrived += line->pieces[line->first].bytes;
        line->travelling -= line->pieces[line->first].bytes;
        line->first = (line->first + 1) % line->piece_room;
        line->travel_count--;
    }
}

/* When there is room again; never sooner than one more piece is through. */
static nanos room_at(const struct shim_line *line,
                     const struct shim_state *state)
{
    size_t half = line->most_waiting / 2;

    if (line->waiting <= half)
        return NEVER;
    return sent_at(line, state,
                   line->waiting - half > line->left ? line->waiting - half
                                                     : line->left);
}

/* To be woken seldom: what is through is looked at when it arrives, and for
 * room when half of it has gone. */
nanos shim_line_next(struct shim_line *line)
{
    nanos next = NEVER;

    if (line->wait_count) {
        const struct shim_state *state = state_at(line, line->clock);

        next = time_earlier(state->until, room_at(line, state));
        if (!line->travel_count)
            next =
                time_earlier(next, time_after(sent_at(line, state, line->left),
                                              state->delay));
    }
    if (line->travel_count)
        next = time_earlier(next, line->pieces[line->first].arrives);
    return next;
}

/* ---- in and out ---- */

/* `length` bytes of the ring from `from` on. */
static unsigned parts_of(const struct shim_line *line, size_t from,
                         size_t length, struct iovec parts[2])
{
    size_t first = line->size - from % line->size;

    first = first < length ? first : length;
    parts[0] = (struct iovec){line->bytes + from % line->size, first};
    parts[1] = (struct iovec){line->bytes, length - first};
    return length == 0 ? 0 : first < length ? 2 : 1;
}

/* The most bytes of one piece that is put in now. */
static size_t piece_bytes(struct shim_line *line, nanos now)
{
    double packets = (double)state_at(line, now)->rate * (double)piece_time /
                     ((double)SECOND * SHIM_PACKET_BYTES);
    size_t most = packets < PIECE_PACKETS ? (size_t)packets : PIECE_PACKETS;

    return (most > 1 ? most : 1) * SHIM_PACKET_BYTES;
}

unsigned shim_line_room(const struct shim_line *line, struct iovec parts[2])
{
    size_t held = line->arrived + line->travelling + line->waiting;
    size_t room = line->most_waiting - line->waiting;
    /* Those that there are, and the end. */
    size_t pieces = line->travel_count + line->wait_count + 1;

    room = room < line->size - held ? room : line->size - held;
    if (line->waiting > line->most_waiting / 2 ||
        line->piece_room - pieces < room / SHIM_PACKET_BYTES + 2)
        room = 0;
    return parts_of(line, line->begin + held, room, parts);
}

/* Puts a piece behind the others. */
static void append(struct shim_line *line, nanos now, size_t bytes)
{
    assert(line->travel_count + line->wait_count < line->piece_room);
    *piece_at(line, line->travel_count + line->wait_count) =
        (struct piece){.bytes = bytes};
    if (line->wait_count++ == 0) {
        line->left = bytes;
        if (line->clock < now) {
            line->clock = now;
            line->paused = true;
        }
    }
    line->waiting += bytes;
}

/* Puts as much into the last piece as fits; it must not be the first of those
 * that wait, of which some may have been sent. Returns the bytes. */
static size_t top_up(struct shim_line *line, size_t most, size_t bytes)
{
    struct piece *last =
        piece_at(line, line->travel_count + line->wait_count - 1);
    size_t more = most > last->bytes ? most - last->bytes : 0;

    more = more < bytes ? more : bytes;
    last->bytes += more;
    line->waiting += more;
    return more;
}

void shim_line_put(struct shim_line *line, nanos now, size_t bytes)
{
    size_t most = piece_bytes(line, now);

    assert(line->end == SHIM_OPEN && bytes > 0);
    if (line->wait_count > 1)
        bytes -= top_up(line, most, bytes);
    for (; bytes > 0; bytes -= bytes < most ? bytes : most)
        append(line, now, bytes < most ? bytes : most);
    shim_line_pass(line, now);
}

void shim_line_end(struct shim_line *line, nanos now, enum shim_end how)
{
    assert(line->end == SHIM_OPEN && how != SHIM_OPEN);
    line->end = how;
    append(line, now, 0);
    shim_line_pass(line, now);
}

unsigned shim_line_arrived(const struct shim_line *line, struct iovec parts[2])
{
    return parts_of(line, line->begin, line->arrived, parts);
}

void shim_line_consume(struct shim_line *line, size_t bytes)
{
    assert(bytes <= line->arrived);
    line->begin = (line->begin + bytes) % line->size;
    line->arrived -= bytes;
}

enum shim_end shim_line_ended(const struct shim_line *line)
{
    bool empty = !line->arrived && !line->travel_count && !line->wait_count;

    return empty ? line->end : SHIM_OPEN;
}
