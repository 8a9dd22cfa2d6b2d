/* What becomes of a run whose files are damaged, cut or gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/store/saver.h"

enum { PATH_BYTES = 160 };

/* What generation 2 of the tests holds. */
static const char *const essential[] = {
    "centre.safetensors", "outer.safetensors", "outer2.safetensors", "state",
    "MANIFEST"};
enum { ESSENTIAL = sizeof essential / sizeof *essential };

/* Two generations: version 3, then 4, with a best centre. */
static bool two_generations(struct saver *saver)
{
    return saver_open(saver) && CHECK_OK(saver_save(saver, 3, 100, 2)) &&
           CHECK_OK(saver_do(saver_job_best(saver, 4, 200, 2, 2)));
}

static void path_to(const struct saver *saver, const char *name,
                    char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/generation-2/%s", saver->folder.path,
                   name);
}

/* Whether a hub goes on from version 3, and says so. */
static bool goes_back(struct saver *saver)
{
    struct centre_loaded *loaded = saver_load(saver);
    bool back = loaded && loaded->version == 3 && loaded->generation == 1 &&
                loaded->saved.theta[0] < 101 &&
                strstr(saver_complaint, "the run goes back") &&
                generation_current(saver->store.directory) == 1;

    centre_loaded_destroy(&loaded);
    return back;
}

/* Whether it goes on from version 4, whatever it says. */
static bool goes_on(struct saver *saver)
{
    struct centre_loaded *loaded = saver_load(saver);
    bool on = loaded && loaded->version == 4 && loaded->generation == 2 &&
              generation_current(saver->store.directory) == 2;

    centre_loaded_destroy(&loaded);
    return on;
}

/* Each byte of a file of generation 2 is changed, one after the other; returns
 * how many changes the hub has not gone back for. */
static unsigned overlooked(struct saver *saver, const char *name,
                           bool (*expected)(struct saver *saver))
{
    char path[PATH_BYTES];
    unsigned count = 0;
    size_t size = 0;
    char *bytes;

    path_to(saver, name, path);
    bytes = file_content(path, &size);
    CHECK(bytes && size > 0);
    for (size_t i = 0; bytes && i < size; i++) {
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
        CHECK(file_fill(path, bytes, size));
        count += !expected(saver);
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
    }
    CHECK(bytes && file_fill(path, bytes, size));
    free(bytes);
    return count;
}

static void any_byte_that_changed_is_noticed_and_the_run_goes_back(void)
{
    struct saver saver;

    if (two_generations(&saver))
        for (unsigned i = 0; i < ESSENTIAL; i++)
            CHECK_EQUAL(0, overlooked(&saver, essential[i], goes_back));
    CHECK(goes_on(&saver));
    saver_close(&saver);
}

static bool goes_on_without_the_best(struct saver *saver)
{
    return goes_on(saver) && strstr(saver_complaint, "best-2.safetensors") &&
           strstr(saver_complaint, "the run goes on without");
}

static void a_best_centre_that_changed_is_noticed_and_done_without(void)
{
    struct saver saver;

    if (two_generations(&saver))
        CHECK_EQUAL(0, overlooked(&saver, "best-2.safetensors",
                                  goes_on_without_the_best));
    saver_close(&saver);
}

/* It stays where somebody may look at it. */
static void a_best_centre_that_is_damaged_is_in_no_later_generation(void)
{
    struct saver saver;
    struct stat found;
    char path[PATH_BYTES];

    if (!two_generations(&saver))
        return;
    path_to(&saver, "best-2.safetensors", path);
    CHECK(file_fill(path, "other", 5));
    CHECK(goes_on_without_the_best(&saver));
    CHECK_OK(saver_save(&saver, 5, 300, 2));
    CHECK(stat(folder_file(&saver.folder, "generation-3/centre.safetensors"),
               &found) == 0);
    CHECK(stat(folder_file(&saver.folder, "generation-3/best-2.safetensors"),
               &found) != 0);
    path_to(&saver, "best-2.safetensors.damaged", path);
    CHECK(stat(path, &found) == 0);
    saver_close(&saver);
}

static void a_file_that_was_cut_or_is_gone_makes_the_run_go_back(void)
{
    struct saver saver;
    char path[PATH_BYTES];

    if (!two_generations(&saver))
        return;
    for (unsigned i = 0; i < ESSENTIAL; i++) {
        size_t size = 0;
        char *bytes;

        path_to(&saver, essential[i], path);
        bytes = file_content(path, &size);
        CHECK(file_fill(path, bytes, 0) && goes_back(&saver));
        CHECK(file_fill(path, bytes, size / 2) && goes_back(&saver));
        CHECK(file_fill(path, bytes, size - 1) && goes_back(&saver));
        CHECK(file_fill(path, bytes, size + 1) && goes_back(&saver));
        CHECK(remove(path) == 0 && goes_back(&saver));
        CHECK(file_fill(path, bytes, size) && goes_on(&saver));
        free(bytes);
    }
    saver_close(&saver);
}

static void the_sentences_say_which_bytes_and_what_is_lost(void)
{
    static const char other_state[] =
        "run 9\nepoch 8589934593\nversion 4\nbest 2 0.26\n";
    struct inventory manifest = {0};
    struct saver saver;
    char path[PATH_BYTES];
    struct why why;

    if (!two_generations(&saver))
        return;
    path_to(&saver, "state", path);
    CHECK(file_fill(path, other_state, sizeof other_state - 1));
    CHECK(goes_back(&saver));
    CHECK_CONTAINS("from version 4 to 3", saver_complaint);
    CHECK_OK(generation_open(saver.store.directory, 2, &manifest, NULL));
    CHECK_STATUS(STATUS_MALFORMED,
                 generation_check(saver.store.directory, 2,
                                  inventory_find(&manifest, "state"), &why));
    CHECK_CONTAINS("state: its bytes 0 to", why.text);
    inventory_free(&manifest);
    saver_close(&saver);
}

static void the_link_is_mended_and_nothing_depends_on_it(void)
{
    struct saver saver;
    const char *link;

    if (!two_generations(&saver))
        return;
    link = folder_file(&saver.folder, "current");
    CHECK(remove(link) == 0 && goes_on(&saver));
    CHECK(remove(link) == 0 && symlink("generation-1", link) == 0 &&
          goes_on(&saver));
    CHECK(remove(link) == 0 && symlink("generation-7", link) == 0 &&
          goes_on(&saver));
    CHECK(remove(link) == 0 && file_fill(link, "x", 1) && goes_on(&saver));
    saver_close(&saver);
}

static void after_going_back_the_run_is_saved_beside_what_it_went_back_to(void)
{
    struct saver saver;
    char path[PATH_BYTES];

    if (!two_generations(&saver))
        return;
    path_to(&saver, "state", path);
    CHECK(file_fill(path, "damaged", 7));
    CHECK(goes_back(&saver));
    CHECK_OK(saver_save(&saver, 5, 300, 0));
    CHECK(file_exists(folder_file(&saver.folder, "generation-1/state")));
    CHECK(!file_exists(folder_file(&saver.folder, "generation-2")));
    CHECK(file_exists(folder_file(&saver.folder, "generation-3/state")));
    saver_close(&saver);
}

static void when_nothing_is_whole_the_sentence_says_what_to_do(void)
{
    struct centre_loaded *loaded = NULL;
    struct saver saver;
    struct why why;

    if (!two_generations(&saver))
        return;
    CHECK(file_fill(folder_file(&saver.folder, "generation-1/state"), "x", 1));
    CHECK(
        file_fill(folder_file(&saver.folder, "generation-2/MANIFEST"), "x", 1));
    CHECK_STATUS(STATUS_MALFORMED,
                 centre_load(&saver.store, saver_complain, &loaded, &why));
    CHECK(!loaded);
    CHECK_CONTAINS("another --directory", why.text);
    CHECK_EQUAL(74, status_exit_code(STATUS_MALFORMED));
    saver_close(&saver);
}

static void what_a_crash_left_half_made_is_cleared_away(void)
{
    struct saver saver;

    if (!two_generations(&saver))
        return;
    CHECK_OK(folder_make(folder_file(&saver.folder, "generation-3.tmp"), NULL));
    CHECK(file_fill(folder_file(&saver.folder, "generation-3.tmp/state"), "x",
                    1));
    centre_close(&saver.store);
    CHECK_OK(centre_open(&saver.store, saver.folder.path, NULL));
    CHECK(!file_exists(folder_file(&saver.folder, "generation-3.tmp")));
    CHECK(goes_on(&saver));
    saver_close(&saver);
}

/* It may be all that fills the disk. */
static void what_is_half_made_is_cleared_away_where_nothing_can_be_written(void)
{
    struct saver saver;

    if (!two_generations(&saver))
        return;
    CHECK_OK(folder_make(folder_file(&saver.folder, "generation-3.tmp"), NULL));
    CHECK_OK(folder_make(folder_file(&saver.folder, "lives.tmp"), NULL));
    centre_close(&saver.store);
    CHECK_OK(centre_open(&saver.store, saver.folder.path, NULL));
    CHECK(!file_exists(folder_file(&saver.folder, "generation-3.tmp")));
    saver_close(&saver);
}

void add_store_damage_tests(CU_pSuite suite)
{
    TEST(any_byte_that_changed_is_noticed_and_the_run_goes_back);
    TEST(a_best_centre_that_changed_is_noticed_and_done_without);
    TEST(a_best_centre_that_is_damaged_is_in_no_later_generation);
    TEST(a_file_that_was_cut_or_is_gone_makes_the_run_go_back);
    TEST(the_sentences_say_which_bytes_and_what_is_lost);
    TEST(the_link_is_mended_and_nothing_depends_on_it);
    TEST(after_going_back_the_run_is_saved_beside_what_it_went_back_to);
    TEST(when_nothing_is_whole_the_sentence_says_what_to_do);
    TEST(what_a_crash_left_half_made_is_cleared_away);
    TEST(what_is_half_made_is_cleared_away_where_nothing_can_be_written);
}
