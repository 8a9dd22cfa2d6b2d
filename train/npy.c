#include "train/npy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 8, HEADER_BYTES_MAX = 4096, DIMENSIONS_MAX = 4 };

static const char magic[] = "\x93NUMPY";

struct array {
    const char *path;
    const unsigned char *elements;
    size_t offset; /* of the elements in the file */
    const struct element *element;
    size_t rows, width; /* the first dimension, the product of the others */
    struct why *why;
};

static double read_f4(const unsigned char *bytes)
{
    float number;

    memcpy(&number, bytes, sizeof number);
    return (double)number;
}

static double read_f8(const unsigned char *bytes)
{
    double number;

    memcpy(&number, bytes, sizeof number);
    return number;
}

static double read_i4(const unsigned char *bytes)
{
    int32_t number;

    memcpy(&number, bytes, sizeof number);
    return number;
}

static double read_i8(const unsigned char *bytes)
{
    int64_t number;

    memcpy(&number, bytes, sizeof number);
    return (double)number;
}

static double read_u1(const unsigned char *bytes)
{
    return *bytes;
}

static const struct element {
    const char *name;
    size_t size;
    double (*read)(const unsigned char *bytes);
} elements[] = {{"<f4", 4, read_f4},
                {"<f8", 8, read_f8},
                {"<i4", 4, read_i4},
                {"<i8", 8, read_i8},
                {"|u1", 1, read_u1}};

int npy_recognise(const struct input *file)
{
    return file->size >= MAGIC_BYTES &&
           memcmp(file->bytes, magic, sizeof magic - 1) == 0;
}

static enum status bad_header(struct array *array, size_t at, const char *what)
{
    return because(array->why, STATUS_MALFORMED,
                   "%s: byte %zu: %s; save it again with numpy.save",
                   array->path, at, what);
}

/* Copies the header's dict into `text` as a string, finds the elements. */
static enum status read_header(struct array *array, const struct input *file,
                               char text[HEADER_BYTES_MAX + 1])
{
    const unsigned char *b = file->bytes;
    size_t size, start;

    if (!npy_recognise(file))
        return bad_header(array, 0, "no .npy file begins like this");
    if (b[6] < 1 || b[6] > 3)
        return bad_header(array, 6, "unknown version of the format");
    start = b[6] == 1 ? 10 : 12;
    if (file->size < start)
        return bad_header(array, file->size, "ends inside its header");
    size = (size_t)b[8] | (size_t)b[9] << 8;
    if (start == 12)
        size |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (size > HEADER_BYTES_MAX || size > file->size - start)
        return bad_header(array, 8, "its header is longer than possible");
    memcpy(text, b + start, size);
    text[size] = 0;
    array->offset = start + size;
    array->elements = b + array->offset;
    return STATUS_OK;
}

/* What follows `key` and its colon in the dict, or NULL. */
static const char *value_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    if (*at != ':')
        return NULL;
    return at + 1 + strspn(at + 1, " ");
}

/* Names a type that holds the same values, if it is known which they are. */
static enum status bad_type(struct array *array, const char *type)
{
    size_t length = strcspn(type, ",}");
    bool whole = length > 3 && strchr("iub", type[2]);

    return because(array->why, STATUS_MALFORMED,
                   "%s: byte %d: its elements are %.*s, and none of <f4 <f8 "
                   "<i4 <i8 |u1: save it as numpy.save(file, a.astype('%s'))",
                   array->path, MAGIC_BYTES, (int)(length < 20 ? length : 20),
                   type, whole ? "<i8" : "<f4");
}

static enum status read_type(struct array *array, const char *text)
{
    const char *type = value_of(text, "'descr'");
    const char *order = value_of(text, "'fortran_order'");

    if (!type || !order)
        return bad_header(array, MAGIC_BYTES, "its header is incomplete");
    if (strncmp(order, "False", 5) != 0)
        return because(array->why, STATUS_MALFORMED,
                       "%s: its values are in Fortran order: save "
                       "numpy.ascontiguousarray(array) instead",
                       array->path);
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (type[0] == '\'' && strncmp(type + 1, elements[i].name, 3) == 0 &&
            type[4] == '\'')
            array->element = &elements[i];
    return array->element ? STATUS_OK : bad_type(array, type);
}

/* One decimal dimension, at most `limit`; 0 if there is none. */
static size_t read_dimension(const char **at, size_t limit)
{
    size_t number = 0;

    while (**at >= '0' && **at <= '9') {
        number = number * 10 + (size_t)(*(*at)++ - '0');
        if (number > limit)
            return 0;
    }
    return number;
}

/* The dimensions' product stays within the elements that are there. */
static enum status read_shape(struct array *array, const char *text,
                              size_t available)
{
    const char *at = value_of(text, "'shape'");
    size_t product = 1;
    unsigned dimensions = 0;

    if (!at || *at++ != '(')
        return bad_header(array, MAGIC_BYTES, "its header is incomplete");
    while (*at && *at != ')') {
        size_t size = read_dimension(&at, available / product);

        if (size == 0 || dimensions == DIMENSIONS_MAX)
            return bad_header(array, MAGIC_BYTES,
                              "its shape does not fit its size; it is cut "
                              "off, empty or has too many dimensions");
        product *= size;
        if (dimensions++ == 0)
            array->rows = size;
        at += strspn(at, ", ");
    }
    if (*at != ')' || dimensions == 0)
        return bad_header(array, MAGIC_BYTES, "it has no dimensions");
    array->width = product / array->rows;
    if (product != available)
        return bad_header(array, array->offset + product * array->element->size,
                          "there are more bytes than its shape says");
    return STATUS_OK;
}

static enum status read_array(const struct input *file, const char *path,
                              struct array *out, struct why *why)
{
    char text[HEADER_BYTES_MAX + 1];
    enum status status;
    size_t bytes;

    *out = (struct array){.path = path, .why = why};
    status = read_header(out, file, text);
    if (!status)
        status = read_type(out, text);
    if (status)
        return status;
    bytes = file->size - out->offset;
    if (bytes % out->element->size != 0)
        return bad_header(out, file->size, "ends inside an element");
    return read_shape(out, text, bytes / out->element->size);
}

static enum status read_labels(struct array *array, struct table *out)
{
    size_t size = array->element->size;

    for (size_t i = 0; i < array->rows; i++) {
        double label = array->element->read(array->elements + i * size);

        if (!(label >= 0 && label <= TABLE_LABEL_MAX && label == floor(label)))
            return because(array->why, STATUS_MALFORMED,
                           "%s: byte %zu: label %zu is not a whole number "
                           "from 0 to %d",
                           array->path, array->offset + i * size, i,
                           TABLE_LABEL_MAX);
        out->labels[i] = (int32_t)label;
    }
    return STATUS_OK;
}

static enum status read_features(struct array *array, struct table *out)
{
    size_t count = array->rows * array->width;
    size_t size = array->element->size;

    for (size_t i = 0; i < count; i++) {
        double number = array->element->read(array->elements + i * size);

        if (!isfinite((float)number))
            return because(array->why, STATUS_MALFORMED,
                           "%s: byte %zu: row %zu has a number that is not "
                           "finite; remove such rows",
                           array->path, array->offset + i * size,
                           i / array->width);
        out->floats[i] = (float)number;
    }
    return STATUS_OK;
}

static enum status check_pair(const struct array *features,
                              const struct array *labels)
{
    if (features->width > TABLE_FEATURES_MAX)
        return because(features->why, STATUS_MALFORMED,
                       "%s has %zu numbers per row, at most %d are supported",
                       features->path, features->width, TABLE_FEATURES_MAX);
    if (labels->width != 1 || labels->rows != features->rows)
        return because(features->why, STATUS_MALFORMED,
                       "%s has %zu rows but %s has %zu labels; give files "
                       "that belong together",
                       features->path, features->rows, labels->path,
                       labels->rows * labels->width);
    return STATUS_OK;
}

static enum status fill(struct array *features, struct array *labels,
                        struct input *file, struct table *out)
{
    int bytes = features->element->read == read_u1;
    size_t count = features->rows * features->width;
    enum status status;

    out->count = features->rows;
    out->features = features->width;
    out->memory = bytes ? file->bytes : malloc(count * sizeof(float));
    out->floats = bytes ? NULL : out->memory;
    out->bytes = bytes ? file->bytes + features->offset : NULL;
    out->labels = malloc(labels->rows * sizeof *out->labels);
    if (!out->memory || !out->labels)
        status = because(features->why, STATUS_NO_MEMORY,
                         "%s does not fit into memory", features->path);
    else
        status = read_labels(labels, out);
    if (!status && !bytes)
        status = read_features(features, out);
    if (!status && bytes)
        *file = (struct input){NULL, 0};
    if (!status)
        return STATUS_OK;
    free(bytes ? NULL : out->memory);
    free(out->labels);
    return status;
}

enum status npy_make_table(struct input *features, const char *features_path,
                           const struct input *labels, const char *labels_path,
                           struct table *out, struct why *why)
{
    struct array x, y;
    struct table table = {0};
    enum status status = read_array(features, features_path, &x, why);

    if (!status)
        status = read_array(labels, labels_path, &y, why);
    if (!status)
        status = check_pair(&x, &y);
    if (!status)
        status = fill(&x, &y, features, &table);
    if (!status)
        *out = table;
    return status;
}
