#include "tests/hub/pair.h"

struct pair pair_of(struct hub_fixture *f)
{
    struct pair pair = {.f = f, .next = 1};

    f->config.every = 10;
    hub_fixture_open(f);
    pair.a = fake_node_comes(f, "a");
    pair.b = fake_node_comes(f, "b");
    fake_node_founds(f, &pair.a, 1);
    return pair;
}

void pair_pings(struct hub_fixture *f, struct fake_node *node, double rate)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.accuracy = -1;
    msg.ping.rate = rate;
    hand_say(&f->hand, node->control, &msg, NULL);
}

void pair_live(struct pair *pair, nanos span, double rate)
{
    for (; span > 0; span -= 250 * MILLISECOND) {
        hand_wait(&pair->f->hand, 250 * MILLISECOND);
        pair_pings(pair->f, &pair->a, 10);
        pair_pings(pair->f, &pair->b, rate);
    }
}

void pair_gives(struct pair *pair)
{
    fake_node_gives(pair->f, &pair->a, pair->next, 0);
    fake_node_returns(pair->f, &pair->a, pair->next++);
}

uint64_t pair_rounds(struct pair *pair)
{
    return hub_fixture_look(pair->f)->rounds;
}

const char *pair_held_up(struct pair *pair)
{
    const struct note *note = hand_note(&pair->f->hand, NOTE_HELD_UP);

    return note ? note->subject : NULL;
}
