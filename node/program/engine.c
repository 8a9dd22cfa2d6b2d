#include "node/program/engine.h"

#include <ctype.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What an engine sets; NULL: it does not. */
struct engine {
    const char *name, *rank, *size, *local_size, *host, *job, *start;
    const char *also; /* it is another one that does not set this */
};

static const struct engine engines[] = {
    {.name = "torchrun",
     .rank = "RANK",
     .size = "WORLD_SIZE",
     .local_size = "LOCAL_WORLD_SIZE",
     .host = "MASTER_ADDR",
     .job = "TORCHELASTIC_RUN_ID"},
    {.name = "Open MPI",
     .rank = "OMPI_COMM_WORLD_RANK",
     .size = "OMPI_COMM_WORLD_SIZE",
     .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
     .job = "PMIX_NAMESPACE",
     .start = "PMIX_NAMESPACE"},
    {.name = "MPICH",
     .rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .local_size = "MPI_LOCALNRANKS",
     .also = "MPI_LOCALNRANKS"},
    {.name = "SLURM", .rank = "SLURM_PROCID", .size = "SLURM_NTASKS"},
    {.name = "PMIx",
     .rank = "PMIX_RANK",
     .job = "PMIX_NAMESPACE",
     .start = "PMIX_NAMESPACE"},
    {.name = "PMI", .rank = "PMI_RANK", .size = "PMI_SIZE"},
    {.name = "LeaderWorkerSet",
     .rank = "LWS_WORKER_INDEX",
     .size = "LWS_GROUP_SIZE",
     .host = "LWS_LEADER_ADDRESS"},
    {.name = "Kubernetes", .rank = "JOB_COMPLETION_INDEX"},
};

static const char *get(const char *name)
{
    const char *value = name ? getenv(name) : NULL;

    return value && value[0] ? value : NULL;
}

/* RANK alone is anybody's: torchrun says all of them. */
static bool is_there(const struct engine *engine)
{
    return get(engine->rank) && (!engine->host || get(engine->host)) &&
           (!engine->size || get(engine->size)) &&
           (!engine->also || get(engine->also));
}

static enum status read_number(const char *name, unsigned *out, struct why *why)
{
    const char *text = get(name);
    unsigned long value;
    char *end;

    if (!text)
        return STATUS_OK;
    value = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || value > INT_MAX)
        return because(why, STATUS_CONFIG, "%s is no number: %.40s", name,
                       text);
    *out = (unsigned)value;
    return STATUS_OK;
}

static void read_name(const char *text, char out[ENGINE_JOB_BYTES])
{
    size_t length = 0;

    for (; text && *text && length < ENGINE_JOB_BYTES - 1; text++)
        out[length++] =
            isalnum((unsigned char)*text) || *text == '_' ? *text : '-';
    out[length] = '\0';
}

/* Of a SLURM job, whatever runs in it, since it is queued again under its
 * number. torchrun calls jobs without an id "none". */
static void find_job(const struct engine *engine, struct engine_place *place)
{
    const char *job = get("SLURM_JOB_ID");

    if (!job)
        job = get(engine->job);
    if (job && strcmp(job, "none") != 0)
        read_name(job, place->job);
    read_name(get(engine->start), place->start);
}

static void set_host(struct engine_place *place, const char *host)
{
    (void)snprintf(place->host, sizeof place->host, "%s", host);
}

/* The first host of a list such as "pc[01-04,7]b,gpu3": "pc01b". */
static void first_host(const char *list, char *out, size_t size)
{
    size_t length = 0;

    while (*list && *list != ',' && length + 1 < size) {
        if (*list != '[') {
            out[length++] = *list++;
            continue;
        }
        for (list++; isdigit((unsigned char)*list) && length + 1 < size; list++)
            out[length++] = *list;
        list += strcspn(list, "]");
        list += *list == ']';
    }
    out[length] = '\0';
}

static void find_slurm(struct engine_place *place)
{
    const char *hosts = get("SLURM_STEP_NODELIST");
    const char *nodes = get("SLURM_STEP_NUM_NODES");

    if (!hosts)
        hosts = get("SLURM_JOB_NODELIST");
    if (!nodes)
        nodes = get("SLURM_NNODES");
    if (hosts)
        first_host(hosts, place->host, sizeof place->host);
    place->one_host = nodes && strcmp(nodes, "1") == 0;
}

/* This pod is NAME-RANK, with or without a domain, and the first NAME-0. */
static bool is_pod(const char *name, unsigned rank, struct engine_place *place)
{
    size_t label = strcspn(name, ".");
    char suffix[16];
    size_t length = (size_t)snprintf(suffix, sizeof suffix, "-%u", rank);

    if (label <= length ||
        strncmp(name + label - length, suffix, length) != 0 ||
        strlen(name) + 2 >= sizeof place->host)
        return false;
    (void)snprintf(place->host, sizeof place->host, "%.*s-0%s",
                   (int)(label - length), name, name + label);
    return true;
}

static void find_pod(struct engine_place *place)
{
    const struct addrinfo hints = {.ai_flags = AI_CANONNAME,
                                   .ai_socktype = SOCK_STREAM};
    char name[HOST_NAME_MAX + 1];
    struct addrinfo *found = NULL;

    if (gethostname(name, sizeof name) != 0)
        return;
    name[sizeof name - 1] = '\0';
    if (getaddrinfo(name, NULL, &hints, &found) == 0 && found &&
        found->ai_canonname && is_pod(found->ai_canonname, place->rank, place))
        name[0] = '\0';
    if (found)
        freeaddrinfo(found);
    if (name[0])
        (void)is_pod(name, place->rank, place);
}

static enum status find(const struct engine *engine, struct engine_place *place,
                        struct why *why)
{
    unsigned local = 0;
    enum status status = read_number(engine->rank, &place->rank, why);

    if (status == STATUS_OK)
        status = read_number(engine->size, &place->size, why);
    if (status == STATUS_OK)
        status = read_number(engine->local_size, &local, why);
    if (status != STATUS_OK)
        return status;
    if (place->size && place->rank >= place->size)
        return because(why, STATUS_CONFIG,
                       "%s is %u, but there are %u ranks, from 0", engine->rank,
                       place->rank, place->size);
    place->engine = engine->name;
    place->variable = engine->rank;
    place->one_host = local && local == place->size;
    if (get(engine->host))
        set_host(place, get(engine->host));
    find_job(engine, place);
    if (strcmp(engine->name, "SLURM") == 0)
        find_slurm(place);
    if (strcmp(engine->name, "Kubernetes") == 0)
        find_pod(place);
    if (place->one_host)
        set_host(place, "127.0.0.1");
    return STATUS_OK;
}

enum status engine_find(struct engine_place *out, struct why *why)
{
    const size_t count = sizeof engines / sizeof *engines;

    *out = (struct engine_place){.engine = NULL};
    for (size_t i = 0; i < count; i++)
        if (is_there(&engines[i]))
            return find(&engines[i], out, why);
    return STATUS_OK;
}
