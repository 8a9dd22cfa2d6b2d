/* Any bytes, read as a model file: they are refused with a reason, or give a
 * schema and as many values as it says. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct safetensors *file = NULL;
    struct why why = {""};

    if (safetensors_parse(bytes, size, &file, &why) != STATUS_OK) {
        assert(!file && why.text[0]);
        return 0;
    }
    assert(file->schema->elements * sizeof(float) <= size);
    for (size_t i = 0; i < file->pair_count; i++)
        assert(safetensors_value(file, file->pairs[i].key));
    if (file->schema->elements > 0) {
        size_t values = file->schema->elements * sizeof(float);

        if (memcmp(file->values, bytes + size - values, values) != 0)
            abort();
    }
    safetensors_destroy(&file);
    return 0;
}
