/* Whether there is room for what a run saves. */
#include "store/room.h"

#include <sys/statvfs.h>

#include "tests/check.h"
#include "tests/store/folder.h"

static void what_is_needed_is_three_generations_and_the_best(void)
{
    struct room_plan plan = {.model = 100, .slots = 1, .best = 3};

    CHECK_EQUAL(600 + 400, room_needed(&plan));
}

static void a_disk_that_is_too_small_is_told_before_it_is_full(void)
{
    struct room_plan plan = {.model = 1000, .slots = 2, .best = 3};
    struct folder folder;
    struct statvfs disk;
    struct why why = {""};

    CHECK(folder_new(&folder));
    CHECK_EQUAL(0, statvfs(folder.path, &disk));
    CHECK(room_suffices(folder.path, &plan, &why));
    plan.model = (uint64_t)disk.f_bavail * disk.f_frsize / 13 + (64 << 20);
    CHECK(!room_suffices(folder.path, &plan, &why));
    CHECK_CONTAINS("saving this model may take", why.text);
    CHECK_CONTAINS(folder.path, why.text);
    CHECK(room_suffices("/no/such/folder", &plan, &why));
    folder_remove(&folder);
}

void add_store_room_tests(CU_pSuite suite)
{
    TEST(what_is_needed_is_three_generations_and_the_best);
    TEST(a_disk_that_is_too_small_is_told_before_it_is_full);
}
