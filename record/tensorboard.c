#include "record/tensorboard.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/quote.h"
#include "core/text.h"

#define FIRST_INTERVAL SECOND
enum { PARTS = 1000 /* of the run's time: an interval */ };
enum { TAG_BYTES = 96, EVENT_BYTES = 192 };

struct tensorboard {
    struct spool *spool;
    nanos wall;    /* when it was opened */
    nanos next;    /* elapsed when points are due */
    uint64_t step; /* the nodes' iteration, as far as they have got */
};

/* ---- records ---- */

uint32_t tensorboard_crc(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint32_t crc = ~0u;

    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

/* So that a CRC of data that hold CRCs is not one of zeros. */
static uint32_t masked(const void *bytes, size_t size)
{
    uint32_t crc = tensorboard_crc(bytes, size);

    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static size_t put_fixed(unsigned char *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> 8 * i);
    return bytes;
}

static void put_record(struct spool *spool, const unsigned char *data,
                       size_t size)
{
    unsigned char length[8], check[4];

    (void)put_fixed(length, size, sizeof length);
    spool_write(spool, length, sizeof length);
    (void)put_fixed(check, masked(length, sizeof length), sizeof check);
    spool_write(spool, check, sizeof check);
    spool_write(spool, data, size);
    (void)put_fixed(check, masked(data, size), sizeof check);
    spool_write(spool, check, sizeof check);
}

/* ---- protocol buffers ---- */

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
/* Of Event, Summary and Summary.Value in TensorFlow's event.proto. */
enum field {
    WALL_TIME = 1,
    STEP = 2,
    FILE_VERSION = 3,
    SUMMARY = 5,
    VALUE = 1,
    TAG = 1,
    SIMPLE_VALUE = 2
};

static size_t put_varint(unsigned char *out, uint64_t value)
{
    size_t size = 0;

    for (; value > 127; value >>= 7)
        out[size++] = (unsigned char)(value & 127) | 128;
    out[size++] = (unsigned char)value;
    return size;
}

static size_t put_key(unsigned char *out, enum field field, enum wire wire)
{
    return put_varint(out, (uint64_t)field << 3 | (uint64_t)wire);
}

static size_t put_bytes(unsigned char *out, enum field field, const void *bytes,
                        size_t size)
{
    size_t at = put_key(out, field, BYTES);

    at += put_varint(out + at, size);
    memcpy(out + at, bytes, size);
    return at + size;
}

static size_t put_time(unsigned char *out, nanos wall)
{
    double seconds = (double)wall / (double)SECOND;
    uint64_t bits;
    size_t at = put_key(out, WALL_TIME, FIXED64);

    memcpy(&bits, &seconds, sizeof bits);
    return at + put_fixed(out + at, bits, sizeof bits);
}

static size_t put_scalar(unsigned char *out, const char *tag, double value)
{
    unsigned char scalar[TAG_BYTES + 16], summary[TAG_BYTES + 24];
    float single = (float)value;
    uint32_t bits;
    size_t size = put_bytes(scalar, TAG, tag, strlen(tag));

    memcpy(&bits, &single, sizeof bits);
    size += put_key(scalar + size, SIMPLE_VALUE, FIXED32);
    size += put_fixed(scalar + size, bits, sizeof bits);
    size = put_bytes(summary, VALUE, scalar, size);
    return put_bytes(out, SUMMARY, summary, size);
}

/* ---- what is told ---- */

struct point {
    struct tensorboard *board;
    nanos wall;
    uint64_t step;
};

static void tell(const struct point *point, const char *group, const char *name,
                 double value)
{
    unsigned char event[EVENT_BYTES];
    char tag[TAG_BYTES];
    size_t size = put_time(event, point->wall);
    struct text words;

    if (!isfinite((float)value))
        return;
    text_init(&words, tag, sizeof tag);
    text_add(&words, "%s/", group);
    quote_visible(&words, name);
    size += put_key(event + size, STEP, VARINT);
    size += put_varint(event + size, point->step);
    size += put_scalar(event + size, tag, value);
    put_record(point->board->spool, event, size);
}

static void tell_node(struct point point, const struct hub_node_view *node)
{
    if (node->gone || node->silent)
        return;
    point.step = node->moved.steps;
    tell(&point, "loss", node->name, node->loss);
    if (node->accuracy >= 0)
        tell(&point, "accuracy", node->name, node->accuracy);
    tell(&point, "staleness", node->name, (double)node->lag);
    tell(&point, "iterations a second", node->name, node->rate);
}

/* The most iterations that a node has done. */
static uint64_t step_of(const struct hub_view *view, uint64_t step)
{
    for (unsigned i = 0; i < view->count; i++)
        if (view->nodes[i].moved.steps > step)
            step = view->nodes[i].moved.steps;
    return step;
}

static void tell_all(struct point point, const struct hub_view *view)
{
    point.step = point.board->step;
    tell(&point, "loss", "centre", view->score);
    if (view->accuracy >= 0)
        tell(&point, "accuracy", "centre", view->accuracy);
    tell(&point, "rounds", "version", (double)view->version);
    tell(&point, "rounds", "every", (double)view->every);
    tell(&point, "rounds", "delay", (double)view->delay);
    for (unsigned i = 0; i < view->count; i++)
        tell_node(point, &view->nodes[i]);
    spool_step(point.board->spool);
}

void tensorboard_look(struct tensorboard *board, nanos elapsed,
                      const struct hub_view *view, bool end)
{
    nanos interval = elapsed / PARTS;

    if (!board || !view->founded || (!end && elapsed < board->next))
        return;
    board->step = step_of(view, board->step);
    /* Before any node has come, or has come back and said how far it is, there
     * is no step. */
    if (!board->step && (!view->count || view->version))
        return;
    board->next =
        elapsed + (interval > FIRST_INTERVAL ? interval : FIRST_INTERVAL);
    tell_all((struct point){board, board->wall + elapsed, 0}, view);
}

/* ---- the file ---- */

static enum status make_path(const char *folder, nanos wall, char *path,
                             size_t size, struct why *why)
{
    char host[HOST_NAME_MAX + 1] = "hub";

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return because(why, STATUS_IO, "cannot make %s: %s", folder,
                       strerror(errno));
    (void)gethostname(host, sizeof host - 1);
    if ((size_t)snprintf(path, size, "%s/events.out.tfevents.%010lld.%s.%ld",
                         folder, (long long)(wall / SECOND), host,
                         (long)getpid()) >= size)
        return because(why, STATUS_IO, "the name of %s is too long", folder);
    return STATUS_OK;
}

enum status tensorboard_open(const char *folder, nanos wall,
                             struct spool_complaint complaint,
                             struct tensorboard **out, struct why *why)
{
    static const char version[] = "brain.Event:2";
    struct tensorboard *board = calloc(1, sizeof *board);
    unsigned char event[64];
    char path[PATH_MAX];
    enum status status;
    size_t size;

    if (!board)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    board->wall = wall;
    status = make_path(folder, wall, path, sizeof path, why);
    if (status == STATUS_OK)
        status = spool_open(path, complaint, &board->spool, why);
    if (status != STATUS_OK) {
        free(board);
        return status;
    }
    spool_goes_on(board->spool);
    size = put_time(event, wall);
    size += put_bytes(event + size, FILE_VERSION, version, sizeof version - 1);
    put_record(board->spool, event, size);
    spool_step(board->spool);
    *out = board;
    return STATUS_OK;
}

void tensorboard_close(struct tensorboard **board)
{
    if (!*board)
        return;
    spool_close(&(*board)->spool);
    free(*board);
    *board = NULL;
}
