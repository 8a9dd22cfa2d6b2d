#include "bench/convergence/workload.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "train/data.h"
#include "train/input.h"

#define IMAGES "/usr/share/datasets/fashion-mnist"
#define LICENSES "/usr/share/common-licenses"

enum { SIDE = 28, CLASSES = 10, TRAINING = 4000, SCORED = 1000, JUDGED = 2000 };

const struct workload workloads[WORKLOADS] = {
    [W1] = {.name = "W1",
            .about = "Fashion-MNIST, 4000 images, shared out among the nodes; "
                     "an MLP 784-64-64-10, SGD with momentum 0.9, 8 samples "
                     "an iteration",
            .model = "mlp:784-64-64-10,optimizer=sgd,batch=8",
            .rate = 0.004,
            .iterations = 800,
            .seeds = 10,
            .data = {"images", "images-of-hub", "images-of-judge",
                     "images-of-mistaught"}},
    [W2] = {.name = "W2",
            .about = "the next byte of licence texts from the 12 before it; "
                     "embeddings of 8, a hidden layer of 128, AdamW, 32 "
                     "samples an iteration",
            .model = "lm:context=12,embedding=8,hidden=128,optimizer=adamw,"
                     "batch=32",
            .rate = 0.008,
            .iterations = 3200,
            .seeds = 4,
            .data = {"text", "text-of-hub", "text-of-judge"}}};

/* ---- files ---- */

static enum status make_folder(const char *path, struct why *why)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return STATUS_OK;
    return because(why, STATUS_IO, "%s: %s", path, strerror(errno));
}

/* One piece of a file. */
struct piece {
    const void *bytes;
    size_t size;
};

static enum status write_file(const char *path, const struct piece *pieces,
                              unsigned count, struct why *why)
{
    FILE *file = fopen(path, "wb");
    bool good = file != NULL;

    for (unsigned i = 0; good && i < count; i++)
        good =
            fwrite(pieces[i].bytes, 1, pieces[i].size, file) == pieces[i].size;
    if (file && fclose(file) != 0)
        good = false;
    if (good)
        return STATUS_OK;
    return because(why, STATUS_IO, "cannot write %s: %s", path,
                   strerror(errno));
}

/* ---- images ---- */

static void put_number(unsigned char *out, size_t number)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (unsigned char)(number >> (24 - 8 * i) & 255);
}

/* Rows of a table as the two IDX files of a part: "train" or "t10k"; with
 * `wrong` each label y is 9 - y. */
static enum status write_part(const char *folder, const char *part,
                              const struct table *table, bool wrong,
                              struct why *why)
{
    char path[PATH_MAX];
    unsigned char header[16], *labels = malloc(table->count);
    struct piece pieces[2] = {{header, 16},
                              {table->bytes, table->count * table->features}};
    enum status status;

    if (!labels)
        return because(why, STATUS_NO_MEMORY, "no memory for labels");
    for (size_t i = 0; i < table->count; i++)
        labels[i] = (unsigned char)(wrong ? CLASSES - 1 - table->labels[i]
                                          : table->labels[i]);
    put_number(header, 0x803);
    put_number(header + 4, table->count);
    put_number(header + 8, SIDE);
    put_number(header + 12, SIDE);
    (void)snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", folder, part);
    status = write_file(path, pieces, 2, why);
    put_number(header, 0x801);
    pieces[0].size = 8;
    pieces[1] = (struct piece){labels, table->count};
    (void)snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", folder, part);
    if (status == STATUS_OK)
        status = write_file(path, pieces, 2, why);
    free(labels);
    return status;
}

/* Nobody looks at the held-out part of nodes, or trains on that of others. */
static enum status write_images(const char *folder, enum role role,
                                const struct table *part, struct why *why)
{
    char path[PATH_MAX];
    enum status status;

    (void)snprintf(path, sizeof path, "%s/%s", folder,
                   workloads[W1].data[role]);
    status = make_folder(path, why);
    if (status == STATUS_OK)
        status = write_part(path, "train", part, role == OF_MISTAUGHT, why);
    if (status == STATUS_OK)
        status = write_part(path, "t10k", part, role == OF_MISTAUGHT, why);
    return status;
}

static enum status prepare_images(const char *folder, struct why *why)
{
    struct data data;
    struct table parts[ROLES];
    enum status status = data_open(IMAGES, 1, &data, why);

    if (status != STATUS_OK)
        return status;
    if (!data.training.bytes || data.training.features != (size_t)SIDE * SIDE ||
        data.training.count < TRAINING + SCORED ||
        data.held_out.count < JUDGED) {
        data_close(&data);
        return because(why, STATUS_MALFORMED, "%s is not Fashion-MNIST",
                       IMAGES);
    }
    parts[OF_NODES] = parts[OF_MISTAUGHT] =
        table_part(&data.training, 0, TRAINING);
    parts[OF_HUB] = table_part(&data.training, TRAINING, SCORED);
    parts[OF_JUDGE] = table_part(&data.held_out, 0, JUDGED);
    for (unsigned role = 0; status == STATUS_OK && role < ROLES; role++)
        status = write_images(folder, role, &parts[role], why);
    data_close(&data);
    return status;
}

/* ---- text ---- */

static const struct {
    const char *prefix;
    enum role role;
} families[] = {{"Artistic", OF_HUB},
                {"CC0", OF_HUB},
                {"Apache", OF_JUDGE},
                {"BSD", OF_JUDGE}};

static enum role role_of(const char *name)
{
    for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(name, families[i].prefix, strlen(families[i].prefix)) == 0)
            return families[i].role;
    return OF_NODES;
}

struct texts {
    char *bytes[ROLES];
    size_t size[ROLES];
};

static enum status append(struct texts *texts, enum role role, const char *path,
                          struct why *why)
{
    struct input input;
    size_t size = texts->size[role];
    enum status status = input_read(path, &input, why);
    char *longer;

    if (status != STATUS_OK)
        return status;
    longer = realloc(texts->bytes[role], size + input.size);
    if (longer) {
        memcpy(longer + size, input.bytes, input.size);
        texts->bytes[role] = longer;
        texts->size[role] = size + input.size;
    }
    input_free(&input);
    return longer ? STATUS_OK
                  : because(why, STATUS_NO_MEMORY, "no memory for texts");
}

static enum status read_licenses(struct texts *texts, struct why *why)
{
    struct dirent **entries;
    enum status status = STATUS_OK;
    int count = scandir(LICENSES, &entries, NULL, alphasort);

    if (count < 0)
        return because(why, STATUS_IO, "%s: %s", LICENSES, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat file;

        (void)snprintf(path, sizeof path, "%s/%s", LICENSES,
                       entries[i]->d_name);
        if (status == STATUS_OK && lstat(path, &file) == 0 &&
            S_ISREG(file.st_mode))
            status = append(texts, role_of(entries[i]->d_name), path, why);
        free(entries[i]);
    }
    free(entries);
    for (unsigned role = 0; status == STATUS_OK && role < ROLES; role++)
        if (workloads[W2].data[role] && !texts->size[role])
            status = because(why, STATUS_MALFORMED,
                             "%s lacks licences that Debian has", LICENSES);
    return status;
}

/* lm holds the last tenth out. So for hub and judge there is nine times as
 * much before it, which nobody trains on, and for nodes a ninth behind it,
 * which nobody looks at. */
static enum status write_text(const char *folder, enum role role,
                              const struct texts *texts, struct why *why)
{
    char path[PATH_MAX];
    size_t training = texts->size[OF_NODES];
    size_t held_out = training / 9;
    struct piece pieces[2];

    if (held_out > texts->size[role]) {
        held_out = texts->size[role];
        training = 9 * held_out;
    }
    pieces[0] = (struct piece){texts->bytes[OF_NODES], training};
    pieces[1] = (struct piece){texts->bytes[role], held_out};
    (void)snprintf(path, sizeof path, "%s/%s", folder,
                   workloads[W2].data[role]);
    return write_file(path, pieces, 2, why);
}

static enum status prepare_text(const char *folder, struct why *why)
{
    struct texts texts = {{NULL}, {0}};
    enum status status = read_licenses(&texts, why);

    for (unsigned role = 0; status == STATUS_OK && role < ROLES; role++)
        if (workloads[W2].data[role])
            status = write_text(folder, role, &texts, why);
    for (unsigned role = 0; role < ROLES; role++)
        free(texts.bytes[role]);
    return status;
}

enum status workload_prepare(const char *folder, struct why *why)
{
    enum status status = make_folder(folder, why);

    if (status == STATUS_OK)
        status = prepare_images(folder, why);
    if (status == STATUS_OK)
        status = prepare_text(folder, why);
    return status;
}
