/* Fuzzes the codecs: of a payload that fits, the ranges add up to the whole.
 * The input is the codec, the elements (two bytes, little endian), a seed for
 * the ranges, and the payload, which is cut or filled to the right size. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "core/prng.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST = 3 * CODEC_GRAIN };

static double whole[MOST], parts[MOST];

static void add_ranges(const struct codec *codec, const unsigned char *payload,
                       size_t elements, uint64_t seed)
{
    struct prng prng;

    prng_seed(&prng, seed);
    for (size_t first = 0; first < elements;) {
        size_t count = 1 + (size_t)prng_below(&prng, 1000);

        if (count > elements - first)
            count = elements - first;
        codec->add(payload, first, count, elements, 0.5, parts + first);
        first += count;
    }
}

/* To the last bit. */
static bool equal(const void *one, const void *other, size_t size)
{
    return memcmp(one, other, size) == 0;
}

static void check(enum codec_id codec, const unsigned char *payload,
                  size_t elements, uint64_t seed)
{
    memset(whole, 0, sizeof whole);
    memset(parts, 0, sizeof parts);
    codecs[codec].add(payload, 0, elements, elements, 0.5, whole);
    add_ranges(&codecs[codec], payload, elements, seed);
    for (size_t i = 0; i < elements; i++)
        assert(equal(&whole[i], &parts[i], sizeof *whole) ||
               (isnan(whole[i]) && isnan(parts[i])));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum codec_id codec;
    size_t elements, room;
    unsigned char *payload;

    if (size < 4)
        return 0;
    codec = (enum codec_id)(bytes[0] % CODEC_COUNT);
    elements = (size_t)(bytes[1] | bytes[2] << 8) % (MOST + 1);
    room = codecs[codec].bound(elements);
    payload = calloc(1, room ? room : 1);
    assert(payload);
    memcpy(payload, bytes + 4, size - 4 < room ? size - 4 : room);
    assert(!codec_fits(CODEC_COUNT, payload, room, elements));
    assert(!codec_fits(codec, payload, room + 1, elements));
    if (codec_fits(codec, payload, room, elements))
        check(codec, payload, elements, bytes[3]);
    free(payload);
    return 0;
}
