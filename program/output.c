#include "program/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int output_fail(const char *program, enum status status, const struct why *why)
{
    if (status != STATUS_OK)
        (void)fprintf(stderr, "%s: %s\n", program, why->text);
    return status_exit_code(status);
}

int output_end(const char *program, int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (code != 0 || errno == EPIPE)
        return code;
    (void)fprintf(stderr,
                  "%s: not all that it prints was written%s%s: is there room "
                  "where it goes?\n",
                  program, errno ? ": " : "", errno ? strerror(errno) : "");
    return status_exit_code(STATUS_IO);
}
