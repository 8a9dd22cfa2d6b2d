#include "train/data.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train/csv.h"
#include "train/idx.h"
#include "train/npy.h"

enum { PATH_BYTES = 4096, HELD_OUT_SHARE = 10 };

void data_close(struct data *data)
{
    table_free(&data->files[0]);
    table_free(&data->files[1]);
    memset(data, 0, sizeof *data);
}

static int ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);

    return size >= tail && strcmp(text + size - tail, end) == 0;
}

static enum status read_pair(const char *features, const char *labels,
                             struct table *out, struct why *why)
{
    struct input x = {NULL, 0}, y = {NULL, 0};
    enum status status = input_read(features, &x, why);

    if (!status)
        status = input_read(labels, &y, why);
    if (!status && npy_recognise(&x))
        status = npy_make_table(&x, features, &y, labels, out, why);
    else if (!status)
        status = idx_make_table(&x, features, &y, labels, out, why);
    input_free(&x);
    input_free(&y);
    return status;
}

static enum status read_csv(const char *path, struct table *out,
                            struct why *why)
{
    struct input file;
    enum status status = input_read(path, &file, why);

    if (status)
        return status;
    status = csv_make_table(&file, path, out, why);
    input_free(&file);
    return status;
}

/* FOLDER/NAME, or FOLDER/NAME.gz if only that is there; false if neither. */
static int find(const char *folder, const char *name, char out[PATH_BYTES])
{
    static const char *const ends[] = {"", ".gz"};

    for (unsigned i = 0; i < 2; i++) {
        int size = snprintf(out, PATH_BYTES, "%s/%s%s", folder, name, ends[i]);

        if (size > 0 && size < PATH_BYTES && access(out, F_OK) == 0)
            return 1;
    }
    return 0;
}

static enum status read_folder(const char *path, struct data *data,
                               struct why *why)
{
    char images[PATH_BYTES], labels[PATH_BYTES];
    enum status status;

    if (!find(path, "train-images-idx3-ubyte", images) ||
        !find(path, "train-labels-idx1-ubyte", labels))
        return because(why, STATUS_IO,
                       "%s lacks train-images-idx3-ubyte or "
                       "train-labels-idx1-ubyte (or the same with .gz); put "
                       "them there or name another folder",
                       path);
    status = read_pair(images, labels, &data->files[0], why);
    if (status || !find(path, "t10k-images-idx3-ubyte", images))
        return status;
    if (!find(path, "t10k-labels-idx1-ubyte", labels))
        return because(why, STATUS_IO,
                       "%s has t10k-images-idx3-ubyte but no "
                       "t10k-labels-idx1-ubyte; add it",
                       path);
    return read_pair(images, labels, &data->files[1], why);
}

static enum status read_two_names(const char *path, const char *comma,
                                  struct table *out, struct why *why)
{
    char first[PATH_BYTES];
    size_t size = (size_t)(comma - path);

    if (size >= PATH_BYTES)
        return because(why, STATUS_USAGE, "the name of the data is too long");
    memcpy(first, path, size);
    first[size] = 0;
    return read_pair(first, comma + 1, out, why);
}

static enum status read_files(const char *path, struct data *data,
                              struct why *why)
{
    const char *comma = strchr(path, ',');
    struct stat facts;

    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        return read_folder(path, data, why);
    if (ends_with(path, ".csv") || ends_with(path, ".csv.gz"))
        return read_csv(path, &data->files[0], why);
    if (comma)
        return read_two_names(path, comma, &data->files[0], why);
    if (access(path, F_OK) != 0)
        return because(why, STATUS_IO, "%s does not exist", path);
    return because(why, STATUS_USAGE,
                   "%s is not data for this model; give a folder of IDX "
                   "files, a .csv, or FEATURES.npy,LABELS.npy",
                   path);
}

static enum status check_files(const char *path, const struct table files[2],
                               struct why *why)
{
    if (files[1].count && files[1].features != files[0].features)
        return because(why, STATUS_MALFORMED,
                       "%s: the samples to train on have %zu numbers each, "
                       "those held out %zu; give files that belong together",
                       path, files[0].features, files[1].features);
    if (!files[1].count && files[0].count < 2)
        return because(why, STATUS_MALFORMED,
                       "%s has one sample; at least two are needed, as one "
                       "is held out",
                       path);
    return STATUS_OK;
}

static void split(struct data *data, uint64_t seed)
{
    struct table *all = &data->files[0];
    size_t held_out;
    int32_t largest[2];

    if (data->files[1].count) {
        data->training = table_part(all, 0, all->count);
        data->held_out = table_part(&data->files[1], 0, data->files[1].count);
    } else {
        table_shuffle(all, seed);
        held_out = all->count / HELD_OUT_SHARE;
        held_out = held_out ? held_out : 1;
        data->training = table_part(all, 0, all->count - held_out);
        data->held_out = table_part(all, all->count - held_out, held_out);
    }
    largest[0] = table_largest_label(&data->training);
    largest[1] = table_largest_label(&data->held_out);
    data->classes = (largest[0] > largest[1] ? largest[0] : largest[1]) + 1;
}

enum status data_open(const char *path, uint64_t split_seed, struct data *out,
                      struct why *why)
{
    struct data data = {0};
    enum status status;

    if (!path)
        return because(why, STATUS_USAGE,
                       "this model needs data; add --data with a folder of "
                       "IDX files, a .csv, or FEATURES.npy,LABELS.npy");
    status = read_files(path, &data, why);
    if (!status)
        status = check_files(path, data.files, why);
    if (status) {
        data_close(&data);
        return status;
    }
    split(&data, split_seed);
    *out = data;
    return STATUS_OK;
}

void data_load(const struct data *data, int held_out, const uint64_t *rows,
               size_t count, float *features, int32_t *labels)
{
    const struct table *table = held_out ? &data->held_out : &data->training;

    for (size_t i = 0; i < count; i++) {
        size_t row = (size_t)rows[i];

        table_load(table, row, features + i * table->features);
        labels[i] = table->labels[row];
    }
}
