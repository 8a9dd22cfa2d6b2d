/* Attacks on a running hub, or on nodes that connect, with nothing but bytes:
 * handshakes, frames, cuts. What is sent follows from the seed. */
#ifndef TESTS_ATTACK_ATTACK_H
#define TESTS_ATTACK_ATTACK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/prng.h"
#include "net/zmtp/zmtp.h"

enum { HELD_MAX = 10000, ADDRESSES = 16 };

struct attack {
    struct prng prng;
    struct sockaddr_in place; /* of control */
    const char *role;         /* that we say we are: DEALER or ROUTER */
    struct zmtp_keys keys;
    bool keyed;         /* the other end has keys */
    bool trusted;       /* and knows ours */
    bool local;         /* from 127.0.0.1 to 127.0.0.16 */
    uint64_t frames;    /* made up and handed to the system, */
    uint64_t delivered; /* and those that the other end's has taken whole */
    uint64_t connections, shaken, refused;
    unsigned claims, claimed; /* names: to be claimed, and so far */
    int held[HELD_MAX];       /* connections that are left as they are */
    unsigned held_count;
    unsigned hold; /* how many may be */
};

uint64_t below(struct attack *attack, uint64_t bound);
/* A connection to one of the two ports, or -1. */
int reach(struct attack *attack);
/* Does one of the things that a stranger can do, and ends it somehow. */
void shoot(struct attack *attack, int fd);
/* The next name of all that a ROUTER of libzmq may give away, spread evenly,
 * with and without a first message; and holds the connection. */
void claim_next(struct attack *attack, int fd);
/* Shakes hands as somebody honest would; how many milliseconds it took, or
 * -1. */
int shake_well(struct attack *attack);
void let_go(struct attack *attack);

/* ---- what it does to the other end ---- */

struct victim {
    unsigned pid;              /* 0: it is not looked at */
    uint64_t rss, descriptors; /* bytes; now */
    double processor;          /* seconds that it has used */
};

/* False when it is not there any more. */
bool look_at(struct victim *victim);

#endif
