/* The bytes of TensorBoard's files. What a real hub writes is read by another
 * program, tests/e2e/metrics.py. */
#include "record/tensorboard.h"

#include <float.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/store/folder.h"

static void the_checksum_is_castagnolis(void)
{
    static const unsigned char zeros[32] = {0};

    CHECK_EQUAL(0xe3069283, tensorboard_crc("123456789", 9));
    CHECK_EQUAL(0x8a9136aa, tensorboard_crc(zeros, sizeof zeros));
    CHECK_EQUAL(0, tensorboard_crc("", 0));
}

/* Records of which this tag is one's; -1: the file is not whole. */
static int count_of(const char *folder, const char *tag)
{
    char pattern[512];
    glob_t found;
    size_t size = 0, at = 0;
    char *bytes = NULL;
    int count = 0;

    (void)snprintf(pattern, sizeof pattern, "%s/events.out.tfevents.*", folder);
    if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
        bytes = file_content(found.gl_pathv[0], &size);
    globfree(&found);
    while (bytes && at + 12 <= size) {
        uint64_t length;

        memcpy(&length, bytes + at, sizeof length);
        if (length > size - at - 16)
            break;
        count += memmem(bytes + at + 12, length, tag, strlen(tag)) != NULL;
        at += 12 + length + 4;
    }
    free(bytes);
    return bytes && at == size ? count : -1;
}

static void points_come_each_second_at_first_and_fewer_later(void)
{
    static struct hub_node_view nodes[2] = {
        {.name = "n1", .iteration = 7, .loss = 0.5, .accuracy = -1},
        {.name = "n\xff", .iteration = 9, .loss = NAN, .accuracy = 0.25}};
    struct hub_view view = {.founded = true,
                            .score = DBL_MAX,
                            .accuracy = -1,
                            .count = 2,
                            .nodes = nodes};
    const struct spool_complaint nobody = {NULL, NULL};
    struct tensorboard *board = NULL;
    struct folder folder;

    if (!CHECK(folder_new(&folder)))
        return;
    if (CHECK_OK(tensorboard_open(folder_file(&folder, "board"), 5 * SECOND,
                                  nobody, &board, NULL))) {
        view.count = 0; /* nobody has come yet: a point without a step */
        tensorboard_look(board, 0, &view, false);
        view.count = 2;
        /* of a hub that was started again: they have not said how far they are
         */
        view.version = 40;
        nodes[0].moved.steps = nodes[1].moved.steps = 0;
        tensorboard_look(board, 0, &view, false);
        nodes[0].moved.steps = 7;
        nodes[1].moved.steps = 9;
        for (nanos now = 0; now < 4 * SECOND; now += SECOND / 4)
            tensorboard_look(board, now, &view, false);
        for (nanos now = 4000 * SECOND; now < 4012 * SECOND; now += SECOND)
            tensorboard_look(board, now, &view, false);
        view.count = 0; /* all have left */
        tensorboard_look(board, 4012 * SECOND, &view, true);
        tensorboard_close(&board);
        CHECK(!board);
        CHECK_EQUAL(1,
                    count_of(folder_file(&folder, "board"), "brain.Event:2"));
        CHECK_EQUAL(4 + 3, count_of(folder_file(&folder, "board"), "loss/n1"));
        /* a loss that is no number, and a centre that was never scored */
        CHECK_EQUAL(0, count_of(folder_file(&folder, "board"), "loss/n?"));
        CHECK_EQUAL(0, count_of(folder_file(&folder, "board"), "centre"));
        CHECK_EQUAL(7, count_of(folder_file(&folder, "board"), "accuracy/n?"));
        CHECK_EQUAL(8, count_of(folder_file(&folder, "board"), "version"));
    }
    folder_remove(&folder);
}

static void a_folder_that_cannot_be_is_said(void)
{
    const struct spool_complaint nobody = {NULL, NULL};
    struct tensorboard *board = NULL;
    struct why why = {""};

    CHECK_STATUS(STATUS_IO,
                 tensorboard_open("/dev/null/board", 0, nobody, &board, &why));
    CHECK_CONTAINS("/dev/null/board", why.text);
    CHECK(!board);
}

void add_record_tensorboard_tests(CU_pSuite suite)
{
    TEST(the_checksum_is_castagnolis);
    TEST(points_come_each_second_at_first_and_fewer_later);
    TEST(a_folder_that_cannot_be_is_said);
}
