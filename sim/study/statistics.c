#include "sim/study/statistics.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double between(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place, above = below + (below + 1 < count);
    double part = place - (double)below;

    /* Infinities have no distance. */
    if (part <= 0 || sorted[below] == sorted[above])
        return sorted[below];
    return sorted[below] + part * (sorted[above] - sorted[below]);
}

double statistics_quantile(double *values, size_t count, double share)
{
    qsort(values, count, sizeof *values, by_size);
    return between(values, count, share);
}

struct quartiles statistics_quartiles(double *values, size_t count)
{
    double low = statistics_quantile(values, count, 0.25);

    return (struct quartiles){low, between(values, count, 0.5),
                              between(values, count, 0.75)};
}

struct mean statistics_mean(const double *values, size_t count)
{
    struct mean mean = {count ? 0 : NAN, NAN, NAN};
    double squares = 0;

    for (size_t i = 0; i < count; i++)
        mean.value += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean.value) * (values[i] - mean.value);
    if (count > 1) {
        mean.deviation = sqrt(squares / (double)(count - 1));
        mean.error = mean.deviation / sqrt((double)count);
    }
    return mean;
}

/* Of the pairs for which `beside` is finite. */
static struct pairs pair(const double *a, const double *b, size_t count,
                         double (*beside)(double a, double b))
{
    struct pairs pairs = {.count = 0};
    double *values = calloc(count + 1, sizeof *values);

    if (!values)
        abort();
    for (size_t i = 0; i < count; i++) {
        double value = beside(a[i], b[i]);

        pairs.below += a[i] < b[i];
        pairs.above += a[i] > b[i];
        if (isfinite(value))
            values[pairs.count++] = value;
    }
    pairs.mean = statistics_mean(values, pairs.count);
    free(values);
    return pairs;
}

static double difference(double a, double b)
{
    return a - b;
}

/* NAN where one of them has no logarithm. */
static double distance(double a, double b)
{
    return log(a) - log(b);
}

struct pairs statistics_differences(const double *a, const double *b,
                                    size_t count)
{
    return pair(a, b, count, difference);
}

struct pairs statistics_ratios(const double *a, const double *b, size_t count)
{
    struct pairs pairs = pair(a, b, count, distance);

    pairs.mean.value = exp(pairs.mean.value);
    pairs.mean.deviation *= pairs.mean.value;
    pairs.mean.error *= pairs.mean.value;
    return pairs;
}

static int order_of(double a, double b)
{
    return (a > b) - (a < b);
}

double statistics_kendall(const double *a, const double *b, size_t count)
{
    double alike = 0, apart_in_a = 0, apart_in_b = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            int in_a = order_of(a[i], a[j]), in_b = order_of(b[i], b[j]);

            alike += in_a * in_b;
            apart_in_a += in_a != 0;
            apart_in_b += in_b != 0;
        }
    return alike / sqrt(apart_in_a * apart_in_b);
}
