/* Whom the line for nodes lets in, for how long, and what that costs. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/check.h"
#include "tests/keys/keyring.h"

static struct folder folder;
static struct why why;

static void renewed(struct ring *ring, int64_t seconds, uint64_t nodes)
{
    struct ring_line line = {seconds, nodes};

    CHECK_OK(ring_renew(folder.path, &line, &why));
    CHECK_OK(ring_reload(ring, &why));
}

static void a_line_lets_in_so_many_and_those_that_are_gone_count(void)
{
    struct ring ring;
    struct key keys[3] = {some_key(), some_key(), some_key()};

    ring_new_in(&folder, &ring);
    renewed(&ring, 0, 2);
    CHECK(ring_line_serves(&ring));
    CHECK_OK(ring_admit(&ring, "pc1", &keys[0], &why));
    CHECK_OK(ring_admit(&ring, "pc2", &keys[1], &why));
    CHECK_OK(ring_admit(&ring, "pc2", &keys[1], &why));
    CHECK(!ring_line_serves(&ring));
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc3", &keys[2], &why));
    CHECK_CONTAINS("as many nodes as it may", why.text);
    CHECK_OK(ring_revoke(folder.path, "pc1", &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc3", &keys[2], &why));
    CHECK_OK(ring_enrol(&ring, "by-hand", &keys[2], &why));
    renewed(&ring, 0, 2);
    CHECK_EQUAL(0, ring.used);
    CHECK(ring_line_serves(&ring));
    ring_end_in(&folder, &ring);
}

static void a_line_serves_for_so_long(void)
{
    struct ring ring;
    struct key key = some_key();
    struct key_pair first;

    ring_new_in(&folder, &ring);
    first = ring.enrolment;
    CHECK(ring.until > 0);
    CHECK_EQUAL(RING_LINE_NODES, ring.most);
    renewed(&ring, 3600, 0);
    CHECK(!keys_equal(&first.shown, &ring.enrolment.shown));
    CHECK(ring_line_serves(&ring));
    renewed(&ring, -1, 0);
    CHECK(!ring_line_serves(&ring));
    CHECK_STATUS(STATUS_REFUSED, ring_admit(&ring, "pc1", &key, &why));
    CHECK_CONTAINS("expired", why.text);
    ring_end_in(&folder, &ring);
}

/* Its file could not be written, or the folder was read again meanwhile. */
static void a_line_counts_whom_it_has_let_in_and_nobody_else(void)
{
    struct ring ring;
    struct list_entry entry;
    struct key one = some_key();

    ring_new_in(&folder, &ring);
    renewed(&ring, 0, 1);
    CHECK_OK(ring_ask(&ring, "pc1", &one, &entry, &why));
    CHECK(!ring_line_serves(&ring));
    CHECK_OK(ring_written(&ring, &entry, false, &why));
    CHECK_EQUAL(0, ring.used);
    CHECK_OK(ring_ask(&ring, "pc1", &one, &entry, &why));
    CHECK_OK(ring_reload(&ring, &why));
    CHECK_OK(ring_write(folder.path, &entry, &why));
    CHECK_OK(ring_written(&ring, &entry, true, &why));
    CHECK_EQUAL(1, ring.used);
    ring_end_in(&folder, &ring);
}

/* What stands there is not read again for each key, as long as nobody else has
 * changed the folder. */
static void enrolling_reads_nothing(void)
{
    struct ring ring;
    struct stat found;
    struct timespec times[2];
    char allowed[FILE_PATH_BYTES];

    ring_new_in(&folder, &ring);
    renewed(&ring, 0, 0);
    (void)snprintf(allowed, sizeof allowed, "%s/allowed", folder.path);
    CHECK_EQUAL(0, stat(allowed, &found));
    CHECK(file_fill(folder_file(&folder, "allowed/bad.key"), "what?", 5));
    times[0] = times[1] = found.st_mtim;
    CHECK_EQUAL(0, utimensat(AT_FDCWD, allowed, times, 0));
    for (unsigned i = 0; i < 100; i++) {
        struct key key = some_key();

        CHECK_OK(ring_admit(&ring, "pc", &key, &why));
    }
    CHECK_EQUAL(100, ring.allowed.count);
    ring_end_in(&folder, &ring);
}

void add_keys_line_tests(CU_pSuite suite)
{
    TEST(a_line_lets_in_so_many_and_those_that_are_gone_count);
    TEST(a_line_serves_for_so_long);
    TEST(a_line_counts_whom_it_has_let_in_and_nobody_else);
    TEST(enrolling_reads_nothing);
}
