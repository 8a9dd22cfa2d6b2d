#include "tests/hub/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { CHUNK_ELEMENTS = 4, FIRST_PEER = 10 };

static const char *check_hub(const void *self)
{
    return hub_check(self);
}

struct bench *bench_new(void)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const struct preset *mean = preset_find("mean");
    const uint64_t shape[2] = {BENCH_ELEMENTS / 2, 2};

    if (!bench || !mean)
        abort();
    bench->config = (struct hub_config){.policy = mean->policy,
                                        .run = 7,
                                        .every = 1,
                                        .nodes = 1,
                                        .chunk_elements = CHUNK_ELEMENTS,
                                        .window = 8 * BENCH_CHUNK_BYTES,
                                        .staleness = 4,
                                        .save_interval = 10 * SECOND,
                                        .evaluate_interval = SECOND};
    bench->schema = schema_new();
    if (!bench->schema ||
        schema_add(bench->schema, "w", 2, shape, NULL) != STATUS_OK)
        abort();
    bench->hand.pool = pool_new();
    bench->next_peer = FIRST_PEER;
    bench->next_uuid = 1;
    return bench;
}

void bench_open(struct bench *bench)
{
    struct pool *pool = bench->hand.pool;

    bench->hub = hub_new(&bench->config, pool);
    hand_init(&bench->hand, hub_machine(bench->hub), pool, check_hub);
}

void bench_destroy(struct bench **reference)
{
    struct bench *bench = *reference;

    *reference = NULL;
    hand_free(&bench->hand);
    hub_destroy(&bench->hub);
    schema_destroy(&bench->schema);
    pool_destroy(&bench->hand.pool);
    free(bench);
}

const struct hub_view *bench_look(struct bench *bench)
{
    hub_look(bench->hub, bench->hand.now, &bench->view);
    return &bench->view;
}

const struct hub_node_view *bench_node(struct bench *bench, const char *name)
{
    const struct hub_view *view = bench_look(bench);

    for (unsigned i = 0; i < view->count; i++)
        if (strcmp(view->nodes[i].name, name) == 0)
            return &view->nodes[i];
    return NULL;
}

void bench_stop(struct bench *bench)
{
    struct msg msg = {.kind = MSG_STOP};

    hand_say(&bench->hand, PEER_OPERATOR, &msg, NULL);
}

uint64_t bench_order(struct bench *bench, enum command command,
                     const char *node)
{
    struct msg msg = {.kind = MSG_ORDER};

    msg.order.ticket = ++bench->next_ticket;
    msg.order.command = command;
    (void)snprintf(msg.order.node, sizeof msg.order.node, "%s", node);
    hand_say(&bench->hand, PEER_OPERATOR, &msg, NULL);
    return bench->next_ticket;
}

enum status bench_answer(const struct bench *bench, uint64_t ticket,
                         char text[MSG_TEXT_BYTES])
{
    text[0] = '\0';
    for (unsigned i = 0; i < bench->hand.sent_count; i++) {
        const struct hand_sent *sent = &bench->hand.sent[i];

        if (sent->peer != PEER_OPERATOR || sent->msg.kind != MSG_ANSWER ||
            sent->msg.answer.ticket != ticket)
            continue;
        memcpy(text, sent->msg.answer.text, MSG_TEXT_BYTES);
        return sent->msg.answer.status;
    }
    return STATUSES;
}

void bench_answered(const struct bench *bench, uint64_t ticket,
                    enum status status, const char *words)
{
    char text[MSG_TEXT_BYTES];

    CHECK_EQUAL(status, bench_answer(bench, ticket, text));
    CHECK_CONTAINS(words, text);
}

size_t bench_length(uint32_t chunk)
{
    return chunk_length(BENCH_ELEMENTS, CHUNK_ELEMENTS, chunk);
}

struct guest guest_new(struct bench *bench, const char *name)
{
    struct guest guest = {.control = PEER_NONE};

    guest.hello.protocol_min = PROTOCOL_MIN;
    guest.hello.protocol_max = PROTOCOL_MAX;
    guest.hello.node_high = 1;
    guest.hello.node_low = bench->next_uuid++;
    guest.hello.incarnation = 1;
    guest.hello.lineage = 5;
    guest.hello.kept_chunk = bench->config.chunk_elements;
    (void)snprintf(guest.hello.name, sizeof guest.hello.name, "%s", name);
    return guest;
}

void guest_hello(struct bench *bench, struct guest *guest)
{
    struct blob *text = blob_wrap(bench->hand.pool, bench->schema->text,
                                  bench->schema->text_bytes, NULL, NULL);
    struct msg msg = {.kind = MSG_HELLO, .hello = guest->hello};
    const struct msg *welcome;

    if (!msg.hello.schema)
        msg.hello.schema = bench->schema->hash;
    if (guest->control == PEER_NONE) {
        guest->control = bench->next_peer++;
        hand_join_as(&bench->hand, guest->control, CHANNEL_CONTROL, guest->key);
    }
    hand_say(&bench->hand, guest->control, &msg, text);
    blob_unref(&text);
    welcome = guest_heard(bench, guest, MSG_WELCOME);
    if (welcome)
        guest->session = welcome->welcome.session;
}

void guest_attach(struct bench *bench, struct guest *guest)
{
    struct msg msg = {.kind = MSG_ATTACH};

    msg.attach.session = guest->session;
    if (guest->bulk == PEER_NONE) {
        guest->bulk = bench->next_peer++;
        hand_join_as(&bench->hand, guest->bulk, CHANNEL_BULK, guest->key);
    }
    hand_say(&bench->hand, guest->bulk, &msg, NULL);
}

struct guest guest_comes(struct bench *bench, const char *name)
{
    struct guest guest = guest_new(bench, name);

    guest_hello(bench, &guest);
    guest_attach(bench, &guest);
    return guest;
}

void guest_breaks(struct bench *bench, struct guest *guest)
{
    hand_leave(&bench->hand, guest->bulk);
    hand_leave(&bench->hand, guest->control);
    guest->control = guest->bulk = PEER_NONE;
}

void guest_comes_again(struct bench *bench, struct guest *guest)
{
    guest->control = guest->bulk = PEER_NONE;
    guest_hello(bench, guest);
    guest_attach(bench, guest);
}

void guest_says(struct bench *bench, struct guest *guest, enum msg_kind kind)
{
    struct msg msg = {.kind = kind};
    bool bulk = msg_info(kind)->channel == CHANNEL_BULK;

    hand_say(&bench->hand, bulk ? guest->bulk : guest->control, &msg, NULL);
}

void guest_chunk(struct bench *bench, struct guest *guest,
                 const struct msg_chunk *chunk, struct blob *payload)
{
    struct msg msg = {.kind = MSG_CHUNK, .chunk = *chunk};

    hand_say(&bench->hand, guest->bulk, &msg, payload);
}

void guest_delivers(struct bench *bench, struct guest *guest, uint64_t exchange,
                    uint32_t chunk, double value)
{
    struct blob *payload =
        hand_floats(bench->hand.pool, bench_length(chunk), value);
    struct msg_chunk msg = {
        .exchange = exchange, .chunk = chunk, .checksum = payload->checksum};

    guest_chunk(bench, guest, &msg, payload);
    blob_unref(&payload);
}

void guest_delivers_all(struct bench *bench, struct guest *guest,
                        uint64_t exchange, double value)
{
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        guest_delivers(bench, guest, exchange, i, value);
}

void guest_founds(struct bench *bench, struct guest *guest, double value)
{
    guest_delivers_all(bench, guest, 0, value);
    CHECK(bench_look(bench)->founded);
    bench->lineage = guest_heard(bench, guest, MSG_WELCOME)->welcome.lineage;
}

void guest_offer(struct bench *bench, struct guest *guest,
                 const struct msg_offer *offer)
{
    struct msg msg = {.kind = MSG_OFFER, .offer = *offer};

    const struct msg *welcome = guest_heard(bench, guest, MSG_WELCOME);

    if (!(offer->norm > 0))
        msg.offer.norm = BENCH_NORM;
    if (!offer->kind)
        msg.offer.kind = bench->config.policy.exchange;
    if (welcome)
        bench->lineage = welcome->welcome.lineage;
    if (!offer->lineage)
        msg.offer.lineage = bench->lineage;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

void guest_offers(struct bench *bench, struct guest *guest, uint64_t exchange)
{
    const struct msg_offer offer = {.exchange = exchange,
                                    .iteration = exchange,
                                    .base_version = bench_look(bench)->version,
                                    .samples = 1,
                                    .score = NO_SCORE};

    guest_offer(bench, guest, &offer);
}

void guest_gives(struct bench *bench, struct guest *guest, uint64_t exchange,
                 double value)
{
    guest_offers(bench, guest, exchange);
    guest_delivers_all(bench, guest, exchange, value);
}

void guest_gives_last(struct bench *bench, struct guest *guest,
                      uint64_t exchange, double value)
{
    const struct msg_offer offer = {.exchange = exchange,
                                    .base_version = bench_look(bench)->version,
                                    .samples = 1,
                                    .score = NO_SCORE,
                                    .last = 1};

    guest_offer(bench, guest, &offer);
    guest_delivers_all(bench, guest, exchange, value);
}

struct guest guest_other(struct bench *bench)
{
    struct guest b = guest_new(bench, "b");

    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    return b;
}

struct guest guest_alone(struct bench *bench)
{
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    return a;
}

void guest_credits(struct bench *bench, struct guest *guest, uint64_t exchange,
                   uint64_t bytes)
{
    struct msg msg = {.kind = MSG_CREDIT};

    msg.credit.exchange = exchange;
    msg.credit.more = bytes;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

void guest_returns(struct bench *bench, struct guest *guest, uint64_t exchange)
{
    const struct hand_sent *sent;
    uint64_t bytes = 0;

    for (unsigned i = 0;
         (sent = hand_nth(&bench->hand, guest->bulk, MSG_RESULT, i)) != NULL;
         i++)
        if (sent->msg.result.exchange == exchange)
            bytes += sent->payload->wire_bytes;
    guest_credits(bench, guest, exchange, bytes);
}

void guest_pings(struct bench *bench, struct guest *guest, uint64_t iteration)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.iteration = iteration;
    msg.ping.accuracy = -1;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

void guest_lives(struct bench *bench, struct guest *guest, nanos span)
{
    for (; span > 0; span -= 500 * MILLISECOND) {
        hand_wait(&bench->hand, 500 * MILLISECOND);
        guest_pings(bench, guest, 1);
    }
}
