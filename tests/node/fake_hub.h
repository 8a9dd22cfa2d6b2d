/* A fake hub: takes one node in over the network, grants what it
 * offers and answers as the test has told it to.
 *
 *     struct fake_hub *hub = fake_hub_new();
 *     hub->verb = VERB_PULL;              change what matters
 *     fake_hub_start(hub);                   hub->address names its port
 *     ... star_attach ...
 *     fake_hub_destroy(&hub);
 *
 * By default: k = 2, d = 2, ten elements in chunks of 4, 4 and 2; answers
 * are 10 with a number a of 1. */
#ifndef TESTS_NODE_FAKE_HUB_H
#define TESTS_NODE_FAKE_HUB_H

#include "tests/net/fake_machine.h"

enum { FAKE_HUB_ELEMENTS = 10, FAKE_HUB_CHUNKS = 3, FAKE_HUB_HEARD = 64 };

/* An offer as it came, with its data. */
struct fake_hub_heard {
    struct msg_offer offer;
    float values[FAKE_HUB_ELEMENTS];
};

struct fake_hub {
    struct msg_welcome welcome;
    enum verb verb;
    double value, weight;
    double rise; /* of the value, from one exchange to the next */
    bool mute;   /* grants nothing, until fake_hub_speak and a PING */
    bool calls;  /* answers an offer by calling for the last ones */
    bool shows;  /* has each offer's node evaluate `value`, and then speaks */
    struct fake_machine *fake;
    char address[32]; /* "127.0.0.1:port" */
    /* Under the machine's lock. */
    peer_id control, bulk;
    uint64_t last_offer, granted, chunks, goodbyes;
    uint64_t asked, reported, done; /* tasks: 8 parts, as many as asked for */
    double offered;                 /* first value of the last chunk */
    uint64_t reviewed, made;        /* reviews that were answered, and made */
    double loss;                    /* of the last one */
    struct fake_hub_heard heard[FAKE_HUB_HEARD]; /* by exchange, from 1 */
};

struct fake_hub *fake_hub_new(void);
void fake_hub_start(struct fake_hub *hub);
/* It has made up its mind: grants from now on, and what it has not yet. */
void fake_hub_speak(struct fake_hub *hub);
/* The first value of the chunk that came last. */
double fake_hub_offered(struct fake_hub *hub);
/* Waits until a counter has come so far; false after 30 s. */
bool fake_hub_wait(struct fake_hub *hub, const uint64_t *counter,
                   uint64_t at_least);
void fake_hub_destroy(struct fake_hub **hub);

#endif
