#include "store/centre.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/text.h"

#define CENTRE_FILE "centre.safetensors"
#define BEST_FILE "best.safetensors"
#define LOCK_FILE "lock"
#define BEST_LINE "\nbest " /* of the state */

/* Of each plane. */
static const char *const outer_files[POLICY_PLANES] = {"outer.safetensors",
                                                       "outer2.safetensors"};

/* Longest name, with its slash and its end. */
enum { NAME_ROOM = 32 };

static void path_of(char path[FILE_PATH_BYTES], const char *directory,
                    const char *name)
{
    struct text text;

    text_init(&text, path, FILE_PATH_BYTES);
    text_add(&text, "%s/%s", directory, name);
}

/* ---- the folder ---- */

static enum status lock_folder(struct centre_store *store, struct why *why)
{
    char path[FILE_PATH_BYTES];

    path_of(path, store->directory, LOCK_FILE);
    store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (store->lock < 0)
        return file_failed("open", path, why);
    if (flock(store->lock, LOCK_EX | LOCK_NB) == 0)
        return STATUS_OK;
    if (errno == EWOULDBLOCK)
        return because(why, STATUS_UNAVAILABLE,
                       "another hub is using the folder %s: give each hub "
                       "its own", store->directory);
    return file_failed("lock", path, why);
}

enum status centre_open(struct centre_store *store, const char *directory,
                        struct why *why)
{
    enum status status;

    *store = (struct centre_store){.lock = -1};
    if (strlen(directory) + NAME_ROOM > sizeof store->directory)
        return because(why, STATUS_IO, "the name of the folder is too long");
    (void)snprintf(store->directory, sizeof store->directory, "%s",
                   *directory ? directory : ".");
    status = folder_make(store->directory, why);
    if (status == STATUS_OK)
        status = lock_folder(store, why);
    if (status != STATUS_OK)
        centre_close(store);
    return status;
}

void centre_close(struct centre_store *store)
{
    if (store->directory[0] && store->lock >= 0)
        (void)close(store->lock);
    *store = (struct centre_store){.lock = -1};
}

/* ---- saving ---- */

/* What a job is to write: chunks of the centre, as many of each plane, the
 * state. */
struct snapshot {
    const struct centre_store *store;
    const char *state;
    uint64_t version;
    unsigned chunks;
    unsigned planes;
    struct part *parts; /* of the centre, then of each plane */
    float *zeros;       /* a chunk of a plane that has not moved, or NULL */
};

enum { PAIRS = 7, SCORE_BYTES = 32 };

/* The score of the version, if the state's line "best VERSION SCORE" is about
 * it. */
static void find_score(const struct snapshot *snapshot,
                       char score[SCORE_BYTES])
{
    const char *line = strstr(snapshot->state, BEST_LINE);
    double value = NO_SCORE;
    uint64_t version;
    char *end;

    if (line) {
        version = strtoull(line + strlen(BEST_LINE), &end, 10);
        if (version == snapshot->version && *end == ' ')
            value = strtod(end, NULL);
    }
    if (value < NO_SCORE)
        (void)snprintf(score, SCORE_BYTES, "%.9g", value);
    else
        (void)snprintf(score, SCORE_BYTES, "none");
}

static enum status write_parts(const struct snapshot *snapshot,
                               const char *name, const struct part *parts,
                               struct why *why)
{
    char path[FILE_PATH_BYTES], run[32], version[32], score[SCORE_BYTES];
    char planes[32];
    const struct pair pairs[PAIRS] = {
        {"format", "pt"},     {"starswitch", CENTRE_LAYOUT},
        {"run", run},         {"version", version},
        {"score", score},     {"planes", planes},
        {"state", snapshot->state},
    };
    const struct safetensors_source source = {
        .schema = snapshot->store->schema,
        .pairs = pairs,
        .pair_count = PAIRS,
        .parts = parts,
        .part_count = snapshot->chunks,
    };

    path_of(path, snapshot->store->directory, name);
    (void)snprintf(run, sizeof run, "%" PRIu64, snapshot->store->run);
    (void)snprintf(version, sizeof version, "%" PRIu64, snapshot->version);
    (void)snprintf(planes, sizeof planes, "%u", snapshot->planes);
    find_score(snapshot, score);
    return safetensors_write(path, &source, why);
}

static enum status write_snapshot(const struct snapshot *snapshot, bool best,
                                  struct why *why)
{
    enum status status = STATUS_OK;

    if (best)
        return write_parts(snapshot, BEST_FILE, snapshot->parts, why);
    for (unsigned i = 0;
         i < snapshot->planes && i < POLICY_PLANES && status == STATUS_OK; i++)
        status = write_parts(
            snapshot, outer_files[i],
            snapshot->parts + (size_t)(1 + i) * snapshot->chunks, why);
    if (status == STATUS_OK)
        status = write_parts(snapshot, CENTRE_FILE, snapshot->parts, why);
    return status;
}

/* Finds out how many of the inputs are the centre's chunks: as many as hold
 * all elements. */
static void split_inputs(const struct job *job, struct snapshot *out)
{
    uint64_t size = 0, wanted = out->store->schema->elements * sizeof(float);

    while (size < wanted) {
        assert(out->chunks + 1 < job->inputs);
        size += job->in[out->chunks++].blob->size;
    }
    assert(size == wanted && out->chunks > 0);
    out->planes = (job->inputs - 1) / out->chunks - 1;
    assert(out->planes <= POLICY_PLANES);
    assert(job->inputs == (1 + out->planes) * out->chunks + 1);
}

static enum status gather_parts(const struct job *job, struct snapshot *out,
                                struct why *why)
{
    split_inputs(job, out);
    out->parts = calloc(job->inputs, sizeof *out->parts);
    out->zeros = calloc(1, job->in[0].blob->size);
    if (!out->parts || !out->zeros)
        return because(why, STATUS_NO_MEMORY, "no memory to save the centre");
    for (unsigned i = 0; i < job->inputs - 1; i++) {
        const struct blob *blob = job->in[i].blob;

        out->parts[i].bytes = blob ? (const void *)blob->bytes : out->zeros;
        out->parts[i].size = job->in[i % out->chunks].blob->size;
    }
    return STATUS_OK;
}

/* The state as a string: a blob has no NUL at its end. */
static char *copy_state(const struct blob *blob)
{
    return strndup((const char *)blob->bytes, blob->size);
}

static enum status save(struct job *job, struct why *why)
{
    const struct centre_store *store = job->context;
    struct snapshot snapshot = {.store = store,
                                .version = (uint64_t)job->number[0]};
    char *state = copy_state(job->in[job->inputs - 1].blob);
    enum status status;

    assert(store->schema);
    if (!state)
        return because(why, STATUS_NO_MEMORY, "no memory to save the centre");
    snapshot.state = state;
    status = gather_parts(job, &snapshot, why);
    if (status == STATUS_OK)
        status = write_snapshot(&snapshot, job->number[1] == 1, why);
    free(snapshot.parts);
    free(snapshot.zeros);
    free(state);
    return status;
}

static void run_save(struct job *job)
{
    struct why why = {""};

    job->status = save(job, &why);
    if (job->status == STATUS_OK)
        return;
    job->out[0] = blob_new(job->pool, strlen(why.text) + 1);
    if (job->out[0])
        memcpy(job->out[0]->bytes, why.text, job->out[0]->size);
}

const struct work centre_save = {"save", run_save};

/* ---- loading ---- */

void centre_loaded_destroy(struct centre_loaded **loaded)
{
    if (!*loaded)
        return;
    safetensors_destroy(&(*loaded)->centre);
    for (unsigned i = 0; i < POLICY_PLANES; i++)
        safetensors_destroy(&(*loaded)->outer[i]);
    free(*loaded);
    *loaded = NULL;
}

static bool read_number(const struct safetensors *file, const char *key,
                        uint64_t *out)
{
    const char *text = safetensors_value(file, key);
    char *end;

    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static enum status read_centre(const char *directory,
                               struct centre_loaded *out, struct why *why)
{
    char path[FILE_PATH_BYTES];
    const char *layout;
    enum status status;

    path_of(path, directory, CENTRE_FILE);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return because(why, STATUS_UNAVAILABLE,
                       "nothing to resume from: there is no %s", path);
    status = safetensors_read(path, &out->centre, why);
    if (status != STATUS_OK)
        return status;
    layout = safetensors_value(out->centre, "starswitch");
    if (!layout || strcmp(layout, CENTRE_LAYOUT) != 0)
        return because(why, STATUS_MALFORMED,
                       "%s was not saved by a hub of this version", path);
    out->saved.state = safetensors_value(out->centre, "state");
    if (!out->saved.state || out->centre->schema->elements == 0 ||
        !read_number(out->centre, "run", &out->run) ||
        !read_number(out->centre, "version", &out->version))
        return because(why, STATUS_MALFORMED, "%s lacks the hub's state", path);
    return STATUS_OK;
}

static bool read_plane(const char *directory,
                       const struct centre_loaded *of,
                       unsigned plane, struct safetensors **out)
{
    char path[FILE_PATH_BYTES];
    uint64_t run, version;

    path_of(path, directory, outer_files[plane]);
    if (safetensors_read(path, out, NULL) != STATUS_OK)
        return false;
    return read_number(*out, "version", &version) &&
           read_number(*out, "run", &run) && version == of->version &&
           run == of->run && (*out)->schema->hash == of->centre->schema->hash;
}

/* Planes are worth having but not worth failing for. One makes no sense
 * without the others: all are there, or none. */
static void read_outer(const char *directory, struct centre_loaded *out)
{
    uint64_t planes = 0;
    bool whole = read_number(out->centre, "planes", &planes) &&
                 planes <= POLICY_PLANES;

    for (unsigned i = 0; whole && i < planes; i++)
        whole = read_plane(directory, out, i, &out->outer[i]);
    for (unsigned i = 0; i < POLICY_PLANES; i++)
        if (!whole)
            safetensors_destroy(&out->outer[i]);
        else if (out->outer[i])
            out->saved.plane[i] = out->outer[i]->values;
}

enum status centre_load(const char *directory, struct centre_loaded **out,
                        struct why *why)
{
    struct centre_loaded *loaded = calloc(1, sizeof *loaded);
    enum status status;

    if (!loaded)
        return because(why, STATUS_NO_MEMORY, "no memory to load the centre");
    status = read_centre(directory, loaded, why);
    if (status != STATUS_OK) {
        centre_loaded_destroy(&loaded);
        return status;
    }
    loaded->saved.schema = loaded->centre->schema;
    loaded->saved.theta = loaded->centre->values;
    read_outer(directory, loaded);
    *out = loaded;
    return STATUS_OK;
}
