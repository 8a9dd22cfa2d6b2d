/* What is said of a socket in the handshake: metadata, and ERROR. */
#include <string.h>

#include "net/zmtp/inside.h"

static const char type_name[] = "Socket-Type";

enum { ERROR_NAME_BYTES = 6, CODE_BYTES = 3, LENGTH_BYTES = 4 };

size_t zmtp_metadata(const struct zmtp *zmtp, unsigned char *out)
{
    const size_t name = sizeof type_name - 1, type = 6;
    unsigned char *end = out;

    *end++ = (unsigned char)name;
    memcpy(end, type_name, name);
    end += name;
    memcpy(end, (unsigned char[]){0, 0, 0, (unsigned char)type}, LENGTH_BYTES);
    end += LENGTH_BYTES;
    memcpy(end, zmtp->plan.server ? "ROUTER" : "DEALER", type);
    return (size_t)(end + type - out);
}

/* RFC 37 wants names compared without regard to case. */
static bool is_type(const unsigned char *name, size_t size)
{
    if (size != sizeof type_name - 1)
        return false;
    for (size_t i = 0; i < size; i++)
        if ((name[i] | 0x20) != (type_name[i] | 0x20))
            return false;
    return true;
}

static size_t read_length(const unsigned char *bytes)
{
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 |
           (size_t)bytes[2] << 8 | bytes[3];
}

/* The length of the next property, or 0 when it is not whole. */
static size_t property_bytes(const unsigned char *bytes, size_t size)
{
    size_t name, value;

    if (!size || !bytes[0])
        return 0;
    name = 1 + (size_t)bytes[0];
    if (size < name + LENGTH_BYTES)
        return 0;
    value = read_length(bytes + name);
    if (value > size - name - LENGTH_BYTES)
        return 0;
    return name + LENGTH_BYTES + value;
}

enum zmtp_fault zmtp_read_metadata(const struct zmtp *zmtp,
                                   const unsigned char *bytes, size_t size)
{
    const char *wanted = zmtp->plan.server ? "DEALER" : "ROUTER";
    bool fits = false;

    while (size) {
        size_t length = property_bytes(bytes, size);
        size_t value;

        if (!length)
            return ZMTP_FAULT_HANDSHAKE;
        value = 1 + (size_t)bytes[0] + LENGTH_BYTES;
        if (is_type(bytes + 1, bytes[0]))
            fits = length - value == strlen(wanted) &&
                   memcmp(bytes + value, wanted, strlen(wanted)) == 0;
        bytes += length;
        size -= length;
    }
    return fits ? ZMTP_FAULT_NONE : ZMTP_FAULT_SOCKET_TYPE;
}

/* Codes are those of ZAP (RFC 27): 300 is for a while, 400 for good. */
enum zmtp_fault zmtp_read_error(const unsigned char *body, size_t size)
{
    const unsigned char *reason = body + ERROR_NAME_BYTES + 1;

    if (size < ERROR_NAME_BYTES + 1 ||
        size != (size_t)ERROR_NAME_BYTES + 1 + body[ERROR_NAME_BYTES])
        return ZMTP_FAULT_COMMAND;
    if (body[ERROR_NAME_BYTES] != CODE_BYTES)
        return ZMTP_FAULT_SAID_ERROR;
    if (memcmp(reason, "300", CODE_BYTES) == 0)
        return ZMTP_FAULT_SAID_BANNED;
    return memcmp(reason, "400", CODE_BYTES) == 0 ? ZMTP_FAULT_SAID_REFUSED
                                                  : ZMTP_FAULT_SAID_ERROR;
}
