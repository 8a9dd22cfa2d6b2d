/* The two connections of a test of a link, what comes on them, and what there
 * is of it; see link_test.h. */
#ifndef NODE_PROGRAM_LINK_LINES_H
#define NODE_PROGRAM_LINK_LINES_H

#include "net/station.h"
#include "net/tcp.h"
#include "node/program/doctor.h"
#include "node/program/link_rate.h"

enum { SAMPLES_MOST = 16384 };

struct line {
    struct station *station;
    uint64_t number; /* of the connection; 0: not there */
    struct net_trouble trouble;
    bool gone;
};

struct test {
    struct net_config config;
    struct address address;
    struct pool *pool;
    struct bell bell;
    struct line control, bulk;
    struct msg_probed probed;
    bool answered, nonsense;
    char farewell[160];
    struct tcp_facts tcp;
    bool measured;
    struct blob *filling;
    /* The filling under way. */
    uint64_t ticket, came;
    uint64_t hub_sent, hub_resent; /* packets, as the hub says */
    struct link_sample up[SAMPLES_MOST], down[SAMPLES_MOST];
    size_t samples;
    nanos moved_at;   /* bytes arrived, somewhere */
    nanos stall;      /* so long none may */
    bool silent;      /* and none did */
    unsigned segment; /* of connections that are made; 0: as usual */
};

/* Hears what there is, and waits for more until then at most; false when that
 * time has come. */
bool test_go_on(struct test *test, nanos until);

/* Until hands are shaken, or until it is known why not. */
void test_connect(struct test *test, enum channel channel, struct line *line);
/* The name has these places; the first that a hub answers at is taken, or else
 * what is said is of the one that was best got on with. */
void test_connect_control(struct test *test, const struct tcp_places *places,
                          struct doctor_facts *facts);
/* Another connection for data; what the last one has not got out is lost. */
bool test_connect_again(struct test *test);

void test_send(struct line *line, const struct msg *msg, struct blob *payload);

#endif
