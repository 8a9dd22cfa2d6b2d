#include "codec/codec.h"

const struct codec codecs[CODEC_COUNT] = {
#define CODEC(NAME, name, bits, doc)                                           \
    [CODEC_##NAME] = {#name, doc, codec_##name##_bound, codec_##name##_encode, \
                      codec_##name##_add},
#include "codec/codecs.def"
#undef CODEC
};

bool codec_fits(enum codec_id codec, size_t bytes, size_t elements)
{
    return (unsigned)codec < CODEC_COUNT &&
           codecs[codec].bound(elements) == bytes;
}
