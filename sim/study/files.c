#include "sim/study/files.h"

#include <stdlib.h>

#include "sim/study/script.h"
#include "sim/trace/lines.h"
#include "sim/trace/trace.h"
#include "store/file.h"

enum status files_check(const char *path, const char *text, size_t size,
                        struct why *why)
{
    const char *unpacker = size ? lines_unpacker(text, size) : NULL;

    if (!unpacker)
        return STATUS_OK;
    return because(why, STATUS_MALFORMED,
                   "%.120s is compressed: unpack it first, with %s", path,
                   unpacker);
}

/* `out` is what `parse` makes. */
static enum status load(const char *path,
                        enum status (*parse)(const char *text, size_t size,
                                             void *out, struct why *why),
                        void *out, struct why *why)
{
    struct why reason = {""};
    char *text = NULL;
    size_t size = 0;
    enum status status;

    if (!*path)
        return STATUS_OK;
    status = file_read(path, LONGEST_FILE, &text, &size, why);
    if (status != STATUS_OK)
        return status;
    status = files_check(path, text, size, why);
    if (status != STATUS_OK) {
        free(text);
        return status;
    }
    status = parse(text, size, out, &reason);
    free(text);
    if (status == STATUS_OK)
        return STATUS_OK;
    return because(why, status, "%.120s: %s", path, reason.text);
}

static enum status parse_trace(const char *text, size_t size, void *out,
                               struct why *why)
{
    struct trace **trace = out;

    return trace_parse(text, size, trace, why);
}

static enum status parse_script(const char *text, size_t size, void *out,
                                struct why *why)
{
    struct script **script = out;

    return script_parse(text, size, script, why);
}

enum status trace_load(const char *path, struct trace **out, struct why *why)
{
    return load(path, parse_trace, out, why);
}

enum status script_load(const char *path, struct script **out, struct why *why)
{
    return load(path, parse_script, out, why);
}
