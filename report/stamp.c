#include "report/stamp.h"

#include <time.h>

void stamp_add(struct text *out, nanos wall)
{
    time_t seconds = (time_t)(wall / SECOND);
    struct tm parts = {0};
    char stamp[32];

    if (gmtime_r(&seconds, &parts) &&
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &parts))
        text_add(out, "%s", stamp);
}

void stamp_add_span(struct text *out, nanos span)
{
    long long seconds = (long long)(span / SECOND);

    if (seconds < 120)
        text_add(out, "%lld s", seconds);
    else if (seconds < 7200)
        text_add(out, "%lld min %lld s", seconds / 60, seconds % 60);
    else
        text_add(out, "%lld h %lld min", seconds / 3600, seconds / 60 % 60);
}
