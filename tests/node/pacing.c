#include "tests/node/pacing.h"

#include "tests/check.h"

void pacing_start(struct pacer *pacer, uint64_t every, uint64_t delay,
                  enum miss miss)
{
    struct msg_local_tune schedule = {.attached = 1,
                                      .offering = 1,
                                      .every = every,
                                      .delay = delay,
                                      .miss = miss};

    pacer_init(pacer);
    pacer_schedule(pacer, &schedule);
}

void pacing_run_to(struct pacer *pacer, uint64_t iteration)
{
    while (pacer->iteration < iteration)
        pacer_tick(pacer);
}

uint64_t pacing_offer_at(struct pacer *pacer, uint64_t iteration)
{
    uint64_t exchange = 0;

    pacing_run_to(pacer, iteration);
    CHECK(pacer_offer(pacer, false, &exchange));
    return exchange;
}

void pacing_expect(struct pacer *pacer, enum pacer_act act, uint64_t exchange)
{
    uint64_t number = 0;

    CHECK_EQUAL(act, pacer_due(pacer, &number));
    if (act == PACER_GO)
        return;
    CHECK_EQUAL(exchange, number);
    if (act == PACER_SKIP)
        pacer_skip(pacer, number);
    else if (act != PACER_WAIT)
        pacer_done(pacer, number);
}
