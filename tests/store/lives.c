/* How a hub counts its lives, and what it does where it cannot. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/store/saver.h"

/* Opens the store again; its life. */
static uint64_t next_life(struct saver *saver)
{
    uint64_t life;

    centre_close(&saver->store);
    CHECK_OK(centre_open(&saver->store, saver->folder.path, NULL));
    saver->store.schema = saver->schema;
    life = saver->store.life;
    return life;
}

static void each_life_is_more_than_all_before(void)
{
    struct saver saver;
    uint64_t life;

    if (!saver_open(&saver))
        return;
    life = saver.store.life;
    CHECK(life >= 1);
    CHECK(next_life(&saver) > life);
    CHECK(file_fill(folder_file(&saver.folder, "lives"), "41000\n", 6));
    CHECK(next_life(&saver) > 41000);
    CHECK_OK(saver_save(&saver, 3, 100, 0)); /* whose epoch is of life 2 */
    CHECK_EQUAL(0, remove(folder_file(&saver.folder, "lives")));
    life = next_life(&saver);
    CHECK(life > 2 && life < 41000);
    CHECK(file_fill(folder_file(&saver.folder, "lives"), "\x80x", 2));
    CHECK(next_life(&saver) > 2);
    saver_close(&saver);
}

/* A disk that was full when the hub began. */
static void a_life_that_could_not_be_counted_is_once_something_is_saved(void)
{
    struct saver saver;
    uint64_t life;

    if (!saver_open(&saver))
        return;
    life = saver.store.life = 5000;
    CHECK_EQUAL(0, remove(folder_file(&saver.folder, "lives")));
    CHECK_OK(saver_save(&saver, 3, 100, 0));
    CHECK(next_life(&saver) > life);
    saver_close(&saver);
}

/* As of a hub that was lost and of the one that took over from it. */
static void two_that_count_on_from_one_life_do_not_come_to_the_same(void)
{
    struct saver one, other;
    bool differ = false;

    if (!saver_open(&one))
        return;
    if (saver_open(&other)) {
        for (int i = 0; i < 16 && !differ; i++)
            differ = next_life(&one) != next_life(&other);
        CHECK(differ);
        saver_close(&other);
    }
    saver_close(&one);
}

static void after_the_last_life_comes_the_last_one_again(void)
{
    struct saver saver;

    if (!saver_open(&saver))
        return;
    CHECK(file_fill(folder_file(&saver.folder, "lives"), "4294967294\n", 11));
    CHECK_EQUAL(UINT32_MAX, next_life(&saver));
    CHECK_EQUAL(UINT32_MAX, next_life(&saver));
    saver_close(&saver);
}

/* The life that the file says. */
static uint64_t written_life(const struct saver *saver)
{
    size_t size;
    char *text = file_content(folder_file(&saver->folder, "lives"), &size);
    uint64_t life = text ? strtoull(text, NULL, 10) : 0;

    free(text);
    return life;
}

/* No other file can be made, as on a full disk. */
static void a_life_is_counted_where_there_is_no_room_for_another_file(void)
{
    struct saver saver;
    uint64_t life;

    if (!saver_open(&saver))
        return;
    CHECK_EQUAL(0, mkdir(folder_file(&saver.folder, "lives.tmp"), S_IRWXU));
    life = next_life(&saver);
    CHECK_EQUAL(life, written_life(&saver));
    CHECK_TEXT("", saver.store.trouble.text);
    CHECK_EQUAL(0, rmdir(folder_file(&saver.folder, "lives.tmp")));
    saver_close(&saver);
}

static void a_hub_begins_where_nothing_can_be_written_and_says_so(void)
{
    struct saver saver;
    uint64_t life;

    if (!saver_open(&saver))
        return;
    life = saver.store.life;
    CHECK_OK(saver_save(&saver, 3, 100, 0));
    CHECK_EQUAL(0, remove(folder_file(&saver.folder, "lives")));
    CHECK_EQUAL(0, mkdir(folder_file(&saver.folder, "lives"), S_IRWXU));
    CHECK(next_life(&saver) > 2 && life > 0);
    CHECK_CONTAINS("make room", saver.store.trouble.text);
    CHECK_EQUAL(0, rmdir(folder_file(&saver.folder, "lives")));
    saver_close(&saver);
}

static void what_is_no_file_in_the_folder_is_not_waited_for(void)
{
    struct saver saver;

    if (!saver_open(&saver))
        return;
    CHECK_EQUAL(0, remove(folder_file(&saver.folder, "lives")));
    CHECK_EQUAL(0, mkfifo(folder_file(&saver.folder, "lives"), S_IRWXU));
    CHECK(next_life(&saver) >= 1);
    saver_close(&saver);
}

/* Who may read a file may lock it. */
static void nobody_else_may_open_the_lock(void)
{
    struct saver saver;
    struct stat found;

    if (!saver_open(&saver))
        return;
    CHECK_EQUAL(0, chmod(folder_file(&saver.folder, "lock"), 0644));
    CHECK(next_life(&saver) >= 1);
    CHECK_EQUAL(0, stat(folder_file(&saver.folder, "lock"), &found));
    CHECK_EQUAL(0600, found.st_mode & 0777);
    saver_close(&saver);
}

void add_store_lives_tests(CU_pSuite suite)
{
    TEST(each_life_is_more_than_all_before);
    TEST(a_life_that_could_not_be_counted_is_once_something_is_saved);
    TEST(two_that_count_on_from_one_life_do_not_come_to_the_same);
    TEST(after_the_last_life_comes_the_last_one_again);
    TEST(a_life_is_counted_where_there_is_no_room_for_another_file);
    TEST(a_hub_begins_where_nothing_can_be_written_and_says_so);
    TEST(what_is_no_file_in_the_folder_is_not_waited_for);
    TEST(nobody_else_may_open_the_lock);
}
