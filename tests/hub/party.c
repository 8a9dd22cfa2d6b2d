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

struct party party_at(struct hub_fixture *f, unsigned count)
{
    struct party party = {.f = f, .count = count};

    hub_fixture_open(f);
    for (unsigned i = 0; i < count; i++) {
        char node[2] = {(char)('a' + i), '\0'};

        party.node[i] = fake_node_comes(party.f, node);
        if (i == 0)
            fake_node_founds(party.f, &party.node[0], 1);
    }
    return party;
}

struct party party_of(const char *name, unsigned count)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.policy = preset_find(name)->policy;
    return party_at(f, count);
}

void all_give(struct party *party, uint64_t exchange, const double *shift)
{
    for (unsigned i = 0; i < party->count; i++)
        fake_node_gives(party->f, &party->node[i], exchange, shift[i]);
}

const struct hand_sent *shown(const struct party *party, unsigned i)
{
    return hand_last(&party->f->hand, party->node[i].bulk, MSG_REVIEW);
}

unsigned shown_count(const struct party *party, unsigned i)
{
    return fake_node_heard_count(party->f, &party->node[i], MSG_REVIEW);
}

void say_reviewed(struct party *party, unsigned i, uint64_t review, bool made,
                  double loss)
{
    struct msg msg = {.kind = MSG_REVIEWED};

    msg.reviewed.review = review;
    msg.reviewed.made = made;
    msg.reviewed.loss = loss;
    hand_say(&party->f->hand, party->node[i].control, &msg, NULL);
}

/* Guest i gives the credit back and evaluates what is there; false: nothing
 * new. */
static bool evaluates(struct party *party, unsigned i, uint64_t *done,
                      double (*loss)(double x))
{
    const struct hand_sent *sent = shown(party, i);

    if (!sent || sent->msg.review.review == *done)
        return false;
    CHECK_EQUAL(FIXTURE_CHUNKS - 1, sent->msg.review.chunk);
    *done = sent->msg.review.review;
    fake_node_credits(party->f, &party->node[i], 0, FIXTURE_BYTES);
    say_reviewed(party, i, *done, true, loss(hand_float(sent->payload, 0)));
    return true;
}

void all_evaluate(struct party *party, double (*const *loss)(double x))
{
    uint64_t done[FAKE_NODES] = {0};
    bool more = true;

    while (more) {
        more = false;
        for (unsigned i = 0; i < party->count; i++)
            more |= loss[i] && evaluates(party, i, &done[i], loss[i]);
    }
}

double (*const all_honest[FAKE_NODES])(double x) = {honest, honest, honest,
                                                    honest, honest};

enum verdict verdict_on(const struct party *party, unsigned i)
{
    return fake_node_verdict(party->f, &party->node[i], 1, 0);
}

void all_live(struct party *party, nanos span)
{
    for (; span > 0; span -= 500 * MILLISECOND) {
        hand_wait(&party->f->hand, 500 * MILLISECOND);
        for (unsigned i = 0; i < party->count; i++)
            fake_node_pings(party->f, &party->node[i], 1);
    }
}
