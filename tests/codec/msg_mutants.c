/* Messages that were cut, extended or changed on their way. */
#include <string.h>

#include "codec/msg.h"
#include "tests/check.h"
#include "tests/codec/sample.h"

static size_t encode_sample(enum msg_kind kind, struct prng *prng,
                            unsigned char bytes[MSG_MAX_BYTES])
{
    struct msg msg = sample_message(kind, prng);

    return msg_encode(&msg, bytes);
}

static void every_prefix_of_a_message_is_refused(void)
{
    struct prng prng;

    prng_seed(&prng, 1);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        for (int round = 0; travels(kind) && round < 5; round++) {
            unsigned char bytes[MSG_MAX_BYTES];
            size_t size = encode_sample(kind, &prng, bytes);
            struct msg msg;

            for (size_t part = 0; part < size; part++)
                if (!CHECK_STATUS(STATUS_MALFORMED,
                                  decode_exactly(bytes, part, &msg)))
                    return;
        }
}

static void a_byte_behind_a_message_is_refused(void)
{
    struct prng prng;

    prng_seed(&prng, 2);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        for (unsigned byte = 0; travels(kind) && byte < 256; byte++) {
            unsigned char bytes[MSG_MAX_BYTES + 1];
            size_t size = encode_sample(kind, &prng, bytes);
            struct msg msg;

            bytes[size] = (unsigned char)byte;
            if (!CHECK_STATUS(STATUS_MALFORMED,
                              decode_exactly(bytes, size + 1, &msg)))
                return;
        }
}

/* Whatever is accepted is a message that can be sent on. */
static bool is_sound(const unsigned char *bytes, size_t size)
{
    unsigned char again[MSG_MAX_BYTES];
    struct msg msg, copy;

    if (decode_exactly(bytes, size, &msg))
        return true;
    return CHECK_OK(decode_exactly(again, msg_encode(&msg, again), &copy)) &&
           CHECK(same_message(&msg, &copy));
}

static bool is_sound_whatever_byte_is_at(unsigned char *bytes, size_t size,
                                         size_t at)
{
    unsigned step = runs_slowly() ? 7 : 1;
    unsigned char old = bytes[at];
    bool sound = true;

    for (unsigned byte = 0; sound && byte < 256; byte += step) {
        bytes[at] = (unsigned char)byte;
        sound = is_sound(bytes, size);
    }
    bytes[at] = old;
    return sound;
}

static void a_message_with_one_byte_changed_is_refused_or_sound(void)
{
    struct prng prng;

    prng_seed(&prng, 3);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++) {
        unsigned char bytes[MSG_MAX_BYTES];
        size_t size = travels(kind) ? encode_sample(kind, &prng, bytes) : 0;

        for (size_t at = 0; at < size; at++)
            if (!is_sound_whatever_byte_is_at(bytes, size, at))
                return;
    }
}

static void noise_is_refused_or_sound(void)
{
    struct prng prng;

    prng_seed(&prng, 4);
    for (int round = 0; round < (runs_slowly() ? 2000 : 20000); round++) {
        unsigned char bytes[64];
        size_t size = (size_t)prng_below(&prng, sizeof bytes + 1);

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)prng_next(&prng);
        bytes[0] = 0x90 | (bytes[0] & 0x0f);
        bytes[1] %= MSG_KINDS;
        if (!is_sound(bytes, size))
            return;
    }
}

void add_codec_msg_mutants_tests(CU_pSuite suite)
{
    TEST(every_prefix_of_a_message_is_refused);
    TEST(a_byte_behind_a_message_is_refused);
    TEST(a_message_with_one_byte_changed_is_refused_or_sound);
    TEST(noise_is_refused_or_sound);
}
