/* A hub on the f, and nodes that play nodes by hand.
 *
 *     struct hub_fixture *f = hub_fixture_new();
 *     f->config.delay = 2;              change what matters
 *     hub_fixture_open(f);
 *     struct fake_node a = fake_node_comes(f, "a");
 *     fake_node_founds(f, &a, 1);           every value of the centre is 1
 *     fake_node_gives(f, &a, 1, 0.5);       exchange 1, every value 0.5
 *     fake_node_result(f, &a, 1, 0)         chunk 0 of the answer
 *     hub_fixture_destroy(&f);
 *
 * By default: preset mean, exchange delta, ten elements in chunks of 4, 4 and
 * 2, a window of 8 chunks, nobody else is waited for. */
#ifndef TESTS_HUB_HUB_FIXTURE_H
#define TESTS_HUB_HUB_FIXTURE_H

#include "hub/hub.h"
#include "tests/hand.h"

enum { FIXTURE_ELEMENTS = 10, FIXTURE_CHUNKS = 3, FIXTURE_BYTES = 40 };

/* Of all chunks but the last, which has 8. */
#define FIXTURE_CHUNK_BYTES UINT64_C(16)

/* What nodes announce as the norm of what they offer: enough. */
#define FIXTURE_NORM 1e6

struct hub_fixture {
    struct hand hand;
    struct hub_config config;
    struct schema *schema;
    struct hub *hub;
    uint32_t protocol; /* of nodes; PROTOCOL_TOLD: they are sent all values */
    uint64_t lineage;  /* of the centre, as far as nodes were told */
    peer_id next_peer;
    uint64_t next_uuid, next_ticket;
    struct hub_view view; /* of hub_fixture_look */
};

struct fake_node {
    peer_id control, bulk;  /* PEER_NONE: not connected */
    struct msg_hello hello; /* what it says */
    uint64_t session;       /* that its last WELCOME told */
    uint64_t key;           /* that it proves to hold; KEY_NONE: none */
};

struct hub_fixture *hub_fixture_new(void);
void hub_fixture_open(struct hub_fixture *f);
void hub_fixture_destroy(struct hub_fixture **f);
const struct hub_view *hub_fixture_look(struct hub_fixture *f);
/* What the hub's table says of a node, NULL: nothing. */
const struct hub_node_view *hub_fixture_node(struct hub_fixture *f,
                                             const char *name);
/* The operator asks for the run's end. */
void hub_fixture_stop(struct hub_fixture *f);
/* The operator gives an order about a node, or "", and under a ticket. */
uint64_t hub_fixture_order(struct hub_fixture *f, enum command command,
                           const char *node);
/* The status that answers it, STATUSES: none yet; then `text` is empty. */
enum status hub_fixture_answer(const struct hub_fixture *f, uint64_t ticket,
                               char text[MSG_TEXT_BYTES]);
/* Checks that it is answered so, by a text with these words. */
void hub_fixture_answered(const struct hub_fixture *f, uint64_t ticket,
                          enum status status, const char *words);
size_t hub_fixture_length(uint32_t chunk);

/* A node that is not connected, and one that has said HELLO and ATTACH. */
struct fake_node fake_node_new(struct hub_fixture *f, const char *name);
struct fake_node fake_node_comes(struct hub_fixture *f, const char *name);
/* Connects control and says HELLO; connects bulk and says ATTACH. */
void fake_node_hello(struct hub_fixture *f, struct fake_node *node);
void fake_node_attach(struct hub_fixture *f, struct fake_node *node);
void fake_node_comes_again(struct hub_fixture *f, struct fake_node *node);
/* Comes as "b", another node than any that the hub knows from a former life. */
struct fake_node fake_node_other(struct hub_fixture *f);
/* Opens the fixture for one node, "a", that founds the centre: all ones. */
struct fake_node fake_node_alone(struct hub_fixture *f);
/* A message of kind `kind` without fields that matter, on its channel. */
void fake_node_says(struct hub_fixture *f, struct fake_node *node,
                    enum msg_kind kind);
void fake_node_founds(struct hub_fixture *f, struct fake_node *node,
                      double value);
void fake_node_offers(struct hub_fixture *f, struct fake_node *node,
                      uint64_t exchange);
/* A norm of 0 stands for FIXTURE_NORM, a lineage of 0 for the hub's, kind 0 for
 * what the policy wants. */
void fake_node_offer(struct hub_fixture *f, struct fake_node *node,
                     const struct msg_offer *offer);
void fake_node_delivers(struct hub_fixture *f, struct fake_node *node,
                        uint64_t exchange, uint32_t chunk, double value);
void fake_node_chunk(struct hub_fixture *f, struct fake_node *node,
                     const struct msg_chunk *chunk, struct blob *payload);
/* Offers and delivers all chunks; the same as its last offer. */
void fake_node_gives(struct hub_fixture *f, struct fake_node *node,
                     uint64_t exchange, double value);
void fake_node_gives_last(struct hub_fixture *f, struct fake_node *node,
                          uint64_t exchange, double value);
void fake_node_delivers_all(struct hub_fixture *f, struct fake_node *node,
                            uint64_t exchange, double value);
void fake_node_credits(struct hub_fixture *f, struct fake_node *node,
                       uint64_t exchange, uint64_t bytes);
/* Gives credit back for all results of an exchange that it was sent. */
void fake_node_returns(struct hub_fixture *f, struct fake_node *node,
                       uint64_t exchange);
void fake_node_pings(struct hub_fixture *f, struct fake_node *node,
                     uint64_t iteration);
/* So long passes, while it pings every half second. */
void fake_node_lives(struct hub_fixture *f, struct fake_node *node, nanos span);
/* Its connections break. */
void fake_node_breaks(struct hub_fixture *f, struct fake_node *node);

/* The last message of a kind that it was sent, or NULL. */
const struct msg *fake_node_heard(const struct hub_fixture *f,
                                  const struct fake_node *node,
                                  enum msg_kind kind);
/* Of its last BYE; FAREWELL_COUNT: there was none. */
enum farewell fake_node_farewell(const struct hub_fixture *f,
                                 const struct fake_node *node);
unsigned fake_node_heard_count(const struct hub_fixture *f,
                               const struct fake_node *node,
                               enum msg_kind kind);
/* The first value of the result for a chunk of an exchange; NaN: none came. */
double fake_node_result(const struct hub_fixture *f,
                        const struct fake_node *node, uint64_t exchange,
                        uint32_t chunk);
/* What became of it, from RESULT or VERDICT; VERDICT_COUNT: not said. */
enum verdict fake_node_verdict(const struct hub_fixture *f,
                               const struct fake_node *node, uint64_t exchange,
                               uint32_t chunk);

#endif
