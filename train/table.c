#include "train/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/prng.h"

void table_free(struct table *table)
{
    if (table->memory) {
        free(table->memory);
        free(table->labels);
    }
    memset(table, 0, sizeof *table);
}

struct table table_part(const struct table *whole, size_t first, size_t count)
{
    struct table part = *whole;

    assert(first <= whole->count && count <= whole->count - first);
    if (part.bytes)
        part.bytes += first * part.features;
    if (part.floats)
        part.floats += first * part.features;
    part.labels += first;
    part.count = count;
    part.memory = NULL;
    return part;
}

static void swap_bytes(uint8_t *a, uint8_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = a[i];

        a[i] = b[i];
        b[i] = byte;
    }
}

static void swap_rows(struct table *table, size_t a, size_t b)
{
    size_t width = table->features;
    int32_t label = table->labels[a];

    if (a == b)
        return;
    table->labels[a] = table->labels[b];
    table->labels[b] = label;
    if (table->bytes)
        swap_bytes(table->bytes + a * width, table->bytes + b * width, width);
    else
        swap_bytes((uint8_t *)(table->floats + a * width),
                   (uint8_t *)(table->floats + b * width),
                   width * sizeof(float));
}

void table_shuffle(struct table *table, uint64_t seed)
{
    struct prng prng;

    prng_seed(&prng, seed);
    for (size_t left = table->count; left > 1; left--)
        swap_rows(table, left - 1, (size_t)prng_below(&prng, left));
}

void table_load(const struct table *table, size_t row, float *out)
{
    size_t width = table->features;
    const uint8_t *bytes = table->bytes;

    assert(row < table->count);
    if (!bytes) {
        memcpy(out, table->floats + row * width, width * sizeof *out);
        return;
    }
    bytes += row * width;
    for (size_t i = 0; i < width; i++)
        out[i] = (float)bytes[i] * (1.0f / 255);
}

int32_t table_largest_label(const struct table *table)
{
    int32_t largest = 0;

    for (size_t i = 0; i < table->count; i++)
        if (table->labels[i] > largest)
            largest = table->labels[i];
    return largest;
}
