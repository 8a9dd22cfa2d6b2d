#include "train/idx.h"

#include <inttypes.h>
#include <stdlib.h>

enum { HEADER_BYTES = 4, UNSIGNED_BYTES = 0x08, DIMENSIONS_MAX = 4 };

struct shape {
    size_t count;    /* the first dimension */
    size_t features; /* the product of the others */
    size_t offset;   /* of the first element in the file */
};

/* Whether the bytes begin like an IDX file. */
static int idx_recognise(const struct input *file)
{
    const unsigned char *b = file->bytes;

    return file->size >= HEADER_BYTES && b[0] == 0 && b[1] == 0 &&
           b[2] >= 0x08 && b[2] <= 0x0e && b[3] >= 1;
}

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
           (uint32_t)b[3];
}

static enum status check_magic(const struct input *file, const char *path,
                               unsigned least, unsigned most, struct why *why)
{
    if (!idx_recognise(file))
        return because(why, STATUS_MALFORMED,
                       "%s: byte 0: no IDX file begins like this; give the "
                       "original file",
                       path);
    if (file->bytes[2] != UNSIGNED_BYTES)
        return because(why, STATUS_MALFORMED,
                       "%s: byte 2: elements of type 0x%02x are not "
                       "supported, only unsigned bytes (0x08); use .npy",
                       path, file->bytes[2]);
    if (file->bytes[3] < least || file->bytes[3] > most)
        return because(why, STATUS_MALFORMED,
                       "%s: byte 3: has %u dimensions, where %u to %u are "
                       "wanted; are images and labels mixed up?",
                       path, file->bytes[3], least, most);
    if (file->size < HEADER_BYTES + 4u * file->bytes[3])
        return because(why, STATUS_MALFORMED,
                       "%s: byte %zu: ends inside its header; get it again",
                       path, file->size);
    return STATUS_OK;
}

/* Reads the dimensions behind a good magic. Their product cannot exceed the
 * file's size here, so it cannot overflow. */
static enum status read_shape(const struct input *file, const char *path,
                              struct shape *out, struct why *why)
{
    unsigned dimensions = file->bytes[3];
    size_t product = 1;

    out->offset = HEADER_BYTES + 4u * dimensions;
    out->features = 1;
    for (unsigned i = 0; i < dimensions; i++) {
        size_t at = HEADER_BYTES + 4u * i;
        uint32_t size = big_endian(file->bytes + at);

        if (size == 0 || size > (file->size - out->offset) / product)
            return because(why, STATUS_MALFORMED,
                           "%s: byte %zu: dimension %u of %" PRIu32 " does "
                           "not fit %zu bytes of data; the file is cut off "
                           "or damaged, get it again",
                           path, at, i + 1, size, file->size - out->offset);
        product *= size;
        if (i == 0)
            out->count = size;
        else
            out->features *= size;
    }
    if (product != file->size - out->offset)
        return because(why, STATUS_MALFORMED,
                       "%s: byte %zu: %zu bytes too many; get it again", path,
                       out->offset + product,
                       file->size - out->offset - product);
    return STATUS_OK;
}

static enum status check_pair(const struct shape *images,
                              const char *images_path,
                              const struct shape *labels,
                              const char *labels_path, struct why *why)
{
    if (images->features > TABLE_FEATURES_MAX)
        return because(why, STATUS_MALFORMED,
                       "%s: byte 4: %zu numbers per sample, at most %d are "
                       "supported",
                       images_path, images->features, TABLE_FEATURES_MAX);
    if (images->count != labels->count)
        return because(why, STATUS_MALFORMED,
                       "%s has %zu samples but %s has %zu labels; give files "
                       "that belong together",
                       images_path, images->count, labels_path, labels->count);
    return STATUS_OK;
}

static enum status read_shapes(const struct input *files[2],
                               const char *paths[2], struct shape shapes[2],
                               struct why *why)
{
    static const unsigned least[2] = {2, 1}, most[2] = {DIMENSIONS_MAX, 1};
    enum status status = STATUS_OK;

    for (unsigned i = 0; i < 2 && !status; i++) {
        status = check_magic(files[i], paths[i], least[i], most[i], why);
        if (!status)
            status = read_shape(files[i], paths[i], &shapes[i], why);
    }
    if (status)
        return status;
    return check_pair(&shapes[0], paths[0], &shapes[1], paths[1], why);
}

enum status idx_make_table(struct input *images, const char *images_path,
                           const struct input *labels, const char *labels_path,
                           struct table *out, struct why *why)
{
    const struct input *files[2] = {images, labels};
    const char *paths[2] = {images_path, labels_path};
    struct shape shapes[2];
    enum status status = read_shapes(files, paths, shapes, why);
    int32_t *numbers;

    if (status)
        return status;
    numbers = malloc(shapes[0].count * sizeof *numbers);
    if (!numbers)
        return because(why, STATUS_NO_MEMORY, "%s does not fit into memory",
                       labels_path);
    for (size_t i = 0; i < shapes[0].count; i++)
        numbers[i] = labels->bytes[shapes[1].offset + i];
    *out = (struct table){.count = shapes[0].count,
                          .features = shapes[0].features,
                          .bytes = images->bytes + shapes[0].offset,
                          .labels = numbers,
                          .memory = images->bytes};
    *images = (struct input){NULL, 0};
    return STATUS_OK;
}
