/* libstarswitch's groups: collectives and checkpoints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/work.h"
#include "node/library/group.h"

_Static_assert((int)STAR_I8 == (int)SCALAR_I8 &&
                   (int)STAR_F64 == (int)SCALAR_F64 &&
                   (int)STAR_SUM == (int)REDUCTION_SUM &&
                   (int)STAR_BITOR == (int)REDUCTION_BITOR,
               "the public numbers are those on the wire");

static enum star_group_status
call(struct star_group *group, struct msg_ask *ask, const struct cargo *cargo)
{
    ask->ask = ASK_COLLECTIVE;
    return group_ask(group, ask, cargo);
}

/* What cannot be asked at all. */
static enum star_group_status refuse(struct star_group *group, const char *text)
{
    (void)pthread_mutex_lock(&group->shell.lock);
    (void)snprintf(group->told.text, sizeof group->told.text, "%.119s", text);
    (void)pthread_mutex_unlock(&group->shell.lock);
    return STAR_GROUP_ABORT;
}

/* ---- data ---- */

static enum status read_spans(const struct star_group_tensor *tensors,
                              size_t count, struct span *spans, struct why *why)
{
    for (size_t i = 0; i < count; i++) {
        struct star_group_tensor tensor;
        enum status status = sized_read_at(&tensor, sizeof tensor, tensors, i,
                                           "star_group_tensor", why);

        if (status != STATUS_OK)
            return status;
        spans[i] = (struct span){tensor.values, tensor.count * sizeof(float)};
    }
    return STATUS_OK;
}

enum star_group_status
star_group_allreduce_average(struct star_group *group,
                             const struct star_group_tensor *tensors,
                             size_t count)
{
    struct msg_ask ask = {.collective = COLLECTIVE_ALLREDUCE,
                          .scalar = SCALAR_F32,
                          .reduction = REDUCTION_MEAN};
    struct span *spans = calloc(count ? count : 1, sizeof *spans);
    struct cargo cargo = {spans, count, spans, count, NULL, NULL};
    enum star_group_status status;
    struct why why;

    if (!spans)
        return refuse(group, "not enough memory");
    if (read_spans(tensors, count, spans, &why) == STATUS_OK) {
        ask.bytes = spans_size(spans, count);
        status = call(group, &ask, &cargo);
    } else {
        status = refuse(group, why.text);
    }
    free(spans);
    return status;
}

enum star_group_status
star_group_wait_weights_ready(struct star_group *group,
                              const struct star_group_tensor *tensors,
                              size_t count)
{
    return star_group_allreduce_average(group, tensors, count);
}

enum star_group_status star_group_broadcast(struct star_group *group,
                                            void *data, size_t bytes,
                                            unsigned root)
{
    struct msg_ask ask = {
        .collective = COLLECTIVE_BROADCAST, .root = root, .bytes = bytes};
    struct span span = {data, bytes};
    struct cargo cargo = {&span, 1, &span, 1, NULL, NULL};

    return call(group, &ask, &cargo);
}

enum star_group_status star_group_barrier(struct star_group *group)
{
    struct msg_ask ask = {.collective = COLLECTIVE_BARRIER};

    return call(group, &ask, NULL);
}

enum star_group_status star_group_stop(struct star_group *group)
{
    struct msg_ask ask = {.collective = COLLECTIVE_STOP};

    return call(group, &ask, NULL);
}

/* A function that fills the data. */
struct preparing {
    void (*prepare)(void *argument);
    void *argument;
};

static void prepare_once(void *argument)
{
    struct preparing *preparing = argument;

    if (preparing->prepare)
        preparing->prepare(preparing->argument);
    preparing->prepare = NULL;
}

// NOLINTBEGIN(readability-function-size): the arguments are Rabit's
enum star_group_status
star_group_allreduce(struct star_group *group, void *data, size_t count,
                     enum star_dtype dtype, enum star_op op,
                     void (*prepare)(void *argument), void *argument)
{
    struct msg_ask ask = {.collective = COLLECTIVE_ALLREDUCE};
    struct span span = {data, 0};
    struct preparing preparing = {prepare, argument};
    struct cargo cargo = {&span, 1, &span, 1, prepare_once, &preparing};
    enum star_group_status status;

    if ((unsigned)dtype >= SCALAR_COUNT || (unsigned)op >= REDUCTION_COUNT ||
        !reduction_fits((enum reduction)op, (enum scalar)dtype))
        return refuse(group, "this reduction is not defined for such numbers");
    span.size = count * scalar_bytes((enum scalar)dtype);
    ask.scalar = (uint32_t)dtype;
    ask.reduction = (uint32_t)op;
    ask.bytes = span.size;
    status = call(group, &ask, &cargo);
    if (status == STAR_GROUP_NO_NEED)
        prepare_once(&preparing); /* the sum is one's own */
    return status;
}
// NOLINTEND(readability-function-size)

/* Gathers into group->gains. */
static enum star_group_status gather(struct star_group *group, const void *own,
                                     size_t bytes)
{
    struct msg_ask ask = {.collective = COLLECTIVE_ALLGATHER, .bytes = bytes};
    struct span span = span_of(own, bytes);
    struct cargo cargo = {&span, 1, NULL, 0, NULL, NULL};

    return call(group, &ask, &cargo);
}

/* The caller may ask again with more room: the group goes on. */
static enum star_group_status too_small(struct star_group *group)
{
    (void)refuse(group, "the result is larger than its place");
    return STAR_GROUP_FAIL;
}

enum star_group_status star_group_allgather(struct star_group *group,
                                            const void *own, size_t bytes,
                                            void *all, size_t all_bytes,
                                            size_t *received)
{
    enum star_group_status status = gather(group, own, bytes);
    struct span span = {all, all_bytes};

    if (status == STAR_GROUP_NO_NEED) { /* what all have is one's own */
        if (received)
            *received = bytes;
        if (bytes > all_bytes)
            return too_small(group);
        memmove(all, own, bytes);
        return status;
    }
    if (status != STAR_GROUP_SUCCESS)
        return status;
    if (received)
        *received = (size_t)group->told.bytes;
    if (group->told.bytes > all_bytes)
        return too_small(group);
    gains_copy(group, &span, 1);
    return status;
}

enum star_group_status star_group_allreduce_custom(
    struct star_group *group, void *data, size_t element_bytes, size_t count,
    void (*reduce)(const void *one, void *into, size_t count))
{
    size_t bytes = element_bytes * count;
    enum star_group_status status = gather(group, data, bytes);
    struct span span = {NULL, (size_t)group->told.bytes};

    if (status != STAR_GROUP_SUCCESS || !bytes)
        return status;
    if (span.size % bytes != 0)
        return refuse(group, "the members' vectors differ in size");
    span.bytes = malloc(span.size);
    if (!span.bytes)
        return refuse(group, "not enough memory");
    gains_copy(group, &span, 1);
    memcpy(data, span.bytes, bytes);
    for (size_t at = bytes; at < span.size; at += bytes)
        reduce((unsigned char *)span.bytes + at, data, count);
    free(span.bytes);
    return status;
}

/* ---- checkpoints ---- */

int64_t star_group_load_checkpoint(struct star_group *group, const void **model,
                                   size_t *bytes)
{
    struct msg_ask ask = {.collective = COLLECTIVE_LOAD};
    struct span span = {NULL, 0};

    if (call(group, &ask, NULL) != STAR_GROUP_SUCCESS)
        return -1;
    if (!group->told.version || !group->told.bytes)
        return 0;
    span.size = (size_t)group->told.bytes;
    group->loaded = span.bytes = malloc(span.size);
    if (!span.bytes) {
        (void)refuse(group, "not enough memory");
        return -1;
    }
    gains_copy(group, &span, 1);
    *model = span.bytes;
    *bytes = span.size;
    return (int64_t)group->told.version;
}

enum star_group_status star_group_checkpoint(struct star_group *group,
                                             const void *model, size_t bytes)
{
    struct msg_ask ask = {.collective = COLLECTIVE_CHECKPOINT, .bytes = bytes};
    struct span span = span_of(model, bytes);
    struct cargo cargo = {&span, 1, NULL, 0, NULL, NULL};

    if (!bytes)
        return refuse(group, "a checkpoint of zero bytes");
    return call(group, &ask, &cargo);
}

/* The former model may be asked for until this checkpoint is done. */
enum star_group_status star_group_lazy_checkpoint(struct star_group *group,
                                                  const void *model,
                                                  size_t bytes)
{
    struct msg_ask ask = {.collective = COLLECTIVE_LAZY, .bytes = bytes};
    enum star_group_status status;

    if (!bytes)
        return refuse(group, "a checkpoint of zero bytes");
    status = call(group, &ask, NULL);
    if (status == STAR_GROUP_SUCCESS)
        group->lazy = span_of(model, bytes);
    return status;
}
