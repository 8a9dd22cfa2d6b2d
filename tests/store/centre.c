#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/check.h"
#include "tests/store/saver.h"

static void a_saved_centre_is_loaded(void)
{
    struct saver saver;
    struct centre_loaded *loaded;

    if (!saver_open(&saver))
        return;
    CHECK_OK(saver_save(&saver, 3, 100, 2));
    loaded = saver_load(&saver);
    if (CHECK(loaded) && loaded) {
        CHECK_EQUAL(9, loaded->run);
        CHECK_EQUAL(3, loaded->version);
        CHECK_EQUAL(1, loaded->generation);
        CHECK_CONTAINS("epoch 8589934593\nversion 3\n", loaded->saved.state);
        CHECK_OK(schema_compare(saver.schema, loaded->saved.schema, NULL));
        for (int i = 0; i < SAVER_ELEMENTS; i++)
            CHECK_EQUAL(100 + i, loaded->saved.theta[i]);
        if (CHECK(loaded->saved.slot[0]))
            CHECK_EQUAL(-94, loaded->saved.slot[0][SAVER_ELEMENTS - 1]);
        if (CHECK(loaded->saved.slot[1]))
            CHECK_EQUAL(-194, loaded->saved.slot[1][SAVER_ELEMENTS - 1]);
    }
    centre_loaded_destroy(&loaded);
    CHECK(!loaded);
    saver_close(&saver);
}

static void a_chunk_of_a_slot_that_has_not_moved_is_zeros(void)
{
    struct saver saver;
    struct centre_loaded *loaded;
    struct job *job;

    if (!saver_open(&saver))
        return;
    job = saver_job(&saver, 3, 100, 2);
    blob_unref(&job->in[SAVER_CHUNKS + 1].blob);
    job_run(job);
    CHECK_OK(job->status);
    job_destroy(&job);
    loaded = saver_load(&saver);
    CHECK(loaded && loaded->saved.slot[0]);
    if (loaded && loaded->saved.slot[0]) {
        CHECK_EQUAL(-98, loaded->saved.slot[0][SAVER_CHUNK - 1]);
        CHECK_EQUAL(0, loaded->saved.slot[0][SAVER_CHUNK]);
        CHECK_EQUAL(0, loaded->saved.slot[0][SAVER_CHUNK + SAVER_CHUNK - 1]);
        CHECK_EQUAL(-94, loaded->saved.slot[0][SAVER_CHUNK + SAVER_CHUNK]);
    }
    centre_loaded_destroy(&loaded);
    saver_close(&saver);
}

static void a_version_without_slots_is_loaded_without(void)
{
    struct saver saver;
    struct centre_loaded *loaded;

    if (!saver_open(&saver))
        return;
    CHECK_OK(saver_save(&saver, 3, 100, 2));
    CHECK_OK(saver_save(&saver, 4, 200, 0));
    loaded = saver_load(&saver);
    if (CHECK(loaded) && loaded) {
        CHECK_EQUAL(4, loaded->version);
        CHECK_EQUAL(200, loaded->saved.theta[0]);
        CHECK(!loaded->saved.slot[0] && !loaded->saved.slot[1]);
    }
    centre_loaded_destroy(&loaded);
    saver_close(&saver);
}

/* Its size is what the manifest says, whose checksums have been compared. */
static void a_state_of_any_size_is_loaded(void)
{
    const size_t size = (64 << 20) + 1;
    struct saver saver;
    struct centre_loaded *loaded;
    struct job *job;
    struct blob **state, *large;

    if (!saver_open(&saver))
        return;
    job = saver_job(&saver, 3, 100, 0);
    state = &job->in[SAVER_CHUNKS].blob;
    large = blob_need(saver.pool, size);
    memset(large->bytes, 'x', size);
    memcpy(large->bytes, (*state)->bytes, (*state)->size);
    blob_unref(state);
    *state = large;
    CHECK_OK(saver_do(job));
    loaded = saver_load(&saver);
    if (CHECK(loaded) && loaded)
        CHECK_EQUAL(size, strlen(loaded->saved.state));
    centre_loaded_destroy(&loaded);
    saver_close(&saver);
}

static void two_generations_are_kept_and_current_is_the_newest(void)
{
    struct saver saver;
    struct safetensors *centre = NULL;

    if (!saver_open(&saver))
        return;
    for (unsigned i = 1; i <= 4; i++)
        CHECK_OK(saver_save(&saver, i, 100 * (float)i, 1));
    CHECK(!file_exists(folder_file(&saver.folder, "generation-2")));
    CHECK(file_exists(folder_file(&saver.folder, "generation-3/MANIFEST")));
    CHECK(file_exists(folder_file(&saver.folder, "generation-4/MANIFEST")));
    CHECK(!file_exists(folder_file(&saver.folder, "generation-5.tmp")));
    CHECK_OK(safetensors_read(
        folder_file(&saver.folder, "current/centre.safetensors"), &centre,
        NULL));
    if (centre) {
        CHECK_EQUAL(400, centre->values[0]);
        CHECK_TEXT("4", safetensors_value(centre, "version"));
        CHECK_TEXT("none", safetensors_value(centre, "score"));
        CHECK_TEXT("0000000000000009", safetensors_value(centre, "run"));
        CHECK_TEXT("pt", safetensors_value(centre, "format"));
    }
    safetensors_destroy(&centre);
    saver_close(&saver);
}

/* The first value of the file, or -1. */
static double first_of(const struct saver *saver, const char *name)
{
    struct safetensors *file = NULL;
    double value = -1;

    if (safetensors_read(folder_file(&saver->folder, name), &file, NULL) ==
        STATUS_OK)
        value = (double)file->values[0];
    safetensors_destroy(&file);
    return value;
}

static void the_best_centres_are_kept_from_one_generation_to_the_next(void)
{
    struct saver saver;
    struct stat old, new;

    if (!saver_open(&saver))
        return;
    saver.store.best = 2;
    CHECK_OK(saver_save(&saver, 1, 100, 0));
    CHECK(!file_exists(folder_file(&saver.folder, "best.safetensors")));
    CHECK_OK(saver_do(saver_job_best(&saver, 3, 300, 2, 2)));
    CHECK_NEAR(20, first_of(&saver, "best.safetensors"), 0);
    CHECK_OK(saver_save(&saver, 4, 400, 0));
    CHECK_OK(saver_do(saver_job_best(&saver, 6, 600, 0, 5)));
    CHECK_NEAR(50, first_of(&saver, "best.safetensors"), 0);
    CHECK_NEAR(20, first_of(&saver, "current/best-2.safetensors"), 0);
    CHECK_EQUAL(
        0, stat(folder_file(&saver.folder, "generation-3/best-2.safetensors"),
                &old));
    CHECK_EQUAL(
        0, stat(folder_file(&saver.folder, "generation-4/best-2.safetensors"),
                &new));
    CHECK_EQUAL(old.st_ino, new.st_ino);
    CHECK_OK(saver_do(saver_job_best(&saver, 8, 800, 0, 7)));
    CHECK_NEAR(70, first_of(&saver, "best.safetensors"), 0);
    CHECK_NEAR(50, first_of(&saver, "current/best-5.safetensors"), 0);
    CHECK_NEAR(-1, first_of(&saver, "current/best-2.safetensors"), 0);
    saver_close(&saver);
}

static void a_best_centre_that_is_gone_is_done_without(void)
{
    struct saver saver;
    struct centre_loaded *loaded;

    if (!saver_open(&saver))
        return;
    CHECK_OK(saver_do(saver_job_best(&saver, 3, 300, 2, 2)));
    CHECK_EQUAL(
        0, remove(folder_file(&saver.folder, "current/best-2.safetensors")));
    loaded = saver_load(&saver);
    CHECK(loaded && loaded->version == 3);
    CHECK_CONTAINS("the run goes on without", saver_complaint);
    centre_loaded_destroy(&loaded);
    CHECK_OK(saver_save(&saver, 4, 400, 0));
    loaded = saver_load(&saver);
    CHECK(loaded && loaded->version == 4);
    CHECK_TEXT("", saver_complaint);
    centre_loaded_destroy(&loaded);
    saver_close(&saver);
}

static void a_save_that_fails_says_why_and_leaves_the_last_one(void)
{
    struct saver saver;
    struct centre_loaded *loaded;
    struct job *job;

    if (!saver_open(&saver))
        return;
    CHECK_OK(saver_save(&saver, 3, 100, 0));
    job = saver_job(&saver, 4, 200, 0);
    limit_file_size(100);
    job_run(job);
    unlimit_file_size();
    CHECK_STATUS(STATUS_IO, job->status);
    if (CHECK(job->out[0]) && job->out[0]) {
        CHECK_CONTAINS("centre.safetensors", (char *)job->out[0]->bytes);
        CHECK_CONTAINS("File too large", (char *)job->out[0]->bytes);
    }
    job_destroy(&job);
    CHECK(!file_exists(folder_file(&saver.folder, "generation-2")));
    CHECK(!file_exists(folder_file(&saver.folder, "generation-2.tmp")));
    loaded = saver_load(&saver);
    CHECK(loaded && loaded->version == 3);
    centre_loaded_destroy(&loaded);
    CHECK_OK(saver_save(&saver, 5, 200, 0));
    saver_close(&saver);
}

static void a_folder_that_cannot_be_read_is_none_that_is_empty(void)
{
    struct centre_loaded *loaded = NULL;
    struct saver saver;
    struct job *job;
    struct why why;

    if (!saver_open(&saver))
        return;
    CHECK_OK(saver_save(&saver, 3, 100, 0));
    job = saver_job(&saver, 4, 200, 0);
    limit_files();
    job_run(job);
    CHECK_STATUS(STATUS_IO,
                 centre_load(&saver.store, saver_complain, &loaded, &why));
    unlimit_files();
    CHECK(!loaded);
    CHECK_CONTAINS("cannot read the folder", why.text);
    CHECK_STATUS(STATUS_IO, job->status);
    CHECK(job->out[0] && strstr((char *)job->out[0]->bytes, why.text));
    job_destroy(&job);
    loaded = saver_load(&saver);
    CHECK(loaded && loaded->version == 3);
    centre_loaded_destroy(&loaded);
    saver_close(&saver);
}

/* Somebody may have put it there. */
static void a_generation_that_a_save_has_not_made_is_left_alone(void)
{
    const struct part part = {"x", 1};
    struct generation generation;
    struct saver saver;
    struct why why;

    if (!saver_open(&saver))
        return;
    CHECK_OK(generation_begin(&generation, saver.folder.path, &why));
    CHECK_OK(generation_add(&generation, "state", &part, 1, &why));
    CHECK_OK(folder_make(folder_file(&saver.folder, "generation-1"), &why));
    CHECK(file_fill(folder_file(&saver.folder, "generation-1/a"), "x", 1));
    CHECK_STATUS(STATUS_IO, generation_end(&generation, &why));
    CHECK(file_exists(folder_file(&saver.folder, "generation-1/a")));
    CHECK(!file_exists(folder_file(&saver.folder, "generation-1.tmp")));
    saver_close(&saver);
}

static void two_hubs_do_not_share_a_folder(void)
{
    struct saver saver;
    struct centre_store other;
    struct why why;

    if (!saver_open(&saver))
        return;
    CHECK_STATUS(STATUS_UNAVAILABLE,
                 centre_open(&other, saver.folder.path, &why));
    CHECK_CONTAINS("another hub is using the folder", why.text);
    centre_close(&saver.store);
    CHECK_OK(centre_open(&other, saver.folder.path, &why));
    centre_close(&other);
    saver_close(&saver);
}

static void an_empty_folder_holds_no_run(void)
{
    struct saver saver;
    struct centre_loaded *loaded = NULL;
    struct why why;

    if (!saver_open(&saver))
        return;
    CHECK_STATUS(STATUS_UNAVAILABLE,
                 centre_load(&saver.store, saver_complain, &loaded, &why));
    CHECK_CONTAINS("holds no run", why.text);
    CHECK(!loaded);
    saver_close(&saver);
}

static void a_folder_that_cannot_be_made_is_named(void)
{
    struct centre_store store;
    struct why why;

    CHECK_STATUS(STATUS_IO, centre_open(&store, "/proc/nowhere/run", &why));
    CHECK_CONTAINS("cannot make the folder /proc/nowhere", why.text);
    centre_close(&store);
}

void add_store_centre_tests(CU_pSuite suite)
{
    TEST(a_saved_centre_is_loaded);
    TEST(a_chunk_of_a_slot_that_has_not_moved_is_zeros);
    TEST(a_version_without_slots_is_loaded_without);
    TEST(a_state_of_any_size_is_loaded);
    TEST(two_generations_are_kept_and_current_is_the_newest);
    TEST(the_best_centres_are_kept_from_one_generation_to_the_next);
    TEST(a_best_centre_that_is_gone_is_done_without);
    TEST(a_save_that_fails_says_why_and_leaves_the_last_one);
    TEST(a_folder_that_cannot_be_read_is_none_that_is_empty);
    TEST(a_generation_that_a_save_has_not_made_is_left_alone);
    TEST(two_hubs_do_not_share_a_folder);
    TEST(an_empty_folder_holds_no_run);
    TEST(a_folder_that_cannot_be_made_is_named);
}
