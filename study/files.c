#include "study/files.h"

#include <stdlib.h>

#include "store/file.h"
#include "study/acts.h"
#include "trace/trace.h"

static enum status in_file(const char *path, enum status status,
                           const struct why *reason, struct why *why)
{
    if (status == STATUS_OK)
        return STATUS_OK;
    return because(why, status, "%.120s: %s", path, reason->text);
}

enum status trace_load(const char *path, struct trace **out, struct why *why)
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
    status = trace_parse(text, size, out, &reason);
    free(text);
    return in_file(path, status, &reason, why);
}

enum status acts_load(const char *path, struct acts **out, struct why *why)
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
    status = acts_parse(text, size, out, &reason);
    free(text);
    return in_file(path, status, &reason, why);
}
