#include "train/csv.h"

#include <string.h>

#include "tests/check.h"
#include "tests/train/files.h"

static struct why why;

static enum status read(const char *text, struct table *out)
{
    struct input input = input_of(text, strlen(text));

    memset(out, 0, sizeof *out);
    why.text[0] = 0;
    return csv_make_table(&input, "F", out, &why);
}

static void check_refused(const char *text, const char *words)
{
    struct table table;

    CHECK_STATUS(STATUS_MALFORMED, read(text, &table));
    CHECK_CONTAINS(words, why.text);
}

static void numbers_and_labels_are_read(void)
{
    struct table table;

    if (!CHECK_OK(read("1.5,-2e1,0\n3,4,12\n", &table)))
        return;
    CHECK_EQUAL(2, table.count);
    CHECK_EQUAL(2, table.features);
    CHECK_NEAR(-20, table.floats[1], 0);
    CHECK_NEAR(3, table.floats[2], 0);
    CHECK_EQUAL(12, table.labels[1]);
    table_free(&table);
}

static void header_blanks_and_dos_line_ends_are_forgiven(void)
{
    struct table table;

    if (!CHECK_OK(read("\xef\xbb\xbfwidth,kind\r\n\r\n 1 , 2 \r\n3,4", &table)))
        return;
    CHECK_EQUAL(2, table.count);
    CHECK_EQUAL(1, table.features);
    CHECK_EQUAL(4, table.labels[1]);
    table_free(&table);
}

static void many_rows_are_read(void)
{
    static char text[6 * 1000 + 1];
    struct table table;

    for (unsigned i = 0; i < 1000; i++)
        memcpy(text + 6 * (size_t)i, i % 2 ? "0.5,1\n" : "0.2,0\n", 7);
    if (!CHECK_OK(read(text, &table)))
        return;
    CHECK_EQUAL(1000, table.count);
    CHECK_EQUAL(1, table.labels[999]);
    CHECK_NEAR(0.2, table.floats[998], 1e-6);
    table_free(&table);
}

static void what_is_no_number_is_named_by_line_and_column(void)
{
    check_refused("1,2,0\n1,x,0\n", "F: line 2: column 2");
    check_refused("1,2,0\n1,,0\n", "line 2: column 2");
    check_refused("a,b\n\n1,1\n1,\n", "line 4: column 2");
    check_refused("1,2,0\n1,nan,0\n", "line 2: column 2 is not a finite");
    check_refused("1,inf,0\n", "line 1: column 2");
    check_refused("1e99,1,0\n", "line 1: column 1");
    check_refused("1 2,1\n", "line 1: column 1");
    check_refused("1,\"2\",0\n", "line 1: column 2");
}

static void lines_of_different_width_are_refused(void)
{
    check_refused("1,2,0\n1,2\n", "line 2: has 2 columns");
    check_refused("1,0\n1,2,0\n", "line 2: has 3 columns");
    check_refused("1\n2\n", "line 1: has 1 columns");
}

static void labels_out_of_range_are_refused(void)
{
    check_refused("1,-1\n", "line 1: the label");
    check_refused("1,0.5\n", "line 1: the label");
    check_refused("1,1\n1,65536\n", "line 2: the label");
}

static void a_file_without_samples_is_refused(void)
{
    check_refused("\n\n", "without a single sample");
    check_refused("name,kind\n", "without a single sample");
}

static void a_zero_byte_is_no_number(void)
{
    struct input input = input_of("1\0,2\n", 5);
    struct table table;

    CHECK_STATUS(STATUS_MALFORMED, csv_make_table(&input, "F", &table, &why));
}

void add_train_csv_tests(CU_pSuite suite)
{
    TEST(numbers_and_labels_are_read);
    TEST(header_blanks_and_dos_line_ends_are_forgiven);
    TEST(many_rows_are_read);
    TEST(what_is_no_number_is_named_by_line_and_column);
    TEST(lines_of_different_width_are_refused);
    TEST(labels_out_of_range_are_refused);
    TEST(a_file_without_samples_is_refused);
    TEST(a_zero_byte_is_no_number);
}
