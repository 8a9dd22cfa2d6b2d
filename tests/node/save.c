/* What a node leaves where --save says. */
#include "node/program/save.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/store/folder.h"

static const struct star_trainer_tensor tensor = {
    .name = "w", .rank = 1, .shape = {3}};
static const struct star_state state = {.size = sizeof state, .iteration = 7};
static struct options options;
static struct why why;

static enum status save(float last)
{
    float values[] = {1, 2, last};
    struct trainer trainer = {.model = {.tensors = &tensor,
                                        .tensor_count = 1,
                                        .values = values,
                                        .elements = 3}};

    return node_save(&trainer, &options, &state, &why);
}

static void what_went_bad_does_not_replace_what_is_good(void)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38F};
    struct folder folder;
    size_t size = 0, left = 0;
    char *good, *after;

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(options.save_file, sizeof options.save_file, "%s",
                   folder_file(&folder, "w.safetensors"));
    CHECK_OK(save(3));
    good = file_content(options.save_file, &size);
    for (unsigned i = 0; good && i < 4; i++) {
        CHECK_STATUS(STATUS_IO, save(bad[i]));
        CHECK_CONTAINS("as it was", why.text);
        after = file_content(options.save_file, &left);
        CHECK_EQUAL(size, left);
        CHECK(after && size == left && memcmp(good, after, size) == 0);
        free(after);
    }
    CHECK(good != NULL);
    free(good);
    CHECK_OK(save(4));
    folder_remove(&folder);
}

void add_node_save_tests(CU_pSuite suite)
{
    TEST(what_went_bad_does_not_replace_what_is_good);
}
