#include "train/npy.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/train/files.h"

enum { FILE_BYTES = 512 };

static const float floats[6] = {1, 2, 3, 4, 5, 6};
static const int64_t three_labels[3] = {0, 1, 7};
static unsigned char features[FILE_BYTES], labels[FILE_BYTES];
static size_t features_size, labels_size;
static struct why why;

static void set_up(void)
{
    features_size = npy_bytes("<f4", "(3, 2)", floats, sizeof floats, features);
    labels_size =
        npy_bytes("<i8", "(3,)", three_labels, sizeof three_labels, labels);
    why.text[0] = 0;
}

static enum status read_into(struct table *table)
{
    struct input x = input_copy(features, features_size);
    struct input y = input_copy(labels, labels_size);
    enum status status = npy_make_table(&x, "X", &y, "Y", table, &why);

    input_free(&x);
    input_free(&y);
    return status;
}

static void check_refused(const char *words)
{
    struct table table = {0};

    CHECK_STATUS(STATUS_MALFORMED, read_into(&table));
    CHECK_CONTAINS(words, why.text);
    table_free(&table);
}

/* Reads features of this type and compares with `floats`. */
static void check_type(const char *type, const void *elements, size_t size)
{
    struct table table = {0};
    float row[2];

    set_up();
    features_size = npy_bytes(type, "(3, 2)", elements, size, features);
    if (!CHECK_OK(read_into(&table)))
        return;
    CHECK_EQUAL(3, table.count);
    CHECK_EQUAL(2, table.features);
    CHECK_EQUAL(7, table.labels[2]);
    table_load(&table, 2, row);
    CHECK_NEAR(table.bytes ? 5 / 255.0 : 5, row[0], 1e-6);
    table_free(&table);
}

static void all_types_are_read(void)
{
    static const double doubles[6] = {1, 2, 3, 4, 5, 6};
    static const int64_t longs[6] = {1, 2, 3, 4, 5, 6};
    static const int32_t ints[6] = {1, 2, 3, 4, 5, 6};
    static const uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};

    check_type("<f4", floats, sizeof floats);
    check_type("<f8", doubles, sizeof doubles);
    check_type("<i8", longs, sizeof longs);
    check_type("<i4", ints, sizeof ints);
    check_type("|u1", bytes, sizeof bytes);
}

/* numpy.save would write the same again: what to do is said. */
static void fortran_order_is_refused_with_a_way_out(void)
{
    char *order;

    set_up();
    order = memmem(features, features_size, "False", 5);
    CHECK(order != NULL);
    if (order)
        memcpy(order, "True ", 5);
    check_refused("numpy.ascontiguousarray(array)");
}

static void further_dimensions_are_flattened(void)
{
    struct table table = {0};

    set_up();
    features_size =
        npy_bytes("<f4", "(3, 1, 2)", floats, sizeof floats, features);
    if (CHECK_OK(read_into(&table)))
        CHECK_EQUAL(2, table.features);
    table_free(&table);
}

static void every_prefix_of_either_file_is_refused(void)
{
    set_up();
    for (features_size--; features_size > 0; features_size--)
        check_refused("X: byte");
    set_up();
    for (labels_size--; labels_size > 0; labels_size--)
        check_refused("Y: byte");
}

/* Features with this type and shape instead. */
static void check_header_refused(const char *type, const char *shape,
                                 const char *words)
{
    set_up();
    features_size = npy_bytes(type, shape, floats, sizeof floats, features);
    check_refused(words);
}

static void headers_that_lie_are_refused_before_memory_is_taken(void)
{
    check_header_refused("<f4", "(2, 2)", "more bytes than its shape");
    check_header_refused("<f4", "(3, 3)", "shape does not fit");
    check_header_refused("<f4", "(0, 2)", "shape does not fit");
    check_header_refused("<f4", "()", "no dimensions");
    check_header_refused("<f4", "(-3, 2)", "shape does not fit");
    check_header_refused("<f4", "(4294967296, 4294967296)", "does not fit");
    check_header_refused("<f4", "(99999999999999999999999,)", "does not fit");
    check_header_refused("<f4", "(1, 1, 1, 3, 2)", "does not fit");
    check_header_refused("<f4", "(6", "does not fit");
    check_header_refused(">f4", "(3, 2)", "none of <f4");
    check_header_refused(">f4", "(3, 2)", "save(file, a.astype('<f4'))");
    check_header_refused("<i2", "(3, 2)", "save(file, a.astype('<i8'))");
    check_header_refused("<c8", "(3, 1)", "none of <f4");
}

static void a_foreign_magic_version_or_length_is_refused(void)
{
    set_up();
    features[6] = 9;
    check_refused("X: byte 6");
    set_up();
    features[9] = 0xff;
    check_refused("X: byte 8");
    set_up();
    labels[0] = 'x';
    check_refused("Y: byte 0");
}

static void numbers_that_are_not_finite_are_named(void)
{
    static const float bad[6] = {1, 2, 3, NAN, 5, 6};
    static const double large[6] = {1, 2, 3, 4, 1e300, 6};

    set_up();
    features_size = npy_bytes("<f4", "(3, 2)", bad, sizeof bad, features);
    check_refused("row 1 has a number that is not finite");
    features_size = npy_bytes("<f8", "(3, 2)", large, sizeof large, features);
    check_refused("row 2 has a number that is not finite");
}

static void labels_out_of_range_are_refused(void)
{
    static const int64_t negative[3] = {0, -1, 2};
    static const double broken[3] = {0, 1, NAN};

    set_up();
    labels_size = npy_bytes("<i8", "(3,)", negative, sizeof negative, labels);
    check_refused("label 1 is not a whole number");
    labels_size = npy_bytes("<f8", "(3,)", broken, sizeof broken, labels);
    check_refused("label 2 is not a whole number");
}

static void counts_that_differ_are_refused(void)
{
    set_up();
    labels_size = npy_bytes("<i8", "(2,)", three_labels, 16, labels);
    check_refused("X has 3 rows but Y has 2 labels");
}

void add_train_npy_tests(CU_pSuite suite)
{
    TEST(all_types_are_read);
    TEST(fortran_order_is_refused_with_a_way_out);
    TEST(further_dimensions_are_flattened);
    TEST(every_prefix_of_either_file_is_refused);
    TEST(headers_that_lie_are_refused_before_memory_is_taken);
    TEST(a_foreign_magic_version_or_length_is_refused);
    TEST(numbers_that_are_not_finite_are_named);
    TEST(labels_out_of_range_are_refused);
    TEST(counts_that_differ_are_refused);
}
