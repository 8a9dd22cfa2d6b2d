/* The folder of a hub's keys: who is let in, and who is not any more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keys/list.h"
#include "tests/check.h"
#include "tests/keys/keyring.h"

static struct folder folder;
static struct why why;

static void keys_are_made_once_and_never_written_over(void)
{
    struct ring first, second;
    bool made = true;
    struct stat file;

    ring_new_in(&folder, &first);
    CHECK(ring_is_there(folder.path));
    CHECK(first.enrols);
    CHECK(!keys_equal(&first.hub.shown, &first.enrolment.shown));
    CHECK_OK(ring_make(folder.path, &made, &why));
    CHECK(!made);
    CHECK_OK(ring_open(folder.path, &second, &why));
    CHECK(keys_equal(&first.hub.secret, &second.hub.secret));
    CHECK(keys_equal(&first.enrolment.secret, &second.enrolment.secret));
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(0, stat(folder_file(&folder, i ? "hub.key_secret"
                                                   : "enrolment.key_secret"),
                            &file));
        CHECK_EQUAL(0600, file.st_mode & 0777);
    }
    CHECK_EQUAL(0, stat(folder.path, &file));
    CHECK_EQUAL(0700, file.st_mode & 0777);
    ring_close(&second);
    ring_end_in(&folder, &first);
}

static void a_folder_without_keys_is_no_ring(void)
{
    struct ring ring;

    CHECK(folder_new(&folder));
    CHECK(!ring_is_there(folder.path));
    CHECK_STATUS(STATUS_UNAVAILABLE, ring_open(folder.path, &ring, &why));
    folder_remove(&folder);
}

static void without_an_enrolment_key_nobody_may_enrol(void)
{
    struct ring ring;

    ring_new_in(&folder, &ring);
    ring_close(&ring);
    CHECK_EQUAL(0, unlink(folder_file(&folder, "enrolment.key_secret")));
    CHECK_OK(ring_open(folder.path, &ring, &why));
    CHECK(!ring.enrols);
    ring_end_in(&folder, &ring);
}

static void an_enrolment_key_that_was_removed_is_made_anew(void)
{
    struct ring before, after;
    bool made = true;

    ring_new_in(&folder, &before);
    CHECK_EQUAL(0, unlink(folder_file(&folder, "enrolment.key_secret")));
    CHECK_OK(ring_make(folder.path, &made, &why));
    CHECK(!made);
    CHECK_OK(ring_open(folder.path, &after, &why));
    CHECK(keys_equal(&before.hub.secret, &after.hub.secret));
    CHECK(after.enrols);
    CHECK(!keys_equal(&before.enrolment.secret, &after.enrolment.secret));
    ring_close(&after);
    ring_end_in(&folder, &before);
}

static void a_node_is_admitted_once(void)
{
    struct ring ring;
    struct key one = some_key();

    ring_new_in(&folder, &ring);
    CHECK_EQUAL(0, ring.allowed.count);
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    CHECK_OK(ring_admit(&ring, "another-name", &one, &why));
    CHECK_EQUAL(1, ring.allowed.count);
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(1, ring.allowed.count);
    CHECK(keys_equal(&one, &ring.allowed.entries[0].key));
    ring_end_in(&folder, &ring);
}

/* Nobody can take a name in advance. */
static void a_name_that_is_another_keys_gets_digits_of_ones_own(void)
{
    struct ring ring;
    struct key one = some_key(), other = some_key();
    char name[KEY_NAME_BYTES];

    ring_new_in(&folder, &ring);
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    CHECK_OK(ring_admit(&ring, "pc1", &other, &why));
    (void)snprintf(name, sizeof name, "allowed/pc1-%04x.key",
                   (unsigned)(key_hash(&other) >> 48));
    CHECK(file_exists(folder_file(&folder, name)));
    CHECK_EQUAL(2, ring.allowed.count);
    CHECK_STATUS(STATUS_REFUSED,
                 ring_enrol(&ring, "pc1", &ring.enrolment.shown, &why));
    CHECK_CONTAINS("the name pc1 belongs to another key", why.text);
    ring_end_in(&folder, &ring);
}

static void a_revoked_key_comes_back_by_the_operators_word_only(void)
{
    struct ring ring;
    struct key one = some_key(), other = some_key();

    ring_new_in(&folder, &ring);
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    CHECK_OK(ring_revoke(folder.path, "pc1", &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(0, ring.allowed.count);
    CHECK_EQUAL(1, ring.revoked.count);
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc1", &one, &why));
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc2", &one, &why));
    CHECK_CONTAINS("revoked", why.text);
    /* Its name is free for another key. */
    CHECK_OK(ring_admit(&ring, "pc1", &other, &why));
    CHECK_OK(ring_revoke(folder.path, "pc1", &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_OK(ring_enrol(&ring, "pc1", &other, &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(1, ring.allowed.count);
    CHECK_EQUAL(1, ring.revoked.count);
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc2", &one, &why));
    CHECK_STATUS(STATUS_USAGE, ring_revoke(folder.path, "pc9", &why));
    ring_end_in(&folder, &ring);
}

static void a_key_stays_revoked_when_another_of_its_name_is(void)
{
    static const char name[] = "a-name-of-just-thirty-nine-letters-xxxx";
    struct ring ring;
    struct key keys[12];

    ring_new_in(&folder, &ring);
    for (int i = 0; i < 12; i++) {
        keys[i] = some_key();
        CHECK_OK(ring_admit(&ring, name, &keys[i], &why));
        CHECK_OK(ring_revoke(folder.path, name, &why));
        CHECK_OK(ring_reload(&ring, &why));
    }
    CHECK_EQUAL(12, ring.revoked.count);
    for (int i = 0; i < 12; i++)
        CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc1", &keys[i], &why));
    CHECK_OK(ring_enrol(&ring, name, &keys[7], &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(1, ring.allowed.count);
    CHECK_EQUAL(11, ring.revoked.count);
    ring_end_in(&folder, &ring);
}

static void a_revoked_key_may_come_back_under_another_name(void)
{
    struct ring ring;
    struct key one = some_key();

    ring_new_in(&folder, &ring);
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    CHECK_OK(ring_revoke(folder.path, "pc1", &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_OK(ring_enrol(&ring, "pc2", &one, &why));
    CHECK(!file_exists(folder_file(&folder, "revoked/pc1.key")));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(1, ring.allowed.count);
    CHECK_EQUAL(0, ring.revoked.count);
    ring_end_in(&folder, &ring);
}

static void copied(const char *from, const char *to)
{
    size_t size;
    char *content = file_content(folder_file(&folder, from), &size);

    if (CHECK(content != NULL))
        CHECK(file_fill(folder_file(&folder, to), content, size));
    free(content);
}

static void a_key_in_both_folders_is_let_in_and_not_revoked(void)
{
    struct ring ring;
    struct key one = some_key();

    ring_new_in(&folder, &ring);
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    copied("allowed/pc1.key", "revoked/old.key");
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(1, ring.allowed.count);
    CHECK_EQUAL(0, ring.revoked.count);
    /* It may be revoked again, and be brought back from all its files. */
    CHECK_OK(ring_revoke(folder.path, "pc1", &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(0, ring.allowed.count);
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc1", &one, &why));
    CHECK_OK(ring_enrol(&ring, "pc1", &one, &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(1, ring.allowed.count);
    CHECK_EQUAL(0, ring.revoked.count);
    ring_end_in(&folder, &ring);
}

static void what_others_put_there_since_is_not_written_twice(void)
{
    struct ring ring, anew;
    struct key one = some_key(), two = some_key(), three = some_key();

    ring_new_in(&folder, &ring);
    CHECK_OK(ring_open(folder.path, &anew, &why));
    CHECK_OK(ring_enrol(&anew, "by-hand", &one, &why));
    CHECK_OK(ring_enrol(&anew, "gone", &two, &why));
    CHECK_OK(ring_revoke(folder.path, "gone", &why));
    ring_close(&anew);
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    CHECK(!file_exists(folder_file(&folder, "allowed/pc1.key")));
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc2", &two, &why));
    CHECK_OK(ring_admit(&ring, "by-hand", &three, &why));
    CHECK_EQUAL(2, ring.allowed.count);
    CHECK_OK(ring_open(folder.path, &anew, &why));
    CHECK_EQUAL(2, anew.allowed.count);
    CHECK_EQUAL(1, anew.revoked.count);
    ring_close(&anew);
    ring_end_in(&folder, &ring);
}

/* Any forty digits are a key. */
static void filled(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char name[40], text[100];
        int length = snprintf(text, sizeof text,
                              "curve\n    public-key = \"%040u\"\n", i);

        (void)snprintf(name, sizeof name, "allowed/pc%u.key", i);
        if (!CHECK(file_fill(folder_file(&folder, name), text, (size_t)length)))
            return;
    }
}

static void a_list_that_is_full_gets_no_longer(void)
{
    struct ring ring;
    struct key one = some_key(), other = some_key();

    ring_new_in(&folder, &ring);
    filled(LIST_MOST - 1);
    CHECK_OK(ring_enrol(&ring, "last", &one, &why));
    CHECK_STATUS(STATUS_REFUSED, ring_enrol(&ring, "more", &other, &why));
    CHECK_CONTAINS("takes no more", why.text);
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "more", &other, &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_EQUAL(LIST_MOST, ring.allowed.count);
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "more", &other, &why));
    ring_end_in(&folder, &ring);
}

static void a_key_in_two_files_is_refused_by_their_names(void)
{
    struct ring ring;
    struct key one = some_key(), other = some_key();

    ring_new_in(&folder, &ring);
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    CHECK_OK(ring_admit(&ring, "pc2", &other, &why));
    copied("allowed/pc1.key", "allowed/pc3.key");
    CHECK_STATUS(STATUS_CONFIG, ring_reload(&ring, &why));
    CHECK_CONTAINS("pc1.key", why.text);
    CHECK_CONTAINS("pc3.key", why.text);
    CHECK_EQUAL(2, ring.allowed.count);
    ring_end_in(&folder, &ring);
}

static void a_damaged_file_is_named_and_the_list_stays(void)
{
    struct ring ring;
    struct key one = some_key();

    ring_new_in(&folder, &ring);
    CHECK_OK(ring_admit(&ring, "pc1", &one, &why));
    CHECK(file_fill(folder_file(&folder, "allowed/pc2.key"), "what?", 5));
    CHECK_STATUS(STATUS_MALFORMED, ring_reload(&ring, &why));
    CHECK_CONTAINS("pc2.key", why.text);
    CHECK_EQUAL(1, ring.allowed.count);
    CHECK(file_fill(folder_file(&folder, "allowed/README"), "what?", 5));
    CHECK_EQUAL(0, unlink(folder_file(&folder, "allowed/pc2.key")));
    CHECK_OK(ring_reload(&ring, &why));
    ring_end_in(&folder, &ring);
}

static void a_name_leads_out_of_no_folder(void)
{
    static const char *const names[] = {
        "",
        "..",
        ".",
        "../hub",
        "a/b",
        "-x",
        ".x",
        "a b",
        "a\nb",
        "caf\xc3",
        "a-name-of-more-than-thirty-nine-letters-x"};
    struct ring ring;
    struct key one = some_key();

    ring_new_in(&folder, &ring);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_STATUS(STATUS_USAGE, ring_enrol(&ring, names[i], &one, &why));
        CHECK_STATUS(STATUS_USAGE, ring_revoke(folder.path, names[i], &why));
    }
    CHECK_OK(ring_enrol(&ring, "pc-1.office_2", &one, &why));
    ring_end_in(&folder, &ring);
}

void add_keys_ring_tests(CU_pSuite suite)
{
    TEST(keys_are_made_once_and_never_written_over);
    TEST(a_folder_without_keys_is_no_ring);
    TEST(without_an_enrolment_key_nobody_may_enrol);
    TEST(an_enrolment_key_that_was_removed_is_made_anew);
    TEST(a_node_is_admitted_once);
    TEST(a_name_that_is_another_keys_gets_digits_of_ones_own);
    TEST(a_revoked_key_comes_back_by_the_operators_word_only);
    TEST(a_key_stays_revoked_when_another_of_its_name_is);
    TEST(a_revoked_key_may_come_back_under_another_name);
    TEST(a_key_in_both_folders_is_let_in_and_not_revoked);
    TEST(what_others_put_there_since_is_not_written_twice);
    TEST(a_list_that_is_full_gets_no_longer);
    TEST(a_key_in_two_files_is_refused_by_their_names);
    TEST(a_damaged_file_is_named_and_the_list_stays);
    TEST(a_name_leads_out_of_no_folder);
}
