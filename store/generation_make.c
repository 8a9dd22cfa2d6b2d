/* Making a generation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/generation.h"
#include "store/owner.h"

enum status generation_begin(struct generation *generation,
                             const char *directory, struct why *why)
{
    uint64_t current = generation_current(directory), newest;
    struct generations all;
    enum status status = generation_list(directory, &all, why);

    newest = all.count ? all.numbers[0] : 0;
    *generation = (struct generation){.directory = directory,
                                      .number = newest + 1,
                                      .before = current ? current : newest};
    if (status != STATUS_OK)
        return status;
    generation_half_path(directory, generation->number, generation->folder);
    folder_discard(generation->folder);
    if (!owner_make_folder(generation->folder))
        return file_failed("make the folder", generation->folder, why);
    return STATUS_OK;
}

enum status generation_add(struct generation *generation, const char *name,
                           const struct part *parts, size_t count,
                           struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status =
        inventory_add(&generation->manifest, name, parts, count, why);

    path_join(path, generation->folder, name);
    if (status == STATUS_OK)
        status = file_write(path, parts, count, why);
    return status;
}

/* Reads it from the one before and writes it again. */
static enum status copy(struct generation *generation,
                        const struct inventory_file *file, const char *from,
                        const char *to, struct why *why)
{
    enum status status = STATUS_AGAIN;
    struct part part = {NULL, 0};
    char *bytes = NULL;

    if (generation_check(generation->directory, generation->before, file,
                         why) == STATUS_OK &&
        file_read_saved(from, (size_t)file->size, &bytes, &part.size, why) ==
            STATUS_OK) {
        part.bytes = bytes;
        status = file_write(to, &part, 1, why);
    }
    free(bytes);
    return status;
}

enum status generation_link_former(struct generation *generation,
                                   const struct inventory_file *file,
                                   struct why *why)
{
    char from[FILE_PATH_BYTES], to[FILE_PATH_BYTES];
    enum status status = STATUS_OK;

    generation_path(generation->directory, generation->before, file->name,
                    from);
    path_join(to, generation->folder, file->name);
    if (link(from, to) != 0)
        status = copy(generation, file, from, to, why);
    if (status == STATUS_OK)
        status = inventory_copy(&generation->manifest, file, why);
    return status;
}

enum status generation_choose(struct generation *generation, const char *name,
                              struct why *why)
{
    static const char target[] = GENERATION_CURRENT "/" GENERATION_BEST;
    char inner[FILE_PATH_BYTES], outer[FILE_PATH_BYTES];
    enum status status;

    path_join(inner, generation->folder, GENERATION_BEST);
    path_join(outer, generation->directory, GENERATION_BEST);
    status = link_replace(inner, name, why);
    if (status == STATUS_OK && !link_is(outer, target))
        status = link_replace(outer, target, why);
    return status;
}

static enum status write_manifest(const struct generation *generation,
                                  struct why *why)
{
    struct part part = {NULL, 0};
    char path[FILE_PATH_BYTES];
    char *text = inventory_print(&generation->manifest, &part.size);
    enum status status;

    if (!text)
        return because(why, STATUS_NO_MEMORY, "no memory to save the centre");
    part.bytes = text;
    path_join(path, generation->folder, GENERATION_MANIFEST);
    status = file_write(path, &part, 1, why);
    free(text);
    return status;
}

/* Gives it its name; from then on a hub that starts finds it. */
static enum status publish(struct generation *generation, struct why *why)
{
    char path[FILE_PATH_BYTES];

    generation_path(generation->directory, generation->number, "", path);
    if (rename(generation->folder, path) != 0)
        return file_failed("write", path, why);
    memcpy(generation->folder, path, sizeof path);
    return folder_sync(generation->directory, why);
}

/* Lets `current` name it; if that fails, the one before again, as far as that
 * goes: a hub that starts does not need the link. */
static enum status make_current(const struct generation *generation,
                                struct why *why)
{
    const char *directory = generation->directory;
    enum status status = generation_point(directory, generation->number, why);
    enum status undone = STATUS_OK;

    if (status != STATUS_OK && generation->before)
        undone = generation_point(directory, generation->before, NULL);
    return undone == STATUS_OK ? status : undone;
}

/* At once for whoever looks. What has its number may be another one, so it is
 * looked for where it is now: nowhere, if it could not begin. */
void generation_abandon(struct generation *generation)
{
    char doomed[FILE_PATH_BYTES];

    generation_half_path(generation->directory, generation->number, doomed);
    if (generation->folder[0]) {
        (void)rename(generation->folder, doomed);
        folder_discard(doomed);
    }
    inventory_free(&generation->manifest);
}

enum status generation_end(struct generation *generation, struct why *why)
{
    enum status status = write_manifest(generation, why);

    if (status == STATUS_OK)
        status = folder_sync(generation->folder, why);
    if (status == STATUS_OK)
        status = publish(generation, why);
    if (status == STATUS_OK)
        status = make_current(generation, why);
    if (status != STATUS_OK) {
        generation_abandon(generation);
        return status;
    }
    generation_prune(generation->directory, generation->number,
                     generation->before);
    inventory_free(&generation->manifest);
    return status;
}
