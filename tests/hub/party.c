#include "tests/hub/party.h"

#include <math.h>

#include "tests/check.h"

double honest(double x)
{
    return fabs(x - 3);
}

double byzantine(double x)
{
    return -fabs(x - 3);
}

struct party party_at(struct bench *bench, unsigned count)
{
    struct party party = {.bench = bench, .count = count};

    bench_open(bench);
    for (unsigned i = 0; i < count; i++) {
        char guest[2] = {(char)('a' + i), '\0'};

        party.guest[i] = guest_comes(party.bench, guest);
        if (i == 0)
            guest_founds(party.bench, &party.guest[0], 1);
    }
    return party;
}

struct party party_of(const char *name, unsigned count)
{
    struct bench *bench = bench_new();

    bench->config.policy = preset_find(name)->policy;
    return party_at(bench, count);
}

void all_give(struct party *party, uint64_t exchange, const double *shift)
{
    for (unsigned i = 0; i < party->count; i++)
        guest_gives(party->bench, &party->guest[i], exchange, shift[i]);
}

const struct hand_sent *shown(const struct party *party, unsigned i)
{
    return hand_last(&party->bench->hand, party->guest[i].bulk, MSG_REVIEW);
}

unsigned shown_count(const struct party *party, unsigned i)
{
    return guest_heard_count(party->bench, &party->guest[i], MSG_REVIEW);
}

void say_reviewed(struct party *party, unsigned i, uint64_t review, bool made,
                  double loss)
{
    struct msg msg = {.kind = MSG_REVIEWED};

    msg.reviewed.review = review;
    msg.reviewed.made = made;
    msg.reviewed.loss = loss;
    hand_say(&party->bench->hand, party->guest[i].control, &msg, NULL);
}

/* Guest i gives the credit back and evaluates what is there; false: nothing
 * new. */
static bool evaluates(struct party *party, unsigned i, uint64_t *done,
                      double (*loss)(double x))
{
    const struct hand_sent *sent = shown(party, i);

    if (!sent || sent->msg.review.review == *done)
        return false;
    CHECK_EQUAL(BENCH_CHUNKS - 1, sent->msg.review.chunk);
    *done = sent->msg.review.review;
    guest_credits(party->bench, &party->guest[i], 0, BENCH_BYTES);
    say_reviewed(party, i, *done, true, loss(hand_float(sent->payload, 0)));
    return true;
}

void all_evaluate(struct party *party, double (*const *loss)(double x))
{
    uint64_t done[GUESTS] = {0};
    bool more = true;

    while (more) {
        more = false;
        for (unsigned i = 0; i < party->count; i++)
            more |= loss[i] && evaluates(party, i, &done[i], loss[i]);
    }
}

double (*const all_honest[GUESTS])(double x) = {honest, honest, honest, honest,
                                                honest};

enum verdict verdict_on(const struct party *party, unsigned i)
{
    return guest_verdict(party->bench, &party->guest[i], 1, 0);
}

void all_live(struct party *party, nanos span)
{
    for (; span > 0; span -= 500 * MILLISECOND) {
        hand_wait(&party->bench->hand, 500 * MILLISECOND);
        for (unsigned i = 0; i < party->count; i++)
            guest_pings(party->bench, &party->guest[i], 1);
    }
}
