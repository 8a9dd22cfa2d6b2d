#include "node/sum.h"

#include <stdlib.h>
#include <string.h>

#include "codec/payload.h"
#include "core/need.h"

/* To nothing, that is zero. */
static void sum_clear(struct sum *sum)
{
    for (unsigned i = 0; i < sum->count; i++)
        blob_unref(&sum->term[i].blob);
    sum->count = 0;
}

void sum_free(struct sum *sum)
{
    sum_clear(sum);
    free(sum->term);
    sum->term = NULL;
    sum->capacity = 0;
}

/* Adds to a term of this blob if there is one. */
static bool merge(struct sum *sum, const struct blob *blob, double weight,
                  enum codec_id codec)
{
    for (unsigned i = 0; i < sum->count; i++) {
        struct input *term = &sum->term[i];

        if (term->blob != blob || term->codec != codec)
            continue;
        term->weight += weight;
        if (term->weight == 0) {
            blob_unref(&term->blob);
            memmove(term, term + 1, (--sum->count - i) * sizeof *term);
        }
        return true;
    }
    return false;
}

void sum_add(struct sum *sum, struct blob *blob, double weight,
             enum codec_id codec)
{
    if (merge(sum, blob, weight, codec))
        return;
    if (sum->count == sum->capacity) {
        sum->capacity = sum->capacity ? 2 * sum->capacity : 2;
        sum->term = need_more(sum->term, sum->capacity * sizeof *sum->term);
    }
    sum->term[sum->count++] = (struct input){blob_ref(blob), weight, codec};
}

void sum_set(struct sum *sum, struct blob *blob)
{
    struct blob *keep = blob_ref(blob);

    sum_clear(sum);
    sum_add(sum, keep, 1, CODEC_RAW);
    blob_unref(&keep);
}

void sum_join(struct sum *to, const struct sum *from, double factor)
{
    for (unsigned i = 0; i < from->count; i++)
        sum_add(to, from->term[i].blob, factor * from->term[i].weight,
                from->term[i].codec);
}

void sum_copy(struct sum *to, const struct sum *from)
{
    sum_clear(to);
    sum_join(to, from, 1);
}

bool sums_meet(const struct sum *one, const struct sum *other)
{
    for (unsigned i = 0; i < one->count; i++)
        for (unsigned j = 0; j < other->count; j++)
            if (one->term[i].blob == other->term[j].blob &&
                one->term[i].codec == other->term[j].codec)
                return true;
    return false;
}

unsigned sum_plain(const struct sum *sum)
{
    unsigned i = sum->count;

    while (i > 0 && !(sum->term[i - 1].weight > 0))
        i--;
    return i;
}

unsigned sum_into(const struct sum *sum, double factor, struct job *job,
                  unsigned at)
{
    for (unsigned i = 0; i < sum->count; i++)
        job->in[at++] =
            (struct input){blob_ref(sum->term[i].blob),
                           factor * sum->term[i].weight, sum->term[i].codec};
    return at;
}

static void read_plain(const struct sum *sum, const struct extent *extent,
                       size_t at, size_t count, double *values)
{
    struct statistic_part part = {0};
    unsigned plain = sum_plain(sum);
    double read[CODEC_GRAIN];

    if (!plain || !extent_statistics(extent, at, count, &part))
        return;
    memset(read, 0, count * sizeof *read);
    payload_add(extent, sum->term[plain - 1].codec,
                sum->term[plain - 1].blob->bytes, at, count, 1, read);
    do
        memcpy(values + part.at, read + part.at, part.count * sizeof *read);
    while (extent_statistics(extent, at, count, &part));
}

void sum_read(const struct sum *sum, const struct extent *extent, size_t at,
              size_t count, double *values)
{
    memset(values, 0, count * sizeof *values);
    for (unsigned i = 0; i < sum->count; i++)
        payload_add(extent, sum->term[i].codec, sum->term[i].blob->bytes, at,
                    count, sum->term[i].weight, values);
    read_plain(sum, extent, at, count, values);
}

double sum_at(const struct sum *sum, const struct extent *extent, size_t at)
{
    size_t first = at - at % CODEC_GRAIN, left = extent->elements - first;
    double values[CODEC_GRAIN];

    sum_read(sum, extent, first, left < CODEC_GRAIN ? left : CODEC_GRAIN,
             values);
    return values[at - first];
}
