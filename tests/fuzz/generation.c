/* Any bytes, read as what a generation of the centre holds beside its models.
 * The first byte says what the rest is:
 *
 *     m  a MANIFEST, without the line at its end: what is read prints to the
 *        same bytes
 *     s  the state of a hub: one that goes on from it keeps its invariants */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/hub.h"
#include "store/inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { ELEMENTS = 10, CHUNK = 4, END_BYTES = 32 };

static void read_manifest(const uint8_t *bytes, size_t size)
{
    struct inventory manifest = {0};
    struct why why = {""};
    char *text = malloc(size + END_BYTES), *again;
    size_t again_size = 0;

    if (!text)
        abort();
    memcpy(text, bytes, size);
    size += (size_t)snprintf(text + size, END_BYTES, "end %016" PRIx64 "\n",
                             inventory_sum(bytes, size));
    if (inventory_parse(text, size, &manifest, &why) == STATUS_OK) {
        again = inventory_print(&manifest, &again_size);
        assert(again && again_size == size && !memcmp(again, text, size));
        free(again);
    } else {
        assert(why.text[0]);
    }
    inventory_free(&manifest);
    free(text);
}

static void read_state(const char *state)
{
    static const float values[ELEMENTS];
    static struct hub_view view;
    struct schema *schema = schema_new();
    struct pool *pool = pool_new();
    struct hub_config config = {.policy = presets[0].policy,
                                .every = 1,
                                .nodes = 1,
                                .chunk_elements = CHUNK,
                                .tasks = 3,
                                .epochs = 5,
                                .task_time = SECOND};
    struct hub *hub = hub_new(&config, pool);
    struct why why = {""};

    if (schema_add(schema, "w", 1, (uint64_t[]){ELEMENTS}, NULL) != STATUS_OK)
        abort();
    if (hub_restore(hub,
                    &(struct hub_saved){.schema = schema,
                                        .theta = values,
                                        .slot = {values, values},
                                        .state = state},
                    &why) != STATUS_OK)
        assert(why.text[0]);
    if (hub_check(hub))
        abort();
    hub_look(hub, 0, &view);
    hub_destroy(&hub);
    schema_destroy(&schema);
    pool_destroy(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *state;

    if (size == 0)
        return 0;
    if (*bytes == 'm')
        read_manifest(bytes + 1, size - 1);
    if (*bytes != 's')
        return 0;
    state = strndup((const char *)bytes + 1, size - 1);
    if (!state)
        abort();
    read_state(state);
    free(state);
    return 0;
}
