#include "tests/hub/pair.h"

struct pair pair_of(struct bench *bench)
{
    struct pair pair = {.bench = bench, .next = 1};

    bench->config.every = 10;
    bench_open(bench);
    pair.a = guest_comes(bench, "a");
    pair.b = guest_comes(bench, "b");
    guest_founds(bench, &pair.a, 1);
    return pair;
}

void pair_pings(struct bench *bench, struct guest *guest, double rate)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.accuracy = -1;
    msg.ping.rate = rate;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

void pair_live(struct pair *pair, nanos span, double rate)
{
    for (; span > 0; span -= 250 * MILLISECOND) {
        hand_wait(&pair->bench->hand, 250 * MILLISECOND);
        pair_pings(pair->bench, &pair->a, 10);
        pair_pings(pair->bench, &pair->b, rate);
    }
}

void pair_gives(struct pair *pair)
{
    guest_gives(pair->bench, &pair->a, pair->next, 0);
    guest_returns(pair->bench, &pair->a, pair->next++);
}

uint64_t pair_rounds(struct pair *pair)
{
    return bench_look(pair->bench)->rounds;
}

const char *pair_held_up(struct pair *pair)
{
    const struct note *note = hand_note(&pair->bench->hand, NOTE_HELD_UP);

    return note ? note->subject : NULL;
}
