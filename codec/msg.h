/* Messages: the structs of messages.def, and their bytes on the wire.
 *
 * A message is two frames: a flat msgpack array [kind, field, ...] and, for
 * kinds that have one, a payload of raw bytes, which never goes through
 * msgpack. Bytes from outside are checked before msgpack sees them. Fields are
 * finite numbers. */
#ifndef CODEC_MSG_H
#define CODEC_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/score.h"
#include "core/status.h"
#include "core/words.h"

/* Both are spoken: a release talks to the one before it (docs/protocol.md,
 * Versions). */
enum { PROTOCOL_MIN = 3, PROTOCOL_MAX = 5 };
/* The first that has LOG, the optional fields of PING and FILLED, and the codec
 * sparse. */
enum { PROTOCOL_TOLD = 4 };
/* The first in which a RESULT or a REVIEW comes without values that the node
 * has, or can work out. */
enum { PROTOCOL_SPARED = 5 };
/* Fields of a HELLO that every protocol begins with, and that its kind is 0. */
enum { HELLO_VERSIONS = 2 };
/* In the place of a limit: the field is optional. */
#define OPTIONAL UINT32_MAX
enum { MSG_TEXT_BYTES = 120, MSG_MAX_BYTES = 1024 };
enum { LOG_LEVELS = 4 };

/* Whether a node holds what a result with this verb brings: parameters that its
 * own move to, and no change or gradient. */
static inline bool verb_is_kept(enum verb verb)
{
    return verb == VERB_REBASE || verb == VERB_REPLACE || verb == VERB_PULL;
}

enum codec_id {
#define CODEC(NAME, name, bits, use, valid, doc) CODEC_##NAME,
#include "codec/codecs.def"
#undef CODEC
    CODEC_COUNT
};

enum msg_kind {
#define MESSAGE(KIND, name, channel, to, payload, doc) MSG_##KIND,
#define FIELD(name, type, field, limit, doc)
#define MESSAGE_END(name)
#include "codec/messages.def"
#undef MESSAGE
#undef FIELD
#undef MESSAGE_END
    MSG_KINDS
};

/* The member that a field is. */
#define MEMBER_U32(field) uint32_t field;
#define MEMBER_U64(field) uint64_t field;
#define MEMBER_I64(field) int64_t field;
#define MEMBER_F64(field) double field;
#define MEMBER_TEXT(field) char field[MSG_TEXT_BYTES];
#define MESSAGE(KIND, name, channel, to, payload, doc) struct msg_##name {
#define FIELD(name, type, field, limit, doc) MEMBER_##type(field)
#define MESSAGE_END(name)                                                      \
    }                                                                          \
    ;
#include "codec/messages.def"
#undef MESSAGE
#undef FIELD
#undef MESSAGE_END

struct msg {
    enum msg_kind kind;
    union {
#define MESSAGE(KIND, name, channel, to, payload, doc) struct msg_##name name;
#define FIELD(name, type, field, limit, doc)
#define MESSAGE_END(name)
#include "codec/messages.def"
#undef MESSAGE
#undef FIELD
#undef MESSAGE_END
    };
};

/* The type is the C type of the same name; I64 is never below 0 on a wire. */
enum field_type { FIELD_U32, FIELD_U64, FIELD_I64, FIELD_F64, FIELD_TEXT };
enum payload_kind {
    PAYLOAD_NONE,
    PAYLOAD_SCHEMA,
    PAYLOAD_CHUNK,
    PAYLOAD_CHUNK_UNLESS_KNOWN, /* or none */
    PAYLOAD_VECTOR
};

struct msg_field {
    const char *name;
    enum field_type type;
    size_t offset;  /* in struct msg */
    uint32_t limit; /* 0: none */
    bool optional;  /* it may be missing, with all behind it, and is 0 then */
};

/* A row of messages.def. */
struct msg_info {
    const char *name;
    enum channel channel;
    const char *to;
    enum payload_kind payload;
    const struct msg_field *fields;
    unsigned field_count;
};

const struct msg_info *msg_info(enum msg_kind kind);

/* Writes the header frame of a message that may travel; returns its length,
 * which never exceeds MSG_MAX_BYTES. Texts are cut to fit; a number that is
 * not finite travels as NO_SCORE, an I64 below 0 as 0. */
size_t msg_encode(const struct msg *msg, unsigned char bytes[MSG_MAX_BYTES]);

/* Whether its sender speaks a protocol that we do. */
bool protocol_fits(const struct msg_hello *hello);
/* The newest that we and a peer speak that fits. */
uint32_t protocol_common(uint32_t peer_max);

/* Reads a header frame from a hostile peer, allocating nothing. MALFORMED for
 * anything that is not exactly one well-formed message of a channel other than
 * LOCAL; then `msg` is unchanged. A HELLO of another protocol may have any
 * fields behind its versions; these are then all that is read. What is not a
 * field of the message is zero, and so is an optional one that is missing; of a
 * message that has such, whole numbers behind all fields are ignored, as a
 * newer peer may say more. Integers may have any of msgpack's forms, arrays and
 * texts the two shortest; F64 is a float64. */
enum status msg_decode(const unsigned char *bytes, size_t size,
                       struct msg *msg) MUST_CHECK;

/* Writes `name field=value ...` for people and transcripts, as a string of
 * size >= 1: integers in decimal, numbers with as few digits as make them
 * exact, texts as quote_json does. Returns the length, cut to fit. */
size_t msg_print(const struct msg *msg, char *text, size_t size);

#endif
