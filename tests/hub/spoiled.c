#include "tests/hub/spoiled.h"

#include <math.h>

#include "tests/check.h"

struct bench *spoiled_bench(struct store *store)
{
    struct bench *bench = bench_new();

    bench->config.save_interval = 1000 * SECOND;
    store_lend(store, bench);
    return bench;
}

void spoiled_give(struct bench *bench, struct guest *guest, uint64_t exchange,
                  double value)
{
    guest_gives(bench, guest, exchange, value);
    guest_returns(bench, guest, exchange);
}

struct guest spoiled_begin(struct bench *bench, struct store *store,
                           double loss)
{
    struct guest a = guest_alone(bench);

    store->loss = loss;
    spoiled_give(bench, &a, 1, 1);
    guest_lives(bench, &a, 2 * EACH);
    CHECK_NEAR(loss, bench_look(bench)->score, 0);
    return a;
}

void spoil(struct bench *bench, struct store *store, struct guest *guest,
           double loss)
{
    store->loss = loss;
    spoiled_give(bench, guest, 2, 100);
    guest_lives(bench, guest, 2 * EACH);
}

bool is_rolled_back(struct bench *bench)
{
    return hand_note(&bench->hand, NOTE_ROLLED_BACK) != NULL;
}

double guest_takes(struct bench *bench, struct guest *guest)
{
    if (guest_heard(bench, guest, MSG_WELCOME)->welcome.start != START_TAKE)
        return (double)NAN;
    guest_credits(bench, guest, 0, 0);
    return guest_result(bench, guest, 0, BENCH_CHUNKS - 1);
}
