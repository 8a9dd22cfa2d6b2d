/* Handshakes with an engine of ours, honest or not, and what follows them. */
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/attack/volley.h"

static enum zmtp_fault let_all_in(void *self, const unsigned char *key)
{
    (void)self;
    (void)key;
    return ZMTP_FAULT_NONE;
}

static void begin(struct attack *attack, struct zmtp *zmtp)
{
    struct zmtp_plan plan = {.server = attack->role[0] == 'R',
                             .keys = attack->keyed ? &attack->keys : NULL,
                             .payload_bytes = 1 << 20,
                             .admit = let_all_in};
    unsigned char random[ZMTP_RANDOM_BYTES];

    for (size_t i = 0; i < sizeof random; i++)
        random[i] = (unsigned char)below(attack, 256);
    zmtp_init(zmtp, &plan, random);
}

/* Sends what the engine has to say; a byte of it may be changed. */
static bool say(struct attack *attack, int fd, struct zmtp *zmtp, bool honest)
{
    struct volley volley = {.size = 0};
    const unsigned char *bytes;
    size_t size;

    bytes = zmtp_output(zmtp, &size);
    volley.frames = size != 0;
    put(&volley, bytes, size);
    zmtp_sent(zmtp, size);
    attack->frames += size != 0;
    if (!honest && size && one_in(attack, 4))
        volley.bytes[below(attack, size)] ^=
            (unsigned char)(1 + below(attack, 255));
    return fire(attack, fd, &volley);
}

/* True once hands are shaken. */
static bool shake(struct attack *attack, int fd, struct zmtp *zmtp, bool honest)
{
    unsigned char bytes[2048];
    enum zmtp_event event = ZMTP_WANTS;

    while (event == ZMTP_WANTS && say(attack, fd, zmtp, honest)) {
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        size_t used = 0;

        if (got <= 0)
            return false;
        event = zmtp_receive(zmtp, bytes, (size_t)got, &used);
    }
    if (event == ZMTP_FAILED)
        attack->refused++;
    if (event != ZMTP_SHAKEN)
        return false;
    attack->shaken++;
    return true;
}

static void put_box(struct attack *attack, struct volley *volley,
                    struct zmtp *zmtp, unsigned char flags, size_t size)
{
    unsigned char inside[MSG_MAX_BYTES], out[MSG_MAX_BYTES + ZMTP_SEAL_BYTES];

    if (size > sizeof inside || one_in(attack, 2))
        size = some_header(attack, inside);
    curve_seal(zmtp, flags, inside, size, out);
    if (one_in(attack, 20))
        out[below(attack, size + ZMTP_SEAL_BYTES)] ^= 1;
    put_frame(attack, volley, 0, out, size + ZMTP_SEAL_BYTES);
}

void boxes(struct attack *attack, int fd)
{
    struct volley volley = {.size = 0};
    struct zmtp zmtp;
    unsigned count = (unsigned)below(attack, 60);

    begin(attack, &zmtp);
    if (shake(attack, fd, &zmtp, false)) {
        for (unsigned i = 0; i < count; i++)
            put_box(attack, &volley, &zmtp, (unsigned char)below(attack, 4),
                    below(attack, 40));
        (void)fire(attack, fd, &volley);
    }
    zmtp_free(&zmtp);
}

static int64_t milliseconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int shake_well(struct attack *attack)
{
    int64_t begun = milliseconds();
    struct timeval limit = {.tv_sec = 5};
    uint64_t refused = attack->refused;
    struct zmtp zmtp;
    bool shaken;
    int fd = reach(attack);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    begin(attack, &zmtp);
    shaken = shake(attack, fd, &zmtp, true) ||
             (attack->keyed && !attack->trusted && attack->refused > refused);
    zmtp_free(&zmtp);
    (void)close(fd);
    return shaken ? (int)(milliseconds() - begun) : -1;
}
