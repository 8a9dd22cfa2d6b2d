#include "train/idx.h"

#include <string.h>

#include "tests/check.h"
#include "tests/train/files.h"

enum { COUNT = 12 };

static unsigned char images[IDX_BYTES_MAX], labels[IDX_BYTES_MAX];
static size_t images_size, labels_size;
static struct why why;

static void set_up(void)
{
    images_size = images_bytes(COUNT, 4, images);
    labels_size = labels_bytes(COUNT, 4, labels);
    why.text[0] = 0;
}

/* Reads these sizes of the two; frees what was made. */
static enum status read_cut(size_t images_cut, size_t labels_cut)
{
    struct input x = input_copy(images, images_cut);
    struct input y = input_copy(labels, labels_cut);
    struct table table = {0};
    enum status status = idx_make_table(&x, "I", &y, "L", &table, &why);

    input_free(&x);
    input_free(&y);
    table_free(&table);
    return status;
}

static enum status read_whole(void)
{
    return read_cut(images_size, labels_size);
}

static void a_pair_becomes_a_table(void)
{
    struct table table = {0};
    struct input x, y;
    float row[IMAGE_PIXELS];

    set_up();
    x = input_copy(images, images_size);
    y = input_copy(labels, labels_size);
    if (CHECK_OK(idx_make_table(&x, "I", &y, "L", &table, &why))) {
        CHECK_EQUAL(COUNT, table.count);
        CHECK_EQUAL(IMAGE_PIXELS, table.features);
        CHECK_EQUAL(1, table.labels[5]);
        CHECK_EQUAL(3, table_largest_label(&table));
        table_load(&table, 5, row);
        CHECK_NEAR(205 / 255.0, row[1], 1e-6);
        CHECK_NEAR(5 / 255.0, row[0], 1e-6);
        CHECK(!x.bytes);
    }
    input_free(&x);
    input_free(&y);
    table_free(&table);
}

static void every_prefix_of_either_file_is_refused(void)
{
    set_up();
    for (size_t size = 1; size < images_size; size++)
        CHECK_STATUS(STATUS_MALFORMED, read_cut(size, labels_size));
    for (size_t size = 1; size < labels_size; size++)
        CHECK_STATUS(STATUS_MALFORMED, read_cut(images_size, size));
}

static void a_byte_too_many_is_refused(void)
{
    set_up();
    CHECK_STATUS(STATUS_MALFORMED, read_cut(images_size + 1, labels_size));
    CHECK_CONTAINS("I: byte 64: 1 bytes too many", why.text);
}

static void a_wrong_magic_is_refused(void)
{
    set_up();
    images[0] = 'P';
    CHECK_STATUS(STATUS_MALFORMED, read_whole());
    CHECK_CONTAINS("I: byte 0", why.text);
    set_up();
    images[2] = 0x0d;
    CHECK_STATUS(STATUS_MALFORMED, read_whole());
    CHECK_CONTAINS("type 0x0d", why.text);
}

static void images_and_labels_mixed_up_are_noticed(void)
{
    struct table table = {0};
    struct input x, y;

    set_up();
    x = input_copy(labels, labels_size);
    y = input_copy(images, images_size);
    CHECK_STATUS(STATUS_MALFORMED,
                 idx_make_table(&x, "I", &y, "L", &table, &why));
    CHECK_CONTAINS("mixed up", why.text);
    input_free(&x);
    input_free(&y);
}

static void counts_that_differ_are_refused(void)
{
    set_up();
    labels_size = labels_bytes(COUNT - 1, 4, labels);
    CHECK_STATUS(STATUS_MALFORMED, read_whole());
    CHECK_CONTAINS("I has 12 samples but L has 11 labels", why.text);
}

/* Each dimension alone set to zero or to more than the file could hold. */
static void dimensions_that_lie_are_refused_before_memory_is_taken(void)
{
    for (unsigned at = 4; at < 16; at += 4) {
        set_up();
        memset(images + at, 0xff, 4);
        CHECK_STATUS(STATUS_MALFORMED, read_whole());
        set_up();
        memset(images + at, 0, 4);
        CHECK_STATUS(STATUS_MALFORMED, read_whole());
    }
    set_up();
    memset(images + 4, 0x80, 12); /* a product beyond 64 bits */
    CHECK_STATUS(STATUS_MALFORMED, read_whole());
}

void add_train_idx_tests(CU_pSuite suite)
{
    TEST(a_pair_becomes_a_table);
    TEST(every_prefix_of_either_file_is_refused);
    TEST(a_byte_too_many_is_refused);
    TEST(a_wrong_magic_is_refused);
    TEST(images_and_labels_mixed_up_are_noticed);
    TEST(counts_that_differ_are_refused);
    TEST(dimensions_that_lie_are_refused_before_memory_is_taken);
}
