#include "tests/train/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct input input_of(const void *bytes, size_t size)
{
    struct input input = {NULL, size};

    memcpy(&input.bytes, &bytes, sizeof bytes);
    return input;
}

struct input input_copy(const void *bytes, size_t size)
{
    struct input input = {calloc(1, size + 1), size};

    if (!input.bytes)
        abort();
    memcpy(input.bytes, bytes, size);
    return input;
}

bool gzip_fill(const char *path, const void *bytes, size_t size)
{
    gzFile gz = gzopen(path, "wb");
    bool written = gz && gzwrite(gz, bytes, (unsigned)size) == (int)size;

    return gz && gzclose(gz) == Z_OK && written;
}

static void put_big_endian(unsigned char *out, unsigned number)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (unsigned char)(number >> (24 - 8 * i));
}

bool idx_fill(const char *path, const unsigned *shape, unsigned dimensions,
              const unsigned char *bytes)
{
    size_t size = 1, begin = 4 + 4 * (size_t)dimensions;
    unsigned char *out;
    bool filled;

    for (unsigned i = 0; i < dimensions; i++)
        size *= shape[i];
    out = calloc(1, begin + size);
    if (!out)
        abort();
    out[2] = 8;
    out[3] = (unsigned char)dimensions;
    for (unsigned i = 0; i < dimensions; i++)
        put_big_endian(out + 4 + 4 * (size_t)i, shape[i]);
    memcpy(out + begin, bytes, size);
    filled = file_fill(path, out, begin + size);
    free(out);
    return filled;
}

size_t images_bytes(unsigned count, unsigned classes, unsigned char *out)
{
    static const unsigned char magic[] = {0, 0, 8, 3};
    unsigned char *pixels = out + 16;

    memcpy(out, magic, sizeof magic);
    put_big_endian(out + 4, count);
    put_big_endian(out + 8, 2);
    put_big_endian(out + 12, 2);
    for (unsigned i = 0; i < count; i++)
        for (unsigned p = 0; p < IMAGE_PIXELS; p++)
            *pixels++ =
                (unsigned char)(p == i % classes ? 200 + i % 50 : i % 40);
    return (size_t)(pixels - out);
}

size_t labels_bytes(unsigned count, unsigned classes, unsigned char *out)
{
    static const unsigned char magic[] = {0, 0, 8, 1};

    memcpy(out, magic, sizeof magic);
    put_big_endian(out + 4, count);
    for (unsigned i = 0; i < count; i++)
        out[8 + i] = (unsigned char)(i % classes);
    return 8 + count;
}

bool pair_fill(const struct folder *folder, const char *part, unsigned count,
               const char *end)
{
    unsigned char bytes[IDX_BYTES_MAX];
    bool (*fill)(const char *, const void *, size_t) =
        *end ? gzip_fill : file_fill;
    char name[64];
    size_t size = images_bytes(count, 4, bytes);
    bool filled;

    (void)snprintf(name, sizeof name, "%s-images-idx3-ubyte%s", part, end);
    filled = fill(folder_file(folder, name), bytes, size);
    size = labels_bytes(count, 4, bytes);
    (void)snprintf(name, sizeof name, "%s-labels-idx1-ubyte%s", part, end);
    return fill(folder_file(folder, name), bytes, size) && filled;
}

size_t npy_bytes(const char *type, const char *shape, const void *elements,
                 size_t size, unsigned char *out)
{
    int length = snprintf((char *)out + 10, 118,
                          "{'descr': '%s', 'fortran_order': False, "
                          "'shape': %s, }",
                          type, shape);

    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (unsigned char)length;
    out[9] = 0;
    memcpy(out + 10 + length, elements, size);
    return 10 + (size_t)length + size;
}
