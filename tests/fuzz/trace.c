/* Any bytes as a trace, and as what the importers read: the first byte says
 * which, '0' the parser, from '1' on the importers in their order. What is
 * accepted comes back from the text that it is written as. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/trace/export.h"
#include "sim/trace/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Text that grows. */
struct page {
    char *bytes;
    size_t length, room;
};

static bool put(void *of, const char *text, size_t length)
{
    struct page *page = of;

    if (page->room - page->length < length) {
        page->room = 2 * page->room + length + 256;
        page->bytes = realloc(page->bytes, page->room);
        assert(page->bytes);
    }
    memcpy(page->bytes + page->length, text, length);
    page->length += length;
    return true;
}

static enum status read_as(unsigned kind, const char *text, size_t size,
                           struct trace **out, struct why *why)
{
    const struct import_options options = {.node = TRACE_ALL,
                                           .quantities = 1U << QUANTITY_UP};

    if (kind == 0 || kind > importer_count)
        return trace_parse(text, size, out, why);
    return importers[kind - 1].import(text, size, &options, out, why);
}

static void write_and_read(const struct trace *trace)
{
    struct page page = {NULL, 0, 0};
    const struct trace_sink sink = {put, &page};
    struct trace *again = NULL;
    enum status status;

    assert(trace_write(trace, &sink));
    status = trace_parse(page.bytes, page.length, &again, NULL);
    assert(status == STATUS_OK && trace_equal(trace, again));
    trace_destroy(&again);
    for (unsigned i = 0; i < exporter_count; i++) {
        status = exporters[i].export(trace, &sink, NULL);
        assert(status == STATUS_OK);
    }
    free(page.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *text = (const char *)bytes;
    struct trace *trace = NULL;
    struct why why = {""};
    enum status status;

    if (!size)
        return 0;
    status =
        read_as((unsigned)(*bytes - '0'), text + 1, size - 1, &trace, &why);
    assert((status == STATUS_OK) == (trace != NULL));
    assert(trace || strncmp(why.text, "line ", 5) == 0);
    if (trace)
        write_and_read(trace);
    trace_destroy(&trace);
    return 0;
}
