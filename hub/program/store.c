/* starswitch-hub verify and export: what a hub's directory holds. Both only
 * read it, so a hub may be running there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hub/program/command_line.h"
#include "hub/program/commands.h"
#include "store/centre.h"

static const char *const no_options[] = {NULL};

/* Reads the words; false: there is no more to do, and *status says why. */
static bool read_words(int count, char **words, int wanted, enum status *status,
                       struct why *why)
{
    static struct options options;
    int plain = 0;

    *status = command_read(count, words, no_options, &options, &plain, why);
    if (*status == STATUS_OK && options.help)
        return false;
    if (*status == STATUS_OK && plain != wanted)
        *status = because(why, STATUS_USAGE, "%s: name %s", words[0],
                          wanted == 2 ? "the directory of a hub"
                                      : "the directory of a hub and the file "
                                        "to be written");
    if (*status == STATUS_OK && strlen(words[1]) > GENERATION_DIRECTORY_BYTES)
        *status =
            because(why, STATUS_USAGE, "the name of the folder is too long");
    return *status == STATUS_OK;
}

static enum status none_here(const char *directory, struct why *why)
{
    return because(why, STATUS_UNAVAILABLE,
                   "%.200s holds no run: name the --directory of a hub; what "
                   "it has is saved there once nodes have joined",
                   directory);
}

/* ---- verify ---- */

static void print_file(const struct inventory_file *file, enum status status,
                       const struct why *why)
{
    if (status == STATUS_OK)
        (void)printf("  %s: ok, %" PRIu64 " bytes\n", file->name, file->size);
    else
        (void)printf("  %s: damaged: %s\n", file->name, why->text);
}

/* Prints a line for the generation and one for each file; whether all of it is
 * whole. */
static bool verify_one(const char *directory, uint64_t number)
{
    struct inventory manifest = {0};
    struct why why = {""};
    bool whole =
        generation_open(directory, number, &manifest, &why) == STATUS_OK;

    if (whole)
        (void)printf("generation-%" PRIu64 ": run %016" PRIx64
                     ", version %" PRIu64 ", epoch %" PRIu64 "\n",
                     number, manifest.run, manifest.version, manifest.epoch);
    else
        (void)printf("generation-%" PRIu64 ": damaged: %s\n", number, why.text);
    for (unsigned i = 0; whole && i < manifest.count; i++) {
        const struct inventory_file *file = &manifest.files[i];
        enum status status = generation_check(directory, number, file, &why);

        print_file(file, status, &why);
        if (status != STATUS_OK)
            whole = false;
    }
    inventory_free(&manifest);
    return whole;
}

/* A running hub may have removed it meanwhile. */
static bool is_gone(const char *directory, uint64_t number)
{
    char path[FILE_PATH_BYTES];

    generation_path(directory, number, "", path);
    return access(path, F_OK) != 0;
}

static enum status verify(const char *directory, struct why *why)
{
    struct generations all;
    enum status status = generation_list(directory, &all, why);
    uint64_t current = generation_current(directory);
    unsigned damaged = 0;

    if (status != STATUS_OK)
        return status;
    for (unsigned i = 0; i < all.count; i++)
        if (!verify_one(directory, all.numbers[i]) &&
            !is_gone(directory, all.numbers[i]))
            damaged++;
    if (!all.count)
        return none_here(directory, why);
    if (current)
        (void)printf("current: generation-%" PRIu64 "\n", current);
    else
        (void)printf("current: damaged: it is no link to a generation\n");
    if (!damaged && current)
        return STATUS_OK;
    return because(why, STATUS_MALFORMED,
                   "%u of %u generations in %.150s are damaged%s", damaged,
                   all.count, directory,
                   current ? ""
                           : ", and the link current, which a hub mends "
                             "when it is started");
}

int command_verify(int count, char **words)
{
    struct why why = {""};
    enum status status;

    if (read_words(count, words, 2, &status, &why))
        status = verify(words[1], &why);
    return command_end(status, &why);
}

/* ---- export ---- */

/* Copies a file; MALFORMED: it is damaged or gone. */
static enum status copy_file(const char *directory, uint64_t number,
                             const struct inventory_file *file, const char *to,
                             struct why *why)
{
    enum status status = generation_check(directory, number, file, why);
    struct part part = {NULL, 0};
    char from[FILE_PATH_BYTES];
    char *bytes = NULL;

    generation_path(directory, number, file->name, from);
    if (status != STATUS_OK)
        return STATUS_MALFORMED;
    status = file_read_saved(from, (size_t)file->size, &bytes, &part.size, why);
    part.bytes = bytes;
    if (status == STATUS_OK)
        status = file_replace(to, &part, 1, why);
    free(bytes);
    return status;
}

/* Copies what is wanted out of one generation. MALFORMED: it is damaged;
 * UNAVAILABLE: it has none. */
static enum status export_from(const char *directory, uint64_t number,
                               bool best, const char *to, struct why *why)
{
    struct inventory manifest = {0};
    enum status status = generation_open(directory, number, &manifest, why);
    const struct inventory_file *file =
        best ? centre_best(&manifest) : inventory_find(&manifest, CENTRE_FILE);

    if (status != STATUS_OK)
        status = STATUS_MALFORMED;
    else if (!file)
        status = because(why, STATUS_UNAVAILABLE,
                         "no centre in %.150s has been scored yet", directory);
    if (status == STATUS_OK)
        status = copy_file(directory, number, file, to, why);
    if (status == STATUS_OK)
        (void)printf("%s: %s of generation-%" PRIu64 "\n", to, file->name,
                     number);
    inventory_free(&manifest);
    return status;
}

/* From the newest generation that has it whole. */
static enum status export_newest(const char *directory, bool best,
                                 const char *to, struct why *why)
{
    struct generations all;
    enum status status = generation_list(directory, &all, why);

    if (status == STATUS_OK && !all.count)
        status = none_here(directory, why);
    for (unsigned i = 0; i < all.count; i++) {
        status = export_from(directory, all.numbers[i], best, to, why);
        if (status != STATUS_MALFORMED)
            return status;
        (void)fprintf(stderr,
                      "starswitch-hub: generation-%" PRIu64 " is damaged: %s\n",
                      all.numbers[i], why->text);
    }
    return status;
}

int command_export(int count, char **words)
{
    bool best = strcmp(words[count - 1], "--best") == 0;
    struct why why = {""};
    enum status status;

    if (read_words(count - (best ? 1 : 0), words, 3, &status, &why))
        status = export_newest(words[1], best, words[2], &why);
    return command_end(status, &why);
}
