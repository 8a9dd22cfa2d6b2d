#include "sim/trace/export.h"

#include <string.h>

const struct exporter exporters[] = {
#define EXPORTER(name, doc) {#name, doc, export_##name},
#include "sim/trace/exporters.def"
#undef EXPORTER
};

const unsigned exporter_count = sizeof exporters / sizeof *exporters;

const struct exporter *exporter_find(const char *name)
{
    for (unsigned i = 0; i < exporter_count; i++)
        if (strcmp(exporters[i].name, name) == 0)
            return &exporters[i];
    return NULL;
}
