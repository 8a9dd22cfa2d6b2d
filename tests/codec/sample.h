/* Messages with random fields, for tests: a loop over the tables. */
#ifndef TESTS_CODEC_SAMPLE_H
#define TESTS_CODEC_SAMPLE_H

#include <stdbool.h>

#include "codec/msg.h"
#include "core/prng.h"

/* A message that may be sent, its numbers of all sizes, its texts of all
 * lengths and of any bytes but NUL; zero behind the texts. */
struct msg sample_message(enum msg_kind kind, struct prng *prng);

/* Whether kind and fields are the same, bit by bit. */
bool same_message(const struct msg *a, const struct msg *b);

/* Whether messages of this kind go over the wire. */
bool travels(enum msg_kind kind);

/* msg_decode from a buffer of exactly `size` bytes, so that a sanitizer sees
 * what is read beyond it; checks that a refusal changes nothing. */
enum status decode_exactly(const unsigned char *bytes, size_t size,
                           struct msg *out);

#endif
