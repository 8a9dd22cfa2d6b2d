/* The tensors that a program gives a link: described once, and no two of them
 * in the same place. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "node/library/inside.h"

_Static_assert((int)STAR_AVERAGED == (int)TENSOR_AVERAGED &&
                   (int)STAR_LARGEST == (int)TENSOR_LARGEST,
               "the public numbers are the schema's");

static uint64_t tensor_elements(const struct star_tensor *tensor)
{
    uint64_t elements = 1;

    for (int i = 0; i < tensor->rank; i++)
        elements *= tensor->shape[i];
    return elements;
}

/* What a tensor's values, or its gradient's, take. */
struct place {
    const float *begin, *end;
    size_t tensor;
};

static int by_begin(const void *one, const void *other)
{
    const struct place *a = one, *b = other;

    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Values are moved and gradients are read: what two tensors share would be
 * moved twice. */
static enum status check_memory(const struct star_tensor *tensors,
                                size_t tensor_count, struct why *why)
{
    struct place *places = NULL;
    enum status status = STATUS_OK;
    size_t count = 0;

    assert(tensor_count);
    places = calloc(2 * tensor_count, sizeof *places);
    if (!places)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    for (size_t i = 0; i < tensor_count; i++) {
        size_t elements = (size_t)tensor_elements(&tensors[i]);
        const float *value = tensors[i].value, *gradient = tensors[i].gradient;

        places[count++] = (struct place){value, value + elements, i};
        if (gradient)
            places[count++] = (struct place){gradient, gradient + elements, i};
    }
    qsort(places, count, sizeof *places, by_begin);
    for (size_t i = 1; i < count && status == STATUS_OK; i++)
        if (places[i].begin < places[i - 1].end)
            status = because(why, STATUS_USAGE,
                             "the tensors %.60s and %.60s share memory: give "
                             "each parameter once",
                             tensors[places[i - 1].tensor].name,
                             tensors[places[i].tensor].name);
    free(places);
    return status;
}

static enum status add(struct schema *schema, const struct star_tensor *tensor,
                       struct why *why)
{
    struct tensor like = {.rank = (unsigned)tensor->rank,
                          .kind = (enum tensor_kind)tensor->kind};

    if ((unsigned)tensor->kind >= TENSOR_KINDS)
        return because(why, STATUS_USAGE,
                       "tensor %.60s has a kind that is none", tensor->name);
    if (tensor->rank > STAR_RANK_MAX ||
        strlen(tensor->name) >= sizeof like.name)
        return schema_add(schema, tensor->name, like.rank, tensor->shape, why);
    memcpy(like.name, tensor->name, strlen(tensor->name) + 1);
    memcpy(like.shape, tensor->shape, sizeof like.shape);
    return schema_add_tensor(schema, &like, why);
}

static enum status describe(struct star_link *link,
                            const struct star_tensor *tensors, struct why *why)
{
    bool gradients = true, trained = false, raised = false;

    for (size_t i = 0; i < link->count; i++) {
        const struct star_tensor *tensor = &tensors[i];
        enum status status;

        if (!tensor->name || !tensor->value || tensor->rank < 0)
            return because(why, STATUS_USAGE,
                           "tensor %zu has no name or no values", i);
        status = add(link->schema, tensor, why);
        if (status != STATUS_OK)
            return status;
        link->values[i].values = tensor->value;
        link->values[i].count = (size_t)tensor_elements(tensor);
        link->gradients[i].values = tensor->gradient;
        link->gradients[i].count = link->values[i].count;
        gradients &= tensor->gradient || tensor->kind != STAR_TRAINED;
        trained |= tensor->kind == STAR_TRAINED;
        raised |= tensor->kind == STAR_LARGEST;
    }
    if (raised && link->options.change && !link->options.raise_to)
        return because(why, STATUS_USAGE,
                       "there are tensors of the kind STAR_LARGEST, and no "
                       "`raise_to` beside `change`");
    if (!gradients || !trained) {
        free(link->gradients);
        link->gradients = NULL;
    }
    return check_memory(tensors, link->count, why);
}

/* The program's tensors as ours; NULL: they cannot be. */
static struct star_tensor *read_all(const struct star_tensor *given,
                                    size_t count, enum status *status,
                                    struct why *why)
{
    struct star_tensor *tensors = calloc(count, sizeof *tensors);

    if (!tensors)
        *status = because(why, STATUS_NO_MEMORY, "not enough memory");
    for (size_t i = 0; tensors && *status == STATUS_OK && i < count; i++)
        *status = sized_read_at(&tensors[i], sizeof *tensors, given, i,
                                "star_tensor", why);
    return tensors;
}

enum status link_describe(struct star_link *link,
                          const struct star_tensor *given, struct why *why)
{
    enum status status = STATUS_OK;
    struct star_tensor *tensors = read_all(given, link->count, &status, why);

    if (status == STATUS_OK)
        status = describe(link, tensors, why);
    free(tensors);
    return status;
}

/* ---- moving ---- */

static enum status check_same(const struct star_link *link,
                              const struct star_tensor *tensors,
                              struct why *why)
{
    for (size_t i = 0; i < link->count; i++) {
        const struct tensor *known = &link->schema->tensors[i];
        const struct star_tensor *tensor = &tensors[i];

        if (!tensor->name || strcmp(tensor->name, known->name) != 0 ||
            tensor->rank != (int)known->rank ||
            (int)tensor->kind != (int)known->kind ||
            memcmp(tensor->shape, known->shape,
                   known->rank * sizeof *known->shape) != 0)
            return because(why, STATUS_USAGE,
                           "tensor %zu is not the one that was attached, %s", i,
                           known->name);
        if (!tensor->value ||
            (link->gradients && link->gradients[i].values && !tensor->gradient))
            return because(why, STATUS_USAGE,
                           "tensor %s has no values, or no gradient any more",
                           known->name);
    }
    return check_memory(tensors, link->count, why);
}

static void move(struct star_link *link, const struct star_tensor *tensors)
{
    (void)pthread_mutex_lock(&link->shell.lock);
    for (size_t i = 0; i < link->count; i++) {
        link->values[i].values = tensors[i].value;
        if (link->gradients)
            link->gradients[i].values = tensors[i].gradient;
    }
    (void)pthread_mutex_unlock(&link->shell.lock);
}

enum star_status star_retarget(struct star_link *link,
                               const struct star_tensor *given, size_t count,
                               char *error, size_t size)
{
    enum status status = STATUS_OK;
    struct star_tensor *tensors;
    struct why why = {""};

    if (!link)
        return STAR_OK;
    if (!given || count != link->count)
        return shell_failure(error, size, STATUS_USAGE,
                             "there are more or fewer tensors than attached");
    tensors = read_all(given, count, &status, &why);
    if (status == STATUS_OK)
        status = check_same(link, tensors, &why);
    if (status == STATUS_OK)
        move(link, tensors);
    free(tensors);
    return status == STATUS_OK ? STAR_OK
                               : shell_failure(error, size, status, why.text);
}
