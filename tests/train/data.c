#include "train/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/check.h"
#include "tests/train/files.h"
#include "tests/train/models.h"
#include "train/corpus.h"

/* Of 40 images, and of 40 labels. */
enum { BYTES_OF_40 = 160 };

static struct folder folder;
static struct data data;
static struct why why;

static enum status open_file(const char *name)
{
    why.text[0] = 0;
    return data_open(folder_file(&folder, name), 1, &data, &why);
}

static void check_open_fails(enum status expected, const char *name,
                             const char *words)
{
    if (!CHECK_STATUS(expected, open_file(name)))
        data_close(&data);
    CHECK_CONTAINS(words, why.text);
}

static void gzipped_and_plain_files_are_equal(void)
{
    struct data plain;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(pair_fill(&folder, "train", 40, ".gz"));
    CHECK_OK(data_open(folder.path, 1, &data, &why));
    CHECK(pair_fill(&folder, "train", 40, ""));
    CHECK_OK(data_open(folder.path, 1, &plain, &why));
    CHECK_EQUAL(36, plain.training.count);
    CHECK_EQUAL(4, plain.held_out.count);
    CHECK_EQUAL(4, plain.classes);
    CHECK(!memcmp(plain.files[0].bytes, data.files[0].bytes, BYTES_OF_40));
    CHECK(!memcmp(plain.files[0].labels, data.files[0].labels, BYTES_OF_40));
    data_close(&data);
    data_close(&plain);
    folder_remove(&folder);
}

static void the_t10k_files_are_the_held_out_part(void)
{
    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(pair_fill(&folder, "train", 40, ".gz"));
    CHECK(pair_fill(&folder, "t10k", 12, ".gz"));
    if (CHECK_OK(data_open(folder.path, 1, &data, &why))) {
        CHECK_EQUAL(40, data.training.count);
        CHECK_EQUAL(12, data.held_out.count);
        data_close(&data);
    }
    CHECK(!remove(folder_file(&folder, "t10k-labels-idx1-ubyte.gz")));
    CHECK_STATUS(STATUS_IO, data_open(folder.path, 1, &data, &why));
    folder_remove(&folder);
}

static bool fill_csv(unsigned rows)
{
    char text[1000];
    size_t used = 0;

    for (unsigned i = 0; i < rows; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%u,%u\n", i,
                                 i % 2);
    return file_fill(folder_file(&folder, "a.csv"), text, used);
}

static void the_split_depends_on_the_seed_and_loses_nothing(void)
{
    struct data other;
    double sum = 0;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(fill_csv(50));
    if (CHECK_OK(open_file("a.csv")) &&
        CHECK_OK(data_open(folder_file(&folder, "a.csv"), 2, &other, &why))) {
        CHECK_EQUAL(5, data.held_out.count);
        for (unsigned i = 0; i < 45; i++)
            sum += (double)data.training.floats[i];
        for (unsigned i = 0; i < 5; i++)
            sum += (double)data.held_out.floats[i];
        CHECK_NEAR(1225, sum, 0);
        CHECK(!same_floats(data.held_out.floats, other.held_out.floats, 5));
        CHECK_EQUAL((long)data.training.floats[7] % 2, data.training.labels[7]);
        data_close(&other);
    }
    data_close(&data);
    folder_remove(&folder);
}

static void what_is_not_there_is_an_io_error(void)
{
    if (!CHECK(folder_new(&folder)))
        return;
    check_open_fails(STATUS_IO, "", "lacks train-images");
    check_open_fails(STATUS_IO, "no.csv", "no.csv cannot be opened");
    check_open_fails(STATUS_IO, "no.bin", "does not exist");
    check_open_fails(STATUS_IO, "x.npy,y.npy", "x.npy cannot be opened");
    CHECK_STATUS(STATUS_IO, data_open("/dev/zero,/dev/null", 1, &data, &why));
    CHECK_CONTAINS("is not a file", why.text);
    folder_remove(&folder);
}

static void what_is_there_but_wrong_is_malformed(void)
{
    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(file_fill(folder_file(&folder, "a.csv"), "", 0));
    check_open_fails(STATUS_MALFORMED, "a.csv", "is empty");
    CHECK(file_fill(folder_file(&folder, "a.csv"), "1,0\n", 4));
    check_open_fails(STATUS_MALFORMED, "a.csv", "has one sample");
    CHECK(file_fill(folder_file(&folder, "a.bin"), "1,0\n", 4));
    check_open_fails(STATUS_USAGE, "a.bin", "give a folder");
    folder_remove(&folder);
}

static void every_prefix_of_a_gzip_file_is_refused(void)
{
    char *bytes;
    size_t size = 0;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(gzip_fill(folder_file(&folder, "a.csv.gz"), "1,0\n2,1\n3,0\n", 12));
    bytes = file_content(folder_file(&folder, "a.csv.gz"), &size);
    for (size_t cut = 1; bytes && cut < size; cut++) {
        CHECK(file_fill(folder_file(&folder, "a.csv.gz"), bytes, cut));
        check_open_fails(STATUS_MALFORMED, "a.csv.gz", "a.csv.gz");
    }
    free(bytes);
    folder_remove(&folder);
}

static void a_corpus_is_all_its_files_in_a_row(void)
{
    char paths[300];
    struct input corpus;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(file_fill(folder_file(&folder, "a"), "one ", 4));
    CHECK(gzip_fill(folder_file(&folder, "b"), "two", 3));
    (void)snprintf(paths, sizeof paths, "%s,%s", folder_file(&folder, "a"),
                   folder_file(&folder, "b"));
    if (CHECK_OK(corpus_read(paths, &corpus, &why))) {
        CHECK_TEXT("one two", (const char *)corpus.bytes);
        CHECK_EQUAL(7, corpus.size);
        input_free(&corpus);
    }
    (void)snprintf(paths, sizeof paths, "%s,", folder_file(&folder, "a"));
    CHECK_STATUS(STATUS_USAGE, corpus_read(paths, &corpus, &why));
    CHECK_STATUS(STATUS_IO,
                 corpus_read(folder_file(&folder, "none"), &corpus, &why));
    folder_remove(&folder);
}

static void a_folder_is_its_files_by_their_names(void)
{
    char paths[300];
    struct input corpus;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_STATUS(STATUS_MALFORMED, corpus_read(folder.path, &corpus, &why));
    CHECK_CONTAINS("a folder without files", why.text);
    CHECK(file_fill(folder_file(&folder, "b"), "two", 3));
    CHECK(file_fill(folder_file(&folder, "B"), "one ", 4));
    CHECK(file_fill(folder_file(&folder, ".hidden"), "three", 5));
    CHECK(file_fill(folder_file(&folder, "empty"), "", 0));
    CHECK(mkdir(folder_file(&folder, "a"), 0700) == 0);
    CHECK(file_fill(folder_file(&folder, "a/file"), "four", 4));
    (void)snprintf(paths, sizeof paths, "%s,%s", folder.path,
                   folder_file(&folder, "a/file"));
    if (CHECK_OK(corpus_read(paths, &corpus, &why))) {
        CHECK_TEXT("one twofour", (const char *)corpus.bytes);
        input_free(&corpus);
    }
    folder_remove(&folder);
}

static void the_last_tenth_of_a_corpus_is_held_out(void)
{
    struct input corpus = {NULL, 119};
    size_t split = 0;

    CHECK_OK(corpus_split(&corpus, "x", 10, &split, &why));
    CHECK_EQUAL(108, split);
    CHECK_STATUS(STATUS_CONFIG, corpus_split(&corpus, "x", 11, &split, &why));
    CHECK_CONTAINS("x has 119 bytes", why.text);
    CHECK_CONTAINS("at least 120", why.text);
}

void add_train_data_tests(CU_pSuite suite)
{
    TEST(gzipped_and_plain_files_are_equal);
    TEST(the_t10k_files_are_the_held_out_part);
    TEST(the_split_depends_on_the_seed_and_loses_nothing);
    TEST(what_is_not_there_is_an_io_error);
    TEST(what_is_there_but_wrong_is_malformed);
    TEST(every_prefix_of_a_gzip_file_is_refused);
    TEST(a_corpus_is_all_its_files_in_a_row);
    TEST(a_folder_is_its_files_by_their_names);
    TEST(the_last_tenth_of_a_corpus_is_held_out);
}
