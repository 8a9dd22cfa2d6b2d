#include "core/fragment.h"

struct fragment fragment_of(uint32_t number, uint32_t fragments)
{
    if (number == FRAGMENT_ALL || fragments < 2)
        return (struct fragment){0, 1};
    return (struct fragment){number, fragments};
}

bool fragment_holds(struct fragment fragment, uint32_t chunk)
{
    return chunk % fragment.stride == fragment.first;
}

bool fragments_meet(struct fragment one, struct fragment other)
{
    return one.first == other.first || one.stride != other.stride;
}

uint32_t fragment_chunks(struct fragment fragment, uint32_t chunks)
{
    return fragment.first < chunks
               ? (chunks - fragment.first - 1) / fragment.stride + 1
               : 0;
}
