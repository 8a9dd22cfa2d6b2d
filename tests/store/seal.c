#include "store/seal.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/store/folder.h"

static void a_directory_keeps_its_own_and_nobody_else_may_read_it(void)
{
    unsigned char one[MANIFEST_KEY_BYTES], again[MANIFEST_KEY_BYTES];
    const unsigned char zeros[MANIFEST_KEY_BYTES] = {0};
    struct folder folder;
    struct stat found;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(seal_open(folder.path, one, NULL));
    CHECK_OK(seal_open(folder.path, again, NULL));
    CHECK(memcmp(one, again, sizeof one) == 0);
    CHECK(memcmp(one, zeros, sizeof one) != 0);
    CHECK_EQUAL(0, stat(folder_file(&folder, "seal"), &found));
    CHECK_EQUAL(0600, found.st_mode & 0777);
    CHECK_EQUAL(0, unlink(folder_file(&folder, "seal")));
    CHECK_OK(seal_open(folder.path, again, NULL));
    CHECK(memcmp(one, again, sizeof one) != 0);
    folder_remove(&folder);
}

static void one_that_is_damaged_is_made_anew(void)
{
    unsigned char one[MANIFEST_KEY_BYTES], again[MANIFEST_KEY_BYTES];
    struct folder folder;
    struct why why = {""};

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(file_fill(folder_file(&folder, "seal"), "short", 5));
    CHECK_OK(seal_open(folder.path, one, &why));
    CHECK_CONTAINS("is damaged and made anew", why.text);
    CHECK_OK(seal_open(folder.path, again, NULL));
    CHECK(memcmp(one, again, sizeof one) == 0);
    folder_remove(&folder);
}

/* A disk that was full when the hub began. */
static void it_is_written_later_unless_it_is_there(void)
{
    unsigned char one[MANIFEST_KEY_BYTES] = {1, 2, 3}, again[sizeof one];
    struct folder folder;
    struct stat found, later;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(seal_keep(folder.path, one, NULL));
    CHECK_EQUAL(0, stat(folder_file(&folder, "seal"), &found));
    CHECK_OK(seal_keep(folder.path, one, NULL));
    CHECK_EQUAL(0, stat(folder_file(&folder, "seal"), &later));
    CHECK_EQUAL(found.st_ino, later.st_ino);
    CHECK_OK(seal_open(folder.path, again, NULL));
    CHECK(memcmp(one, again, sizeof one) == 0);
    folder_remove(&folder);
}

static void where_it_cannot_be_kept_it_is_good_for_one_life(void)
{
    unsigned char one[MANIFEST_KEY_BYTES] = {0};
    const unsigned char zeros[MANIFEST_KEY_BYTES] = {0};
    struct why why;

    CHECK_STATUS(STATUS_IO, seal_open("/proc/nowhere", one, &why));
    CHECK_CONTAINS("/proc/nowhere/seal", why.text);
    CHECK(memcmp(one, zeros, sizeof one) != 0);
}

void add_store_seal_tests(CU_pSuite suite)
{
    TEST(a_directory_keeps_its_own_and_nobody_else_may_read_it);
    TEST(one_that_is_damaged_is_made_anew);
    TEST(it_is_written_later_unless_it_is_there);
    TEST(where_it_cannot_be_kept_it_is_good_for_one_life);
}
