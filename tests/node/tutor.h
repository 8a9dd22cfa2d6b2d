/* A hub that is a toy: takes one node in over the network, grants what it
 * offers and answers as the test has told it to.
 *
 *     struct tutor *tutor = tutor_new();
 *     tutor->verb = VERB_PULL;              change what matters
 *     tutor_start(tutor);                   tutor->hub names its port
 *     ... star_attach ...
 *     tutor_destroy(&tutor);
 *
 * By default: k = 2, d = 2, ten elements in chunks of 4, 4 and 2; answers
 * are 10 with a number a of 1. */
#ifndef TESTS_NODE_TUTOR_H
#define TESTS_NODE_TUTOR_H

#include "tests/net/toys.h"

enum { TUTOR_ELEMENTS = 10, TUTOR_CHUNKS = 3, TUTOR_HEARD = 64 };

/* An offer as it came, with its data. */
struct tutor_heard {
    struct msg_offer offer;
    float values[TUTOR_ELEMENTS];
};

struct tutor {
    struct msg_welcome welcome;
    enum verb verb;
    double value, weight;
    double rise; /* of the value, from one exchange to the next */
    bool mute;   /* grants nothing, until tutor_speak and a PING */
    bool calls;  /* answers an offer by calling for the last ones */
    bool shows;  /* has each offer's node evaluate `value`, and then speaks */
    struct toy *toy;
    char hub[32]; /* "127.0.0.1:port" */
    /* Under the toy's lock. */
    peer_id control, bulk;
    uint64_t last_offer, granted, chunks, goodbyes;
    uint64_t asked, reported, done; /* tasks: 8 parts, as many as asked for */
    double offered;                 /* first value of the last chunk */
    uint64_t reviewed, made;        /* reviews that were answered, and made */
    double loss;                    /* of the last one */
    struct tutor_heard heard[TUTOR_HEARD]; /* by exchange, from 1 */
};

struct tutor *tutor_new(void);
void tutor_start(struct tutor *tutor);
/* It has made up its mind: grants from now on, and what it has not yet. */
void tutor_speak(struct tutor *tutor);
/* The first value of the chunk that came last. */
double tutor_offered(struct tutor *tutor);
/* Waits until a counter has come so far; false after 30 s. */
bool tutor_wait(struct tutor *tutor, const uint64_t *counter,
                uint64_t at_least);
void tutor_destroy(struct tutor **tutor);

#endif
