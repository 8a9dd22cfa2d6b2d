/* A hub on the bench, and guests that play nodes by hand.
 *
 *     struct bench *bench = bench_new();
 *     bench->config.delay = 2;              change what matters
 *     bench_open(bench);
 *     struct guest a = guest_comes(bench, "a");
 *     guest_founds(bench, &a, 1);           every value of the centre is 1
 *     guest_gives(bench, &a, 1, 0.5);       exchange 1, every value 0.5
 *     guest_result(bench, &a, 1, 0)         chunk 0 of the answer
 *     bench_destroy(&bench);
 *
 * By default: preset mean, exchange delta, ten elements in chunks of 4, 4 and
 * 2, a window of 8 chunks, nobody else is waited for. */
#ifndef TESTS_HUB_BENCH_H
#define TESTS_HUB_BENCH_H

#include "hub/hub.h"
#include "tests/hand.h"

enum { BENCH_ELEMENTS = 10, BENCH_CHUNKS = 3, BENCH_BYTES = 40 };

/* Of all chunks but the last, which has 8. */
#define BENCH_CHUNK_BYTES UINT64_C(16)

/* What guests announce as the norm of what they offer: enough. */
#define BENCH_NORM 1e6

struct bench {
    struct hand hand;
    struct hub_config config;
    struct schema *schema;
    struct hub *hub;
    uint64_t lineage; /* of the centre, as far as guests were told */
    peer_id next_peer;
    uint64_t next_uuid, next_ticket;
    struct hub_view view; /* of bench_look */
};

struct guest {
    peer_id control, bulk;  /* PEER_NONE: not connected */
    struct msg_hello hello; /* what it says */
    uint64_t session;       /* that its last WELCOME told */
    uint64_t key;           /* that it proves to hold; KEY_NONE: none */
};

struct bench *bench_new(void);
void bench_open(struct bench *bench);
void bench_destroy(struct bench **bench);
const struct hub_view *bench_look(struct bench *bench);
/* What the hub's table says of a node, NULL: nothing. */
const struct hub_node_view *bench_node(struct bench *bench, const char *name);
/* The operator asks for the run's end. */
void bench_stop(struct bench *bench);
/* The operator gives an order about a node, or "", and under a ticket. */
uint64_t bench_order(struct bench *bench, enum command command,
                     const char *node);
/* The status that answers it, STATUSES: none yet; then `text` is empty. */
enum status bench_answer(const struct bench *bench, uint64_t ticket,
                         char text[MSG_TEXT_BYTES]);
/* Checks that it is answered so, by a text with these words. */
void bench_answered(const struct bench *bench, uint64_t ticket,
                    enum status status, const char *words);
size_t bench_length(uint32_t chunk);

/* A guest that is not connected, and one that has said HELLO and ATTACH. */
struct guest guest_new(struct bench *bench, const char *name);
struct guest guest_comes(struct bench *bench, const char *name);
/* Connects control and says HELLO; connects bulk and says ATTACH. */
void guest_hello(struct bench *bench, struct guest *guest);
void guest_attach(struct bench *bench, struct guest *guest);
void guest_comes_again(struct bench *bench, struct guest *guest);
/* Comes as "b", another node than any that the hub knows from a former life. */
struct guest guest_other(struct bench *bench);
/* Opens the bench for one guest, "a", that founds the centre: all ones. */
struct guest guest_alone(struct bench *bench);
/* A message of kind `kind` without fields that matter, on its channel. */
void guest_says(struct bench *bench, struct guest *guest, enum msg_kind kind);
void guest_founds(struct bench *bench, struct guest *guest, double value);
void guest_offers(struct bench *bench, struct guest *guest, uint64_t exchange);
/* A norm of 0 stands for BENCH_NORM, a lineage of 0 for the hub's, kind 0 for
 * what the policy wants. */
void guest_offer(struct bench *bench, struct guest *guest,
                 const struct msg_offer *offer);
void guest_delivers(struct bench *bench, struct guest *guest, uint64_t exchange,
                    uint32_t chunk, double value);
void guest_chunk(struct bench *bench, struct guest *guest,
                 const struct msg_chunk *chunk, struct blob *payload);
/* Offers and delivers all chunks; the same as its last offer. */
void guest_gives(struct bench *bench, struct guest *guest, uint64_t exchange,
                 double value);
void guest_gives_last(struct bench *bench, struct guest *guest,
                      uint64_t exchange, double value);
void guest_delivers_all(struct bench *bench, struct guest *guest,
                        uint64_t exchange, double value);
void guest_credits(struct bench *bench, struct guest *guest, uint64_t exchange,
                   uint64_t bytes);
/* Gives credit back for all results of an exchange that it was sent. */
void guest_returns(struct bench *bench, struct guest *guest, uint64_t exchange);
void guest_pings(struct bench *bench, struct guest *guest, uint64_t iteration);
/* So long passes, while it pings every half second. */
void guest_lives(struct bench *bench, struct guest *guest, nanos span);
/* Its connections break. */
void guest_breaks(struct bench *bench, struct guest *guest);

/* The last message of a kind that it was sent, or NULL. */
const struct msg *guest_heard(const struct bench *bench,
                              const struct guest *guest, enum msg_kind kind);
/* Of its last BYE; FAREWELL_COUNT: there was none. */
enum farewell guest_farewell(const struct bench *bench,
                             const struct guest *guest);
unsigned guest_heard_count(const struct bench *bench, const struct guest *guest,
                           enum msg_kind kind);
/* The first value of the result for a chunk of an exchange; NaN: none came. */
double guest_result(const struct bench *bench, const struct guest *guest,
                    uint64_t exchange, uint32_t chunk);
/* What became of it, from RESULT or VERDICT; VERDICT_COUNT: not said. */
enum verdict guest_verdict(const struct bench *bench, const struct guest *guest,
                           uint64_t exchange, uint32_t chunk);

#endif
