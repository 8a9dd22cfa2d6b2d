#include "train/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

typedef const struct star_trainer_type *entry_function(void);

/* dlopen looks for a name without a slash in the system's folders only. */
static void *load(const char *path)
{
    char local[PATH_BYTES];
    int size = snprintf(local, sizeof local, "%s%s",
                        strchr(path, '/') ? "" : "./", path);

    if (size < 0 || size >= PATH_BYTES)
        return NULL;
    return dlopen(local, RTLD_NOW | RTLD_LOCAL);
}

static const char *load_error(void)
{
    const char *words = dlerror();

    return words ? words : "its name is too long";
}

static entry_function *find_entry(void *library)
{
    void *symbol = dlsym(library, "star_trainer");
    entry_function *entry = NULL;

    /* ISO C has no cast from an object's to a function's pointer. */
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

enum status plugin_check_type(const char *path,
                              const struct star_trainer_type *type,
                              struct why *why)
{
    if (!type)
        return because(why, STATUS_UNAVAILABLE, "%s offers no trainer", path);
    if (type->abi != STAR_TRAINER_ABI)
        return because(why, STATUS_VERSION,
                       "%s was built for version %u of the trainer interface "
                       "but this is version %u; compile it again",
                       path, (unsigned)type->abi, STAR_TRAINER_ABI);
    if (!type->name || !type->help || !type->create || !type->destroy ||
        !type->describe || !type->gradient || !type->step || !type->evaluate ||
        !type->set_shard)
        return because(why, STATUS_CONFIG,
                       "%s lacks a function that starswitch_trainer.h asks "
                       "for; add it and compile again",
                       path);
    return STATUS_OK;
}

enum status plugin_open(const char *path, void **library,
                        const struct star_trainer_type **type, struct why *why)
{
    const struct star_trainer_type *found = NULL;
    void *handle = load(path);
    entry_function *entry;
    enum status status;

    if (!handle)
        return because(why, STATUS_UNAVAILABLE, "cannot load a trainer: %s",
                       load_error());
    entry = find_entry(handle);
    if (entry) {
        found = entry();
        status = plugin_check_type(path, found, why);
    } else {
        status = because(why, STATUS_UNAVAILABLE,
                         "%s does not export star_trainer(); see "
                         "starswitch_trainer.h",
                         path);
    }
    if (status) {
        plugin_close(&handle);
        return status;
    }
    *library = handle;
    *type = found;
    return STATUS_OK;
}

void plugin_close(void **library)
{
    if (*library)
        (void)dlclose(*library);
    *library = NULL;
}

/* The tensor's floats, or 0 if it is not where `offset` says. */
static uint64_t tensor_elements(const struct star_trainer_model *model,
                                const struct star_trainer_tensor *tensor,
                                uint64_t offset)
{
    uint64_t product = 1, left = model->elements - offset;

    if (!tensor->name || tensor->rank < 0 ||
        tensor->rank > STAR_TRAINER_RANK_MAX ||
        tensor->value != model->values + offset ||
        tensor->gradient != model->gradients + offset)
        return 0;
    for (int i = 0; i < tensor->rank; i++) {
        if (!tensor->shape[i] || tensor->shape[i] > left / product)
            return 0;
        product *= tensor->shape[i];
    }
    return product <= left ? product : 0;
}

enum status plugin_check_model(const char *name,
                               const struct star_trainer_model *model,
                               struct why *why)
{
    uint64_t offset = 0;

    if (!model->values || !model->gradients || !model->tensors ||
        !model->summary || model->elements == 0)
        return because(why, STATUS_CONFIG,
                       "trainer %s describes no model; its describe() must "
                       "fill every field",
                       name);
    for (size_t i = 0; i < model->tensor_count; i++) {
        uint64_t size = tensor_elements(model, &model->tensors[i], offset);

        if (!size)
            return because(why, STATUS_CONFIG,
                           "trainer %s: tensor %zu does not follow the one "
                           "before it in values and gradients; see "
                           "starswitch_trainer.h",
                           name, i);
        offset += size;
    }
    if (offset != model->elements)
        return because(why, STATUS_CONFIG,
                       "trainer %s: the tensors have fewer floats than "
                       "`elements` says; see starswitch_trainer.h",
                       name);
    return STATUS_OK;
}
