#include "store/centre.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/store/folder.h"

enum { ELEMENTS = 7, CHUNK = 3, CHUNKS = 3 };

static const char state_of_3[] = "run 9\nversion 3\nbest 3 0.25\n";

/* A store in a folder of its own, with a model of three chunks. */
struct fixture {
    struct folder folder;
    struct centre_store store;
    struct schema *schema;
    struct pool *pool;
};

static bool set_up(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->pool = pool_new();
    fixture->schema = schema_new();
    if (!CHECK(folder_new(&fixture->folder)) ||
        !CHECK_OK(schema_add(fixture->schema, "w", 1,
                             (uint64_t[]){ELEMENTS}, NULL)))
        return false;
    if (!CHECK_OK(centre_open(&fixture->store, fixture->folder.path, NULL)))
        return false;
    fixture->store.run = 9;
    fixture->store.schema = fixture->schema;
    return true;
}

static void tear_down(struct fixture *fixture)
{
    centre_close(&fixture->store);
    folder_remove(&fixture->folder);
    schema_destroy(&fixture->schema);
    pool_destroy(&fixture->pool);
}

static struct blob *chunk_of(struct fixture *fixture, uint32_t chunk,
                             float value)
{
    size_t count = chunk_length(ELEMENTS, CHUNK, chunk);
    struct blob *blob = blob_new(fixture->pool, count * sizeof(float));

    for (size_t i = 0; i < count; i++)
        blob_floats(blob)[i] = value + (float)((size_t)chunk * CHUNK + i);
    return blob;
}

static struct blob *blob_of(struct fixture *fixture, const char *text)
{
    struct blob *blob = blob_new(fixture->pool, strlen(text));

    memcpy(blob->bytes, text, blob->size);
    return blob;
}

/* Centre values begin at `value`, those of planes at -value, -2 value. */
static struct job *save_job(struct fixture *fixture, double version,
                            float value, unsigned planes)
{
    struct job *job =
        job_new(&centre_save, fixture->pool, (1 + planes) * CHUNKS + 1);

    for (uint32_t i = 0; i < CHUNKS; i++) {
        job->in[i].blob = chunk_of(fixture, i, value);
        for (unsigned plane = 1; plane <= planes; plane++)
            job->in[(size_t)plane * CHUNKS + i].blob =
                chunk_of(fixture, i, -(float)plane * value);
    }
    job->in[(size_t)(1 + planes) * CHUNKS].blob = blob_of(fixture, state_of_3);
    job->context = &fixture->store;
    job->extent.elements = ELEMENTS;
    job->number[0] = version;
    return job;
}

static enum status save(struct fixture *fixture, double version, float value,
                        unsigned planes)
{
    struct job *job = save_job(fixture, version, value, planes);
    enum status status;

    job_run(job);
    status = job->status;
    job_destroy(&job);
    return status;
}

static struct centre_loaded *load(struct fixture *fixture)
{
    struct centre_loaded *loaded = NULL;

    CHECK_OK(centre_load(fixture->folder.path, &loaded, NULL));
    return loaded;
}

static void a_saved_centre_is_loaded(void)
{
    struct fixture fixture;
    struct centre_loaded *loaded;

    if (!set_up(&fixture))
        return;
    CHECK_OK(save(&fixture, 3, 100, 2));
    loaded = load(&fixture);
    if (CHECK(loaded) && loaded) {
        CHECK_EQUAL(9, loaded->run);
        CHECK_EQUAL(3, loaded->version);
        CHECK_TEXT(state_of_3, loaded->saved.state);
        CHECK_OK(schema_compare(fixture.schema, loaded->saved.schema, NULL));
        for (int i = 0; i < ELEMENTS; i++)
            CHECK_EQUAL(100 + i, loaded->saved.theta[i]);
        if (CHECK(loaded->saved.plane[0]))
            CHECK_EQUAL(-94, loaded->saved.plane[0][ELEMENTS - 1]);
        if (CHECK(loaded->saved.plane[1]))
            CHECK_EQUAL(-194, loaded->saved.plane[1][ELEMENTS - 1]);
    }
    centre_loaded_destroy(&loaded);
    CHECK(!loaded);
    tear_down(&fixture);
}

static void a_chunk_of_a_plane_that_has_not_moved_is_zeros(void)
{
    struct fixture fixture;
    struct centre_loaded *loaded;
    struct job *job;

    if (!set_up(&fixture))
        return;
    job = save_job(&fixture, 3, 100, 2);
    blob_unref(&job->in[CHUNKS + 1].blob);
    job_run(job);
    CHECK_OK(job->status);
    job_destroy(&job);
    loaded = load(&fixture);
    CHECK(loaded && loaded->saved.plane[0]);
    if (loaded && loaded->saved.plane[0]) {
        CHECK_EQUAL(-98, loaded->saved.plane[0][CHUNK - 1]);
        CHECK_EQUAL(0, loaded->saved.plane[0][CHUNK]);
        CHECK_EQUAL(0, loaded->saved.plane[0][CHUNK + CHUNK - 1]);
        CHECK_EQUAL(-94, loaded->saved.plane[0][CHUNK + CHUNK]);
    }
    centre_loaded_destroy(&loaded);
    tear_down(&fixture);
}

/* As when a hub dies after it has written them, before the centre. */
static void planes_of_a_newer_version_are_not_used(void)
{
    struct fixture fixture;
    struct centre_loaded *loaded;
    char old[256], new[256];

    if (!set_up(&fixture))
        return;
    CHECK_OK(save(&fixture, 3, 100, 2));
    (void)snprintf(old, sizeof old, "%s",
                   folder_file(&fixture.folder, "outer2.safetensors"));
    (void)snprintf(new, sizeof new, "%s",
                   folder_file(&fixture.folder, "outer2.of.3"));
    CHECK_EQUAL(0, rename(old, new));
    CHECK_OK(save(&fixture, 4, 200, 2));
    CHECK_EQUAL(0, rename(new, old));
    loaded = load(&fixture);
    CHECK(loaded && loaded->version == 4 && !loaded->saved.plane[0] &&
          !loaded->saved.plane[1]);
    centre_loaded_destroy(&loaded);
    tear_down(&fixture);
}

static void planes_of_an_older_version_are_not_used(void)
{
    struct fixture fixture;
    struct centre_loaded *loaded;

    if (!set_up(&fixture))
        return;
    CHECK_OK(save(&fixture, 3, 100, 2));
    CHECK_OK(save(&fixture, 4, 200, 0));
    loaded = load(&fixture);
    if (CHECK(loaded) && loaded) {
        CHECK_EQUAL(4, loaded->version);
        CHECK_EQUAL(200, loaded->saved.theta[0]);
        CHECK(!loaded->saved.plane[0] && !loaded->saved.plane[1]);
    }
    centre_loaded_destroy(&loaded);
    tear_down(&fixture);
}

static void the_best_centre_has_a_file_of_its_own(void)
{
    struct fixture fixture;
    struct safetensors *best = NULL;
    struct job *job;

    if (!set_up(&fixture))
        return;
    job = save_job(&fixture, 3, 100, 0);
    job->number[1] = 1;
    job_run(job);
    CHECK_OK(job->status);
    job_destroy(&job);
    CHECK(!file_exists(folder_file(&fixture.folder, "centre.safetensors")));
    CHECK_OK(save(&fixture, 4, 200, 0));
    CHECK_OK(safetensors_read(
        folder_file(&fixture.folder, "best.safetensors"), &best, NULL));
    if (CHECK(best) && best) {
        CHECK_EQUAL(100, best->values[0]);
        CHECK_TEXT("3", safetensors_value(best, "version"));
        CHECK_TEXT("0.25", safetensors_value(best, "score"));
        CHECK_TEXT("pt", safetensors_value(best, "format"));
    }
    safetensors_destroy(&best);
    tear_down(&fixture);
}

static void a_save_that_fails_says_why_and_leaves_the_last_one(void)
{
    struct fixture fixture;
    struct centre_loaded *loaded;
    struct job *job;

    if (!set_up(&fixture))
        return;
    CHECK_OK(save(&fixture, 3, 100, 0));
    job = save_job(&fixture, 4, 200, 0);
    limit_file_size(200);
    job_run(job);
    unlimit_file_size();
    CHECK_STATUS(STATUS_IO, job->status);
    if (CHECK(job->out[0]) && job->out[0]) {
        CHECK_CONTAINS("centre.safetensors", (char *)job->out[0]->bytes);
        CHECK_CONTAINS("File too large", (char *)job->out[0]->bytes);
    }
    job_destroy(&job);
    loaded = load(&fixture);
    CHECK(loaded && loaded->version == 3);
    centre_loaded_destroy(&loaded);
    tear_down(&fixture);
}

static void two_hubs_do_not_share_a_folder(void)
{
    struct fixture fixture;
    struct centre_store other;
    struct why why;

    if (!set_up(&fixture))
        return;
    CHECK_STATUS(STATUS_UNAVAILABLE,
                 centre_open(&other, fixture.folder.path, &why));
    CHECK_CONTAINS("another hub is using the folder", why.text);
    centre_close(&fixture.store);
    CHECK_OK(centre_open(&other, fixture.folder.path, &why));
    centre_close(&other);
    tear_down(&fixture);
}

static void an_empty_folder_has_nothing_to_resume_from(void)
{
    struct fixture fixture;
    struct centre_loaded *loaded = NULL;
    struct why why;

    if (!set_up(&fixture))
        return;
    CHECK_STATUS(STATUS_UNAVAILABLE,
                 centre_load(fixture.folder.path, &loaded, &why));
    CHECK_CONTAINS("nothing to resume from", why.text);
    CHECK(!loaded);
    tear_down(&fixture);
}

static void a_model_of_somebody_else_is_no_saved_centre(void)
{
    struct fixture fixture;
    struct centre_loaded *loaded = NULL;
    const float values[ELEMENTS] = {0};
    struct why why;

    if (!set_up(&fixture))
        return;
    CHECK_OK(safetensors_write(
        folder_file(&fixture.folder, "centre.safetensors"),
        &(struct safetensors_source){
            .schema = fixture.schema,
            .parts = &(struct part){values, sizeof values},
            .part_count = 1},
        NULL));
    CHECK_STATUS(STATUS_MALFORMED,
                 centre_load(fixture.folder.path, &loaded, &why));
    CHECK_CONTAINS("was not saved by a hub", why.text);
    tear_down(&fixture);
}

static void a_damaged_plane_is_done_without_and_so_is_the_other(void)
{
    struct fixture fixture;
    struct centre_loaded *loaded;

    if (!set_up(&fixture))
        return;
    CHECK_OK(save(&fixture, 3, 100, 2));
    CHECK(file_fill(folder_file(&fixture.folder, "outer2.safetensors"),
                    "damaged", 7));
    loaded = load(&fixture);
    CHECK(loaded && !loaded->saved.plane[0] && !loaded->saved.plane[1]);
    centre_loaded_destroy(&loaded);
    tear_down(&fixture);
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
    TEST(a_chunk_of_a_plane_that_has_not_moved_is_zeros);
    TEST(planes_of_a_newer_version_are_not_used);
    TEST(planes_of_an_older_version_are_not_used);
    TEST(the_best_centre_has_a_file_of_its_own);
    TEST(a_save_that_fails_says_why_and_leaves_the_last_one);
    TEST(two_hubs_do_not_share_a_folder);
    TEST(an_empty_folder_has_nothing_to_resume_from);
    TEST(a_model_of_somebody_else_is_no_saved_centre);
    TEST(a_damaged_plane_is_done_without_and_so_is_the_other);
    TEST(a_folder_that_cannot_be_made_is_named);
}
