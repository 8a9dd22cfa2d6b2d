#include "sim/trace/import.h"

#include <string.h>

const struct importer importers[] = {
#define IMPORTER(name, doc) {#name, doc, import_##name},
#include "sim/trace/importers.def"
#undef IMPORTER
};

const unsigned importer_count = sizeof importers / sizeof *importers;

const struct importer *importer_find(const char *name)
{
    for (unsigned i = 0; i < importer_count; i++)
        if (strcmp(importers[i].name, name) == 0)
            return &importers[i];
    return NULL;
}

bool import_quantities(const char *word, unsigned *bits)
{
    if (strcmp(word, "rate") == 0) {
        *bits = 1U << QUANTITY_UP | 1U << QUANTITY_DOWN;
        return true;
    }
    for (unsigned i = 0; i < QUANTITIES; i++)
        if (strcmp(word, quantities[i].name) == 0) {
            *bits = 1U << i;
            return true;
        }
    return false;
}
