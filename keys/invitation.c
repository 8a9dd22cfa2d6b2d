#include "keys/invitation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/file.h"

enum {
    SIX_BITS = 6,
    EIGHT_BITS = 8,
    TWO_KEYS = 2 * KEY_BYTES,
    LONGEST_FILE = 4096
};

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "abcdefghijklmnopqrstuvwxyz0123456789-_";

/* Letters of base64 that `size` bytes take. */
static size_t letters_of(size_t size)
{
    return (size * EIGHT_BITS + SIX_BITS - 1) / SIX_BITS;
}

static void encode(char kind, const uint8_t *bytes, size_t size, char *text)
{
    uint32_t bits = 0;
    unsigned have = 0;

    *text++ = kind;
    for (size_t i = 0; i < size; i++) {
        bits = bits << EIGHT_BITS | bytes[i];
        for (have += EIGHT_BITS; have >= SIX_BITS; have -= SIX_BITS)
            *text++ = digits[bits >> (have - SIX_BITS) & 63];
    }
    if (have)
        *text++ = digits[bits << (SIX_BITS - have) & 63];
    *text = '\0';
}

/* Whether the text is such a word of just so many bytes. */
static bool decode(const char *text, char kind, uint8_t *bytes, size_t size)
{
    uint32_t bits = 0;
    unsigned have = 0;
    size_t count = 0;

    if (*text++ != kind || strlen(text) != letters_of(size))
        return false;
    for (; *text; text++) {
        const char *digit = strchr(digits, *text);

        if (!digit)
            return false;
        bits = bits << SIX_BITS | (uint32_t)(digit - digits);
        have += SIX_BITS;
        if (have < EIGHT_BITS)
            continue;
        have -= EIGHT_BITS;
        bytes[count++] = (uint8_t)(bits >> have);
    }
    return (bits & ((1u << have) - 1)) == 0;
}

enum status invitation_read(const char *text, struct invitation *out,
                            struct why *why)
{
    uint8_t bytes[TWO_KEYS];
    struct invitation read = {.enrols = false};
    bool right = decode(text, 'H', bytes, KEY_BYTES);

    if (!right && decode(text, 'E', bytes, TWO_KEYS)) {
        read.enrols = true;
        memcpy(read.enrolment.secret.bytes, bytes + KEY_BYTES, KEY_BYTES);
        right = key_pair_complete(&read.enrolment);
    }
    memcpy(read.hub.bytes, bytes, KEY_BYTES);
    if (right)
        *out = read;
    explicit_bzero(bytes, sizeof bytes);
    invitation_wipe(&read);
    if (right)
        return STATUS_OK;
    if (*text == 'N')
        return because(why, STATUS_CONFIG,
                       "that is a node's own key; give the one for nodes, "
                       "which starswitch-hub keygen prints");
    return because(why, STATUS_CONFIG,
                   "that is no key for nodes: copy all of what "
                   "starswitch-hub keygen prints; it begins with E or H");
}

void invitation_print(const struct invitation *invitation,
                      char text[INVITATION_BYTES])
{
    uint8_t bytes[TWO_KEYS];

    memcpy(bytes, invitation->hub.bytes, KEY_BYTES);
    memcpy(bytes + KEY_BYTES, invitation->enrolment.secret.bytes, KEY_BYTES);
    if (invitation->enrols)
        encode('E', bytes, TWO_KEYS, text);
    else
        encode('H', bytes, KEY_BYTES, text);
    explicit_bzero(bytes, sizeof bytes);
}

void invitation_wipe(struct invitation *invitation)
{
    explicit_bzero(invitation, sizeof *invitation);
}

enum status node_key_read(const char *text, struct key *out, struct why *why)
{
    struct key key = {.bytes = {0}};

    if (!decode(text, 'N', key.bytes, KEY_BYTES))
        return because(why, STATUS_USAGE,
                       "that is no key of a node: a node that is not let in "
                       "says its own; it has %d characters and begins with N",
                       NODE_KEY_BYTES - 1);
    *out = key;
    return STATUS_OK;
}

void node_key_print(const struct key *key, char text[NODE_KEY_BYTES])
{
    encode('N', key->bytes, KEY_BYTES, text);
}

/* Whether a service manager has given it to this service alone; for that it may
 * have set rights of its own, of which a mode tells only half. */
static bool is_credential(const char *path)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    size_t length = folder ? strlen(folder) : 0;

    return length && strncmp(path, folder, length) == 0 &&
           path[length] == '/' && !strstr(path, "/../");
}

enum status invitation_file(const char *path, char word[INVITATION_BYTES],
                            struct why *why)
{
    char *bytes = NULL;
    size_t size = 0, first, length;
    struct stat found;
    enum status status;

    if (stat(path, &found) == 0 && S_ISREG(found.st_mode) &&
        (found.st_mode & (S_IRWXG | S_IRWXO)) && !is_credential(path))
        return because(why, STATUS_CONFIG,
                       "%.150s: others may read this key; say chmod 600 of it, "
                       "or, if somebody did, have the hub make a new one "
                       "(keygen --rotate)",
                       path);
    status = file_read(path, LONGEST_FILE, &bytes, &size, why);
    if (status != STATUS_OK)
        return status;
    first = strspn(bytes, " \t\r\n");
    length = strcspn(bytes + first, " \t\r\n");
    if (length < INVITATION_BYTES) {
        memcpy(word, bytes + first, length);
        word[length] = '\0';
    }
    explicit_bzero(bytes, size);
    free(bytes);
    return length && length < INVITATION_BYTES
               ? STATUS_OK
               : because(why, STATUS_CONFIG,
                         "%.150s holds no key for nodes: it is the word that "
                         "starswitch-hub keygen prints",
                         path);
}
