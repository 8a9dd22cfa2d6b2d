/* Keys in files, and that CZMQ and we read each other's. */
#include <czmq.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "keys/certificate.h"
#include "tests/check.h"
#include "tests/store/folder.h"

static struct folder folder;
static struct why why;

static struct certificate make(void)
{
    struct certificate made = {.has_secret = true, .name = "pc1"};

    CHECK_OK(key_pair_make(&made.pair, &why));
    certificate_date(&made);
    return made;
}

static void a_certificate_is_read_as_it_was_written(void)
{
    struct certificate made = make(), read;
    const char *path;

    CHECK(folder_new(&folder));
    path = folder_file(&folder, "a.key_secret");
    made.enrolled = true;
    made.hub = made.pair.shown;
    CHECK_OK(certificate_write(path, &made, &why));
    CHECK_OK(certificate_read(path, &read, &why));
    CHECK(keys_equal(&made.pair.shown, &read.pair.shown));
    CHECK(keys_equal(&made.pair.secret, &read.pair.secret));
    CHECK(read.enrolled && keys_equal(&made.hub, &read.hub));
    CHECK_TEXT("pc1", read.name);
    CHECK_TEXT(made.time, read.time);
    folder_remove(&folder);
}

static void czmq_and_we_read_each_others_certificates(void)
{
    struct certificate made = make(), read;
    const char *ours, *theirs;
    zcert_t *loaded, *other = zcert_new();

    CHECK(folder_new(&folder));
    ours = folder_file(&folder, "ours.key_secret");
    theirs = folder_file(&folder, "theirs.key_secret");
    CHECK_OK(certificate_write(ours, &made, &why));
    loaded = zcert_load(ours);
    if (CHECK(loaded != NULL)) {
        CHECK(memcmp(zcert_public_key(loaded), made.pair.shown.bytes, 32) == 0);
        CHECK(memcmp(zcert_secret_key(loaded), made.pair.secret.bytes, 32) ==
              0);
        CHECK_TEXT("pc1", zcert_meta(loaded, "name"));
    }
    zcert_set_meta(other, "name", "%s", "pc2");
    zcert_set_meta(other, "colour", "%s", "blue");
    CHECK_EQUAL(0, zcert_save_secret(other, theirs));
    CHECK_OK(certificate_read(theirs, &read, &why));
    CHECK(memcmp(zcert_public_key(other), read.pair.shown.bytes, 32) == 0);
    CHECK(memcmp(zcert_secret_key(other), read.pair.secret.bytes, 32) == 0);
    CHECK_TEXT("pc2", read.name);
    zcert_destroy(&loaded);
    zcert_destroy(&other);
    folder_remove(&folder);
}

static unsigned mode_of(const char *path)
{
    struct stat file = {.st_mode = 0};

    CHECK_EQUAL(0, stat(path, &file));
    return file.st_mode & 0777;
}

static void a_secret_is_its_owners_alone(void)
{
    struct certificate made = make(), read;
    mode_t before = umask(0);
    const char *path;

    CHECK(folder_new(&folder));
    path = folder_file(&folder, "a.key_secret");
    CHECK_OK(certificate_write(path, &made, &why));
    CHECK_EQUAL(0600, mode_of(path));
    CHECK_EQUAL(0, chmod(path, 0640));
    CHECK_STATUS(STATUS_CONFIG, certificate_read(path, &read, &why));
    CHECK_CONTAINS("chmod 600", why.text);
    CHECK_CONTAINS("a.key_secret", why.text);
    /* Written again, it is as it should be. */
    CHECK_OK(certificate_write(path, &made, &why));
    CHECK_EQUAL(0600, mode_of(path));
    /* A public key may be read by all. */
    made.has_secret = false;
    CHECK_OK(certificate_write(path, &made, &why));
    CHECK_EQUAL(0666, mode_of(path));
    CHECK_OK(certificate_read(path, &read, &why));
    CHECK(!read.has_secret);
    (void)umask(before);
    folder_remove(&folder);
}

static void damaged(const char *content)
{
    struct certificate read;
    const char *path = folder_file(&folder, "bad.key");

    CHECK(file_fill(path, content, strlen(content)));
    CHECK_STATUS(STATUS_MALFORMED, certificate_read(path, &read, &why));
    CHECK_CONTAINS("bad.key", why.text);
}

static void a_file_that_is_no_certificate_is_named(void)
{
    struct certificate read;

    CHECK(folder_new(&folder));
    damaged("");
    damaged("# nothing\n");
    damaged("curve\n");
    damaged("curve\n    public-key = \"short\"\n");
    damaged("public-key = \"x\"\n");
    damaged("curve\n    public-key = \"\n");
    damaged("curve\n    colour = \"blue\"\n");
    damaged("metadata\n    name = \"a name of more than thirty-nine letters."
            "..\"\n");
    damaged("curve\n"
            "    public-key = \"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\"\n"
            "    public-key = \"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\"\n");
    CHECK_STATUS(STATUS_UNAVAILABLE,
                 certificate_read(folder_file(&folder, "none"), &read, &why));
    folder_remove(&folder);
}

static void ones_own_key_is_made_once(void)
{
    struct certificate first, second;
    const char *path;
    bool made = false;

    CHECK(folder_new(&folder));
    path = folder_file(&folder, "deep/er/a.key_secret");
    CHECK_OK(certificate_own(path, "a", &first, &made, &why));
    CHECK(made);
    CHECK_OK(certificate_own(path, "b", &second, &made, &why));
    CHECK(!made);
    CHECK(keys_equal(&first.pair.secret, &second.pair.secret));
    CHECK_TEXT("a", second.name);
    CHECK_EQUAL(0600, mode_of(path));
    folder_remove(&folder);
}

/* A program that needs its own key; several start at once. */
struct starter {
    pthread_t thread;
    pthread_barrier_t *begin;
    const char *path;
    struct certificate own;
    enum status status;
    bool made;
    struct why why;
};

static void *start(void *context)
{
    struct starter *self = context;

    (void)pthread_barrier_wait(self->begin);
    self->status =
        certificate_own(self->path, "a", &self->own, &self->made, &self->why);
    if (self->status == STATUS_OK) /* as who has enrolled */
        self->status = certificate_write(self->path, &self->own, &self->why);
    return NULL;
}

static void started_at_once(const char *path)
{
    enum { STARTERS = 4 };
    static struct starter starters[STARTERS];
    struct certificate read;
    pthread_barrier_t begin;
    unsigned made = 0;

    CHECK_EQUAL(0, pthread_barrier_init(&begin, NULL, STARTERS));
    for (int i = 0; i < STARTERS; i++) {
        starters[i] = (struct starter){.begin = &begin, .path = path};
        CHECK_EQUAL(
            0, pthread_create(&starters[i].thread, NULL, start, &starters[i]));
    }
    for (int i = 0; i < STARTERS; i++)
        CHECK_EQUAL(0, pthread_join(starters[i].thread, NULL));
    (void)pthread_barrier_destroy(&begin);
    CHECK_OK(certificate_read(path, &read, &why));
    CHECK_EQUAL(0600, mode_of(path));
    for (int i = 0; i < STARTERS; i++) {
        CHECK_OK(starters[i].status);
        CHECK(keys_equal(&read.pair.secret, &starters[i].own.pair.secret));
        made += starters[i].made;
    }
    CHECK_EQUAL(1, made);
}

static void of_programs_that_start_at_once_one_makes_the_key_of_all(void)
{
    mode_t before = umask(022);

    CHECK(folder_new(&folder));
    for (int i = 0; i < 50; i++) {
        char name[20];

        (void)snprintf(name, sizeof name, "%d.key_secret", i);
        started_at_once(folder_file(&folder, name));
    }
    (void)umask(before);
    folder_remove(&folder);
}

void add_keys_certificate_tests(CU_pSuite suite)
{
    TEST(a_certificate_is_read_as_it_was_written);
    TEST(czmq_and_we_read_each_others_certificates);
    TEST(a_secret_is_its_owners_alone);
    TEST(a_file_that_is_no_certificate_is_named);
    TEST(ones_own_key_is_made_once);
    TEST(of_programs_that_start_at_once_one_makes_the_key_of_all);
}
