/* Byzantine nodes: those whose messages are changed, swallowed, repeated and
 * made up.
 *
 * Behind each is an honest node, so that it comes as far as any: it says HELLO
 * and ATTACH, offers and is asked for data. Of what it says on its way to the
 * hub a part is changed to whatever the protocol can spell: every kind of
 * message, in every state, with numbers next to the right ones or far off,
 * payloads of other sizes, with NaN, infinity and huge values, wrong checksums,
 * what it said before once more, chunks and credit that nobody asked for.
 *
 * Two things it cannot do, as keys keep real nodes from them: say HELLO under
 * an honest node's uuid, and ATTACH with an honest node's session. */
#ifndef SIM_STUDY_SOAK_BYZANTINE_H
#define SIM_STUDY_SOAK_BYZANTINE_H

#include "codec/msg.h"
#include "core/blob.h"

enum { SOAK_REMEMBERED = 32 };

struct lie;

struct soak_byzantine {
    struct pool *pool; /* of payloads that are made up */
    struct lie *lies;  /* told or about to be; freed at the end */
    struct remembered {
        unsigned node;
        struct msg msg;
        struct blob *payload;
    } remembered[SOAK_REMEMBERED];
    unsigned count; /* of those, ever */
    unsigned ways;  /* of lying that there are in this life, as bits */
    bool speaking;  /* the world carries a lie: it is not changed again */
};

#endif
