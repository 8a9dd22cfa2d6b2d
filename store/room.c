#include "store/room.h"

#include <string.h>
#include <sys/statvfs.h>

#include "core/text.h"
#include "store/centre.h"

enum { GENERATIONS = 3, SIZE_BYTES = 24 };

uint64_t room_needed(const struct room_plan *plan)
{
    return plan->model * (GENERATIONS * (1 + plan->slots) + plan->best + 1);
}

/* Models of a generation; best centres are links, so that only one
 * generation's count. */
static uint64_t models_of(const struct inventory *manifest, bool newest)
{
    uint64_t models = 0, version;

    for (unsigned i = 0; i < manifest->count; i++)
        models +=
            strcmp(manifest->files[i].name, CENTRE_STATE) != 0 &&
            (newest || !centre_is_best(manifest->files[i].name, &version));
    return models;
}

static uint64_t models_saved(const char *directory)
{
    struct generations all;
    uint64_t models = 0;

    if (generation_list(directory, &all, NULL) != STATUS_OK)
        return 0;
    for (unsigned i = 0; i < all.count; i++) {
        struct inventory manifest = {0};

        if (generation_open(directory, all.numbers[i], &manifest, NULL) ==
            STATUS_OK)
            models += models_of(&manifest, i == 0);
        inventory_free(&manifest);
    }
    return models;
}

bool room_suffices(const char *directory, const struct room_plan *plan,
                   struct why *why)
{
    char needs[SIZE_BYTES], has[SIZE_BYTES];
    struct text text;
    struct statvfs disk;
    uint64_t there = plan->model * models_saved(directory);
    uint64_t room, needed = room_needed(plan);

    if (statvfs(directory, &disk) != 0)
        return true; /* saving will say it */
    room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (there + room >= needed)
        return true;
    text_init(&text, needs, sizeof needs);
    text_add_bytes(&text, (double)(needed - there));
    text_init(&text, has, sizeof has);
    text_add_bytes(&text, (double)room);
    explain(why,
            "%.80s has %s left, and saving this model may take %s more: "
            "make room, or stop the hub and move that folder",
            directory, has, needs);
    return false;
}
