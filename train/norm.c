#include "train/norm.h"

#include "train/lanes.h"

/* The sum of x[i] - from. */
CPU_INLINE float sum_row(const float *x, size_t count, float from)
{
    float lane[LANES] = {0};
    size_t whole = count - count % LANES;

    for (size_t i = 0; i < whole; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += x[i + j] - from;
    for (size_t i = whole; i < count; i++)
        lane[i - whole] += x[i] - from;
    return lanes_sum(lane);
}

/* The sum of (x[i] - from)^2. */
CPU_INLINE float square_row(const float *x, size_t count, float from)
{
    float lane[LANES] = {0};
    size_t whole = count - count % LANES;

    for (size_t i = 0; i < whole; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += (x[i + j] - from) * (x[i + j] - from);
    for (size_t i = whole; i < count; i++)
        lane[i - whole] += (x[i] - from) * (x[i] - from);
    return lanes_sum(lane);
}

CPU_INLINE void forward_loop(const struct norm *norm, float *y)
{
    size_t width = norm->width;
    const float *restrict weight = norm->values;
    const float *restrict bias = weight + width;

    for (size_t r = 0; r < norm->rows; r++) {
        const float *restrict x = norm->x + r * width;
        float *restrict out = y + r * width;
        float mean = sum_row(x, width, 0) / (float)width;
        float variance = square_row(x, width, mean) / (float)width;
        float scale = 1 / sqrtf(variance + 1e-5F);

        norm->statistics[2 * r] = mean;
        norm->statistics[2 * r + 1] = scale;
        for (size_t i = 0; i < width; i++)
            out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
    }
}

CPU_FAST(forward, (const struct norm *norm, float *y), (norm, y))

void norm_forward(const struct norm *norm, float *y)
{
    forward_fast(norm, y);
}

/* What the derivatives of one row have in common. */
struct shares {
    float mean;  /* of the derivatives by the normalized x */
    float along; /* of their products with it */
};

CPU_INLINE struct shares share_row(const struct norm *norm, size_t row,
                                   const float *restrict dy)
{
    size_t width = norm->width, whole = width - width % LANES;
    const float *restrict x = norm->x + row * width;
    const float *restrict weight = norm->values;
    float mean = norm->statistics[2 * row];
    float scale = norm->statistics[2 * row + 1];
    float sum[LANES] = {0}, along[LANES] = {0};

    for (size_t i = 0; i < whole; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            float d = dy[i + j] * weight[i + j];

            sum[j] += d;
            along[j] += d * (x[i + j] - mean);
        }
    for (size_t i = whole; i < width; i++) {
        sum[i - whole] += dy[i] * weight[i];
        along[i - whole] += dy[i] * weight[i] * (x[i] - mean);
    }
    return (struct shares){lanes_sum(sum) / (float)width,
                           lanes_sum(along) * scale / (float)width};
}

CPU_INLINE void backward_loop(const struct norm *norm, const float *dy,
                              float *gradients, float *dx)
{
    size_t width = norm->width;
    const float *restrict weight = norm->values;
    float *restrict by_weight = gradients;
    float *restrict by_bias = gradients + width;

    memset(gradients, 0, 2 * width * sizeof *gradients);
    for (size_t r = 0; r < norm->rows; r++) {
        const float *restrict x = norm->x + r * width;
        const float *restrict d = dy + r * width;
        float *restrict out = dx + r * width;
        float mean = norm->statistics[2 * r];
        float scale = norm->statistics[2 * r + 1];
        struct shares shares = share_row(norm, r, d);

        for (size_t i = 0; i < width; i++) {
            float normal = (x[i] - mean) * scale;

            by_weight[i] += d[i] * normal;
            by_bias[i] += d[i];
            out[i] += scale *
                      (d[i] * weight[i] - shares.mean - normal * shares.along);
        }
    }
}

CPU_FAST(backward,
         (const struct norm *norm, const float *dy, float *gradients,
          float *dx),
         (norm, dy, gradients, dx))

void norm_backward(const struct norm *norm, const float *dy, float *gradients,
                   float *dx)
{
    backward_fast(norm, dy, gradients, dx);
}
