#include "train/attention.h"

#include "train/lanes.h"
#include "train/matrix.h"

enum { QUERY, KEY, VALUE, KINDS };

size_t attention_stride(size_t length)
{
    return (length + LANES - 1) / LANES * LANES;
}

/* One head of one sequence: where it begins. */
struct head {
    size_t qkv, out;
    float *p;
};

static struct head head_of(const struct attention *a, size_t i)
{
    size_t sequence = i / a->heads, column = i % a->heads * a->width;
    size_t row = a->heads * a->width, first = sequence * a->length * row;

    return (struct head){KINDS * first + column, first + column,
                         a->p + i * a->length * attention_stride(a->length)};
}

/* Queries, keys or values of a head. */
static struct matrix part_of(const struct attention *a, struct head head,
                             size_t kind)
{
    size_t row = a->heads * a->width;

    return matrix_part(a->qkv + head.qkv + kind * row, a->length, a->width,
                       KINDS * row);
}

static struct matrix square_of(const struct attention *a, const float *p)
{
    return matrix_part(p, a->length, a->length, attention_stride(a->length));
}

/* `count` is a multiple of LANES. */
CPU_INLINE float largest_of(const float *x, size_t count)
{
    float lane[LANES];

    memcpy(lane, x, sizeof lane);
    for (size_t i = LANES; i < count; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] = lanes_larger(x[i + j], lane[j]);
    for (size_t j = 1; j < LANES; j++)
        lane[0] = lanes_larger(lane[j], lane[0]);
    return lane[0];
}

/* Replaces the first `count` of a row by softmax(scale x), the rest by 0. */
CPU_INLINE void soften(float *row, size_t count, size_t stride, float scale)
{
    size_t padded = attention_stride(count);
    float largest, lane[LANES] = {0};

    for (size_t i = count; i < padded; i++)
        row[i] = row[0];
    largest = largest_of(row, padded);
    for (size_t i = 0; i < padded; i++)
        row[i] = lanes_exp(scale * (row[i] - largest));
    memset(row + count, 0, (stride - count) * sizeof *row);
    for (size_t i = 0; i < padded; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += row[i + j];
    scale = 1 / lanes_sum(lane);
    for (size_t i = 0; i < padded; i++)
        row[i] *= scale;
}

CPU_INLINE void soften_loop(float *p, size_t length, size_t stride, float scale)
{
    for (size_t t = 0; t < length; t++)
        soften(p + t * stride, t + 1, stride, scale);
}

CPU_FAST(soften, (float *p, size_t length, size_t stride, float scale),
         (p, length, stride, scale))

void attention_forward(const struct attention *a, float *out)
{
    size_t stride = attention_stride(a->length), row = a->heads * a->width;
    float scale = 1 / sqrtf((float)a->width);

    for (size_t i = 0; i < a->sequences * a->heads; i++) {
        struct head head = head_of(a, i);

        matrix_multiply(part_of(a, head, QUERY),
                        matrix_transposed(part_of(a, head, KEY)), 1, 0, head.p,
                        stride);
        soften_fast(head.p, a->length, stride, scale);
        matrix_multiply(square_of(a, head.p), part_of(a, head, VALUE), 1, 0,
                        out + head.out, row);
    }
}

/* Turns the first `count` of a row of p, given the derivative by them, into the
 * derivative by what the softmax was of, times scale. */
CPU_INLINE void harden(float *restrict p, const float *restrict dp,
                       size_t count, float scale)
{
    size_t padded = attention_stride(count);
    float lane[LANES] = {0}, sum;

    for (size_t i = 0; i < padded; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += p[i + j] * dp[i + j];
    sum = lanes_sum(lane);
    for (size_t i = 0; i < padded; i++)
        p[i] *= scale * (dp[i] - sum);
}

CPU_INLINE void harden_loop(float *p, const float *dp, size_t length,
                            size_t stride, float scale)
{
    for (size_t t = 0; t < length; t++)
        harden(p + t * stride, dp + t * stride, t + 1, scale);
}

CPU_FAST(harden,
         (float *p, const float *dp, size_t length, size_t stride, float scale),
         (p, dp, length, stride, scale))

void attention_backward(const struct attention *a, const float *dout,
                        float *dqkv)
{
    size_t stride = attention_stride(a->length), row = a->heads * a->width;
    float scale = 1 / sqrtf((float)a->width);

    for (size_t i = 0; i < a->sequences * a->heads; i++) {
        struct head head = head_of(a, i);
        struct matrix p = square_of(a, head.p);
        struct matrix by_out =
            matrix_part(dout + head.out, a->length, a->width, row);
        float *to = dqkv + head.qkv;

        matrix_multiply(matrix_transposed(p), by_out, 1, 0, to + VALUE * row,
                        KINDS * row);
        matrix_multiply(by_out, matrix_transposed(part_of(a, head, VALUE)), 1,
                        0, a->scratch, stride);
        harden_fast(head.p, a->scratch, a->length, stride, scale);
        matrix_multiply(p, part_of(a, head, KEY), 1, 0, to, KINDS * row);
        matrix_multiply(matrix_transposed(p), part_of(a, head, QUERY), 1, 0,
                        to + KEY * row, KINDS * row);
    }
}
