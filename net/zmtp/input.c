/* What an engine waits for. */
#include <string.h>

#include "net/zmtp/inside.h"

void zmtp_expect(struct zmtp *zmtp, enum zmtp_at at, unsigned char *target,
                 size_t need)
{
    zmtp->at = at;
    zmtp->target = target;
    zmtp->have = 0;
    zmtp->need = need;
}

void zmtp_expect_frame(struct zmtp *zmtp)
{
    zmtp_expect(zmtp, ZMTP_AT_HEAD, zmtp->small, 1);
}

enum zmtp_event zmtp_fail(struct zmtp *zmtp, enum zmtp_fault fault)
{
    zmtp->fault = fault;
    zmtp_expect(zmtp, ZMTP_AT_END, NULL, 0);
    return ZMTP_FAILED;
}

bool zmtp_is_named(const unsigned char *body, size_t size, const char *name)
{
    size_t length = strlen(name);

    return size > length && body[0] == length &&
           memcmp(body + 1, name, length) == 0;
}
