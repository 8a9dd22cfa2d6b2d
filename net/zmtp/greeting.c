/* The greeting, and the handshake that follows it. */
#include <string.h>

#include "net/zmtp/inside.h"

enum {
    MARK_AT = 9, /* the end of the signature */
    MAJOR_AT = 10,
    MECHANISM_AT = 12,
    MECHANISM_BYTES = 20,
    ROLE_AT = 32,
    MAJOR = 3,
    MINOR = 1
};

static const char no_keys[MECHANISM_BYTES] = "NULL";
static const char with_keys[MECHANISM_BYTES] = "CURVE";

void zmtp_put_greeting(struct zmtp *zmtp)
{
    unsigned char greeting[GREETING_BYTES] = {0xff};

    greeting[MARK_AT - 1] = 1; /* as the oldest ZMTP would read it: a length */
    greeting[MARK_AT] = 0x7f;
    greeting[MAJOR_AT] = MAJOR;
    greeting[MAJOR_AT + 1] = MINOR;
    memcpy(greeting + MECHANISM_AT, zmtp->plan.keys ? with_keys : no_keys,
           MECHANISM_BYTES);
    greeting[ROLE_AT] = zmtp->plan.keys && zmtp->plan.server;
    zmtp_put(zmtp, greeting, sizeof greeting);
}

/* What is wrong with as much of it as is there. */
enum zmtp_fault zmtp_look_at_greeting(const struct zmtp *zmtp)
{
    const unsigned char *greeting = zmtp->small;

    if (zmtp->have > 0 && greeting[0] != 0xff)
        return ZMTP_FAULT_SIGNATURE;
    if (zmtp->have > MARK_AT && greeting[MARK_AT] != 0x7f)
        return ZMTP_FAULT_SIGNATURE;
    if (zmtp->have > MAJOR_AT && greeting[MAJOR_AT] < MAJOR)
        return ZMTP_FAULT_VERSION;
    return ZMTP_FAULT_NONE;
}

static enum zmtp_fault compare_mechanism(const struct zmtp *zmtp)
{
    const unsigned char *theirs = zmtp->small + MECHANISM_AT;
    bool none = memcmp(theirs, no_keys, MECHANISM_BYTES) == 0;
    bool keys = memcmp(theirs, with_keys, MECHANISM_BYTES) == 0;

    if (zmtp->plan.keys ? keys : none)
        return ZMTP_FAULT_NONE;
    if (none)
        return ZMTP_FAULT_NO_KEYS;
    return keys ? ZMTP_FAULT_WANTS_KEYS : ZMTP_FAULT_MECHANISM;
}

enum zmtp_event zmtp_greeted(struct zmtp *zmtp)
{
    enum zmtp_fault fault = compare_mechanism(zmtp);
    unsigned char ready[6 + METADATA_BYTES] = "\5READY";

    if (fault)
        return zmtp_fail(zmtp, fault);
    if (!zmtp->plan.keys) {
        zmtp_put_command(zmtp, ready, 6 + zmtp_metadata(zmtp, ready + 6));
        zmtp->expects = ZMTP_EXPECTS_READY;
    } else if (zmtp->plan.server) {
        zmtp->expects = ZMTP_EXPECTS_HELLO;
    } else {
        curve_begin(zmtp);
        zmtp->expects = ZMTP_EXPECTS_WELCOME;
    }
    zmtp_expect_frame(zmtp);
    return ZMTP_WANTS;
}

static enum zmtp_event ready(struct zmtp *zmtp)
{
    enum zmtp_fault fault;

    if (!zmtp_is_named(zmtp->small, zmtp->need, "READY"))
        return zmtp_fail(zmtp, ZMTP_FAULT_ORDER);
    fault = zmtp_read_metadata(zmtp, zmtp->small + 6, zmtp->need - 6);
    return fault ? zmtp_fail(zmtp, fault) : ZMTP_SHAKEN;
}

enum zmtp_event zmtp_shake(struct zmtp *zmtp)
{
    enum zmtp_event event;

    if (zmtp_is_named(zmtp->small, zmtp->need, "ERROR"))
        return zmtp_fail(zmtp, zmtp_read_error(zmtp->small, zmtp->need));
    event = zmtp->plan.keys ? curve_step(zmtp, zmtp->small, zmtp->need)
                            : ready(zmtp);
    if (event == ZMTP_FAILED)
        return event;
    if (event == ZMTP_SHAKEN)
        zmtp->expects = ZMTP_EXPECTS_MESSAGES;
    zmtp_expect_frame(zmtp);
    return event;
}
