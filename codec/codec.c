#include "codec/codec.h"

#include <string.h>

const struct codec codecs[CODEC_COUNT] = {
#define CODEC(NAME, name, bits, use, valid, doc)                               \
    [CODEC_##NAME] = {#name,                                                   \
                      doc,                                                     \
                      bits,                                                    \
                      CODEC_FOR_##use,                                         \
                      codec_##name##_bound,                                    \
                      codec_##name##_encode,                                   \
                      codec_##name##_add,                                      \
                      valid},
#include "codec/codecs.def"
#undef CODEC
};

const struct codec *codec_find(const char *name)
{
    for (unsigned i = 0; i < CODEC_COUNT; i++)
        if (strcmp(codecs[i].name, name) == 0)
            return &codecs[i];
    return NULL;
}

bool codec_fits(enum codec_id codec, const unsigned char *bytes, size_t size,
                size_t elements)
{
    return (unsigned)codec < CODEC_COUNT &&
           codecs[codec].bound(elements) == size &&
           (!codecs[codec].valid || codecs[codec].valid(bytes, elements));
}
