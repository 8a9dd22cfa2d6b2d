/* A run of one guest whose centre is spoiled: scores are what the test says. */
#ifndef TESTS_HUB_SPOILED_H
#define TESTS_HUB_SPOILED_H

#include "tests/hub/store.h"

/* The centre is scored so often. */
#define EACH SECOND

/* A bench that saves to `store` when it must and not before. */
struct bench *spoiled_bench(struct store *store);
/* Gives all chunks of the exchange and makes room for the next one's. */
void spoiled_give(struct bench *bench, struct guest *guest, uint64_t exchange,
                  double value);
/* Guest a is alone and has made the centre from 1 to 2, with a loss. */
struct guest spoiled_begin(struct bench *bench, struct store *store,
                           double loss);
/* Exchange 2 moves the centre by 100, and this is what it is then worth. */
void spoil(struct bench *bench, struct store *store, struct guest *guest,
           double loss);
bool is_rolled_back(struct bench *bench);
/* Takes the centre and says what it is; NaN: it was not told to. */
double guest_takes(struct bench *bench, struct guest *guest);

#endif
