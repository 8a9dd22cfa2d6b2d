#include "collectives/work.h"

#include <string.h>

#include "codec/codec.h"

/* Tiles of values are widened, folded, and narrowed again, so that an
 * operation is written three times and not once per type of scalar. */
enum { TILE = CODEC_GRAIN };

enum width { WIDE_SIGNED, WIDE_UNSIGNED, WIDE_DOUBLE, WIDTHS };

union wide {
    int64_t i[TILE];
    uint64_t u[TILE];
    double d[TILE];
};

/* load_X: `count` scalars of type X, of any alignment, as wide ones; store_X:
 * back, wrapping or rounding. */
#define SCALAR(name, type, member, as)                                         \
    static void load_##name(const unsigned char *from, size_t count,           \
                            union wide *into)                                  \
    {                                                                          \
        type value;                                                            \
                                                                               \
        for (size_t i = 0; i < count; i++) {                                   \
            memcpy(&value, from + i * sizeof value, sizeof value);             \
            into->member[i] = (as)value;                                       \
        }                                                                      \
    }                                                                          \
    static void store_##name(const union wide *from, size_t count,             \
                             unsigned char *into)                              \
    {                                                                          \
        type value;                                                            \
                                                                               \
        for (size_t i = 0; i < count; i++) {                                   \
            value = (type)from->member[i];                                     \
            memcpy(into + i * sizeof value, &value, sizeof value);             \
        }                                                                      \
    }

SCALAR(i8, int8_t, i, int64_t)
SCALAR(u8, uint8_t, u, uint64_t)
SCALAR(i32, int32_t, i, int64_t)
SCALAR(u32, uint32_t, u, uint64_t)
SCALAR(i64, int64_t, i, int64_t)
SCALAR(u64, uint64_t, u, uint64_t)
SCALAR(f32, float, d, double)
SCALAR(f64, double, d, double)

static const struct scalar_row {
    unsigned bytes;
    enum width width;
    void (*load)(const unsigned char *from, size_t count, union wide *into);
    void (*store)(const union wide *from, size_t count, unsigned char *into);
} scalars[SCALAR_COUNT] = {
    [SCALAR_I8] = {1, WIDE_SIGNED, load_i8, store_i8},
    [SCALAR_U8] = {1, WIDE_UNSIGNED, load_u8, store_u8},
    [SCALAR_I32] = {4, WIDE_SIGNED, load_i32, store_i32},
    [SCALAR_U32] = {4, WIDE_UNSIGNED, load_u32, store_u32},
    [SCALAR_I64] = {8, WIDE_SIGNED, load_i64, store_i64},
    [SCALAR_U64] = {8, WIDE_UNSIGNED, load_u64, store_u64},
    [SCALAR_F32] = {4, WIDE_DOUBLE, load_f32, store_f32},
    [SCALAR_F64] = {8, WIDE_DOUBLE, load_f64, store_f64},
};

/* fold_X: into[i] = into[i] and one[i], folded. */
#define FOLD(name, member, expression)                                         \
    static void fold_##name(const union wide *one, size_t count,               \
                            union wide *into)                                  \
    {                                                                          \
        for (size_t i = 0; i < count; i++)                                     \
            into->member[i] = (expression);                                    \
    }

FOLD(sum_integer, u, into->u[i] + one->u[i])
FOLD(bitor, u, into->u[i] | one->u[i])
FOLD(max_signed, i, one->i[i] > into->i[i] ? one->i[i] : into->i[i])
FOLD(min_signed, i, one->i[i] < into->i[i] ? one->i[i] : into->i[i])
FOLD(max_unsigned, u, one->u[i] > into->u[i] ? one->u[i] : into->u[i])
FOLD(min_unsigned, u, one->u[i] < into->u[i] ? one->u[i] : into->u[i])
FOLD(sum_double, d, into->d[i] + one->d[i])
FOLD(max_double, d, one->d[i] > into->d[i] ? one->d[i] : into->d[i])
FOLD(min_double, d, one->d[i] < into->d[i] ? one->d[i] : into->d[i])

static void (*const folds[REDUCTION_COUNT][WIDTHS])(const union wide *one,
                                                    size_t count,
                                                    union wide *into) = {
    [REDUCTION_SUM] = {fold_sum_integer, fold_sum_integer, fold_sum_double},
    [REDUCTION_MEAN] = {NULL, NULL, fold_sum_double},
    [REDUCTION_MAX] = {fold_max_signed, fold_max_unsigned, fold_max_double},
    [REDUCTION_MIN] = {fold_min_signed, fold_min_unsigned, fold_min_double},
    [REDUCTION_BITOR] = {fold_bitor, fold_bitor, NULL},
};

unsigned scalar_bytes(enum scalar scalar)
{
    return scalars[scalar].bytes;
}

bool reduction_fits(enum reduction reduction, enum scalar scalar)
{
    return folds[reduction][scalars[scalar].width] != NULL;
}

/* Reduces elements [first, first + count) of all inputs. */
static void reduce_tile(struct job *job, enum scalar scalar,
                        enum reduction reduction, size_t first, size_t count)
{
    const struct scalar_row *row = &scalars[scalar];
    size_t offset = first * row->bytes;
    union wide sum, one;

    row->load(job->in[0].blob->bytes + offset, count, &sum);
    for (unsigned i = 1; i < job->inputs; i++) {
        row->load(job->in[i].blob->bytes + offset, count, &one);
        folds[reduction][row->width](&one, count, &sum);
    }
    if (reduction == REDUCTION_MEAN)
        for (size_t i = 0; i < count; i++)
            sum.d[i] /= (double)job->inputs;
    row->store(&sum, count, job->out[0]->bytes + offset);
}

void reduce_inputs(struct job *job, enum scalar scalar,
                   enum reduction reduction)
{
    size_t bytes = job->in[0].blob->size;
    size_t elements = bytes / scalars[scalar].bytes;

    for (unsigned i = 0; i < job->inputs; i++)
        if (job->in[i].blob->size != bytes ||
            bytes % scalars[scalar].bytes != 0)
            job->status = STATUS_MALFORMED;
    if (job->status == STATUS_OK)
        job->out[0] = blob_new(job->pool, bytes);
    if (job->status == STATUS_OK && !job->out[0])
        job->status = STATUS_NO_MEMORY;
    if (job->status != STATUS_OK)
        return;
    for (size_t first = 0; first < elements; first += TILE) {
        size_t left = elements - first;

        reduce_tile(job, scalar, reduction, first, left < TILE ? left : TILE);
    }
    blob_seal(job->out[0]);
}

void check_input(struct job *job, uint64_t checksum)
{
    struct blob *payload = job->in[0].blob;

    if (!payload->checksum)
        blob_seal(payload);
    if (payload->checksum != checksum)
        job->status = STATUS_MALFORMED;
}

void seal_input(struct job *job)
{
    blob_seal(job->in[0].blob);
}

void copy_input(struct job *job)
{
    const struct blob *from = job->in[0].blob;

    job->out[0] = blob_need(job->pool, from->size);
    memcpy(job->out[0]->bytes, from->bytes, from->size);
    blob_seal(job->out[0]);
}
