#include "store/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/store/folder.h"

enum { PATH_BYTES = 128 };

static enum status write_text(const char *path, const char *text,
                              struct why *why)
{
    struct part part = {text, strlen(text)};

    return file_replace(path, &part, 1, why);
}

static bool holds(const char *path, const char *text)
{
    size_t size = 0;
    char *content = file_content(path, &size);
    bool same = content && size == strlen(text) && !strcmp(content, text);

    free(content);
    return same;
}

static void parts_are_written_in_a_row(void)
{
    struct folder folder;
    const struct part parts[] = {{"on", 2}, {"", 0}, {"ly", 2}};

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(file_replace(folder_file(&folder, "a"), parts, 3, NULL));
    CHECK(holds(folder_file(&folder, "a"), "only"));
    folder_remove(&folder);
}

static void a_file_is_replaced_and_nothing_is_left_beside_it(void)
{
    struct folder folder;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(write_text(folder_file(&folder, "a"), "old and long", NULL));
    CHECK_OK(write_text(folder_file(&folder, "a"), "new", NULL));
    CHECK(holds(folder_file(&folder, "a"), "new"));
    CHECK(!file_exists(folder_file(&folder, "a.tmp")));
    folder_remove(&folder);
}

static void a_full_disk_leaves_the_old_file(void)
{
    struct folder folder;
    struct why why;
    char big[1000];

    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = '\0';
    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(write_text(folder_file(&folder, "a"), "old", NULL));
    limit_file_size(100);
    CHECK_STATUS(STATUS_IO, write_text(folder_file(&folder, "a"), big, &why));
    unlimit_file_size();
    CHECK_CONTAINS("/a", why.text);
    CHECK_CONTAINS("File too large", why.text);
    CHECK(holds(folder_file(&folder, "a"), "old"));
    CHECK(!file_exists(folder_file(&folder, "a.tmp")));
    folder_remove(&folder);
}

static void what_cannot_be_written_is_named(void)
{
    struct why why;

    CHECK_STATUS(STATUS_IO, write_text("/nowhere/at/all", "x", &why));
    CHECK_CONTAINS("/nowhere/at/all", why.text);
    CHECK_CONTAINS("No such file or directory", why.text);
}

static void to_try_a_file_leaves_it_as_it_is(void)
{
    struct folder folder;
    struct why why;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(file_try(folder_file(&folder, "a"), &why));
    CHECK(!file_exists(folder_file(&folder, "a")));
    CHECK_OK(write_text(folder_file(&folder, "a"), "kept", NULL));
    CHECK_OK(file_try(folder_file(&folder, "a"), &why));
    CHECK(holds(folder_file(&folder, "a"), "kept"));
    CHECK(!file_exists(folder_file(&folder, "a.tmp")));
    CHECK_EQUAL(STATUS_IO, file_try(folder_file(&folder, "no/a"), &why));
    CHECK_CONTAINS("no/a: there is no folder ", why.text);
    CHECK_EQUAL(STATUS_IO, file_try(folder_file(&folder, "."), &why));
    folder_remove(&folder);
}

static void a_file_is_not_moved_over_a_folder(void)
{
    struct folder folder;
    struct why why;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(folder_make(folder_file(&folder, "a"), NULL));
    CHECK_STATUS(STATUS_IO, write_text(folder_file(&folder, "a"), "x", &why));
    CHECK_CONTAINS("Is a directory", why.text);
    CHECK(!file_exists(folder_file(&folder, "a.tmp")));
    folder_remove(&folder);
}

static void folders_are_made_with_those_they_are_in(void)
{
    struct folder folder;
    struct why why;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(folder_make(folder_file(&folder, "x//y/"), NULL));
    CHECK_OK(folder_make(folder_file(&folder, "x/y"), NULL));
    CHECK(file_exists(folder_file(&folder, "x/y")));
    CHECK(file_fill(folder_file(&folder, "f"), "", 0));
    CHECK_STATUS(STATUS_IO, folder_make(folder_file(&folder, "f/y"), &why));
    CHECK_CONTAINS("/f: Not a directory", why.text);
    (void)remove(folder_file(&folder, "x/y"));
    folder_remove(&folder);
}

/* As somebody does who may write in the folder. */
static void a_link_beside_the_file_is_not_followed(void)
{
    struct folder folder;
    char victim[FILE_PATH_BYTES];
    const struct part part = {"new", 3};

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(victim, sizeof victim, "%s", folder_file(&folder, "v"));
    CHECK(file_fill(victim, "old", 3));
    CHECK_EQUAL(0, symlink(victim, folder_file(&folder, "a.tmp")));
    CHECK_OK(file_replace_lightly(folder_file(&folder, "a"), &part, 1, NULL));
    CHECK(holds(folder_file(&folder, "a"), "new"));
    CHECK_EQUAL(0, symlink(victim, folder_file(&folder, "a.tmp")));
    CHECK_OK(file_replace(folder_file(&folder, "a"), &part, 1, NULL));
    CHECK(holds(victim, "old"));
    folder_remove(&folder);
}

static bool still_a_fifo(const char *path)
{
    struct stat there;

    return lstat(path, &there) == 0 && S_ISFIFO(there.st_mode);
}

/* As root /dev/null itself would else become a file. */
static void what_is_no_plain_file_is_written_to_and_not_replaced(void)
{
    struct folder folder;
    struct why why;
    char got[8] = "";
    int pipe;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_EQUAL(0, mkfifo(folder_file(&folder, "a"), S_IRUSR | S_IWUSR));
    CHECK_EQUAL(0, symlink("/dev/full", folder_file(&folder, "l")));
    CHECK_STATUS(STATUS_IO, write_text(folder_file(&folder, "a"), "x", &why));
    CHECK_CONTAINS("a pipe that nobody reads", why.text);
    pipe = open(folder_file(&folder, "a"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK(pipe >= 0);
    CHECK_OK(file_try(folder_file(&folder, "a"), &why));
    CHECK_OK(write_text(folder_file(&folder, "a"), "new", &why));
    CHECK_EQUAL(3, read(pipe, got, sizeof got));
    CHECK(!strcmp(got, "new") && still_a_fifo(folder_file(&folder, "a")));
    (void)close(pipe);
    CHECK_OK(file_try(folder_file(&folder, "l"), &why));
    CHECK_STATUS(STATUS_IO, write_text(folder_file(&folder, "l"), "x", &why));
    CHECK_CONTAINS("No space left", why.text);
    CHECK(!file_exists(folder_file(&folder, "l.tmp")));
    folder_remove(&folder);
}

static void a_saved_file_that_is_a_fifo_is_refused_and_not_waited_for(void)
{
    struct folder folder;
    struct why why;
    char *bytes = NULL;
    size_t size;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_EQUAL(0, mkfifo(folder_file(&folder, "a"), S_IRUSR | S_IWUSR));
    CHECK_STATUS(STATUS_IO, file_read_saved(folder_file(&folder, "a"), 100,
                                            &bytes, &size, &why));
    CHECK_CONTAINS("no plain file", why.text);
    CHECK(!bytes);
    folder_remove(&folder);
}

static void a_former_file_makes_way_and_stays(void)
{
    struct why why = {""};
    struct folder folder;
    char path[PATH_BYTES], first[PATH_BYTES], second[PATH_BYTES];

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(path, sizeof path, "%s", folder_file(&folder, "a"));
    (void)snprintf(first, sizeof first, "%s", folder_file(&folder, "a.1"));
    (void)snprintf(second, sizeof second, "%s", folder_file(&folder, "a.2"));
    CHECK_OK(file_make_way(path, &why));
    CHECK_OK(write_text(path, "one", &why));
    CHECK_OK(file_make_way(path, &why));
    CHECK(access(path, F_OK) != 0 && holds(first, "one"));
    CHECK_OK(write_text(path, "", &why));
    CHECK_OK(file_make_way(path, &why)); /* nothing to keep */
    CHECK(access(path, F_OK) == 0);
    CHECK_OK(write_text(path, "two", &why));
    CHECK_OK(file_make_way(path, &why));
    CHECK(holds(first, "one") && holds(second, "two"));
    CHECK_OK(file_make_way("/dev/null", &why));
    folder_remove(&folder);
}

void add_store_file_tests(CU_pSuite suite)
{
    TEST(parts_are_written_in_a_row);
    TEST(a_file_is_replaced_and_nothing_is_left_beside_it);
    TEST(a_full_disk_leaves_the_old_file);
    TEST(what_cannot_be_written_is_named);
    TEST(to_try_a_file_leaves_it_as_it_is);
    TEST(a_file_is_not_moved_over_a_folder);
    TEST(folders_are_made_with_those_they_are_in);
    TEST(a_link_beside_the_file_is_not_followed);
    TEST(what_is_no_plain_file_is_written_to_and_not_replaced);
    TEST(a_saved_file_that_is_a_fifo_is_refused_and_not_waited_for);
    TEST(a_former_file_makes_way_and_stays);
}
