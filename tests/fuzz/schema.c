/* Fuzzes the reader of schemas: what it accepts is printed as it was, and its
 * tensors fill the model. */
#include <assert.h>
#include <string.h>

#include "core/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_tensors(const struct schema *schema)
{
    uint64_t elements = 0;

    for (unsigned i = 0; i < schema->count; i++) {
        assert(schema->tensors[i].first == elements);
        assert(schema->tensors[i].elements > 0);
        elements += schema->tensors[i].elements;
    }
    assert(elements == schema->elements && elements <= SCHEMA_MAX_ELEMENTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char text[SCHEMA_MAX_TEXT_BYTES];
    struct why why = {""};
    struct schema *schema = schema_parse((const char *)bytes, size, &why);
    struct schema *copy;

    if (!schema) {
        assert(strlen(why.text) > 0);
        return 0;
    }
    check_tensors(schema);
    assert(schema_print(schema, text, sizeof text) == size);
    assert(memcmp(text, bytes, size) == 0);
    copy = schema_parse(text, size, NULL);
    assert(copy && schema_compare(schema, copy, &why) == STATUS_OK);
    assert(copy->hash == schema->hash);
    schema_destroy(&copy);
    schema_destroy(&schema);
    return 0;
}
