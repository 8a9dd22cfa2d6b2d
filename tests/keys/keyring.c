#include "tests/keys/keyring.h"

#include "tests/check.h"

static struct why why;

struct key some_key(void)
{
    struct key_pair pair;

    CHECK_OK(key_pair_make(&pair, &why));
    return pair.shown;
}

void ring_new_in(struct folder *folder, struct ring *ring)
{
    bool made;

    CHECK(folder_new(folder));
    CHECK_OK(ring_make(folder->path, &made, &why));
    CHECK(made);
    CHECK_OK(ring_open(folder->path, ring, &why));
}

void ring_end_in(struct folder *folder, struct ring *ring)
{
    ring_close(ring);
    folder_remove(folder);
}
