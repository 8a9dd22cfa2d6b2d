/* What is wrong with a life. */
#include <stdarg.h>
#include <stdio.h>

#include "sim/study/soak_inside.h"

void life_complain(struct life *life, const char *format, ...)
{
    va_list arguments;

    if (life->out->complaint[0])
        return;
    va_start(arguments, format);
    (void)vsnprintf(life->out->complaint, sizeof life->out->complaint, format,
                    arguments);
    va_end(arguments);
}
