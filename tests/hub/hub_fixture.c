#include "tests/hub/hub_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { CHUNK_ELEMENTS = 4, FIRST_PEER = 10 };

static const char *check_hub(const void *self)
{
    return hub_check(self);
}

struct hub_fixture *hub_fixture_new(void)
{
    struct hub_fixture *f = calloc(1, sizeof *f);
    const struct preset *mean = preset_find("mean");
    const uint64_t shape[2] = {FIXTURE_ELEMENTS / 2, 2};

    if (!f || !mean)
        abort();
    f->config = (struct hub_config){.policy = mean->policy,
                                    .run = 7,
                                    .every = 1,
                                    .nodes = 1,
                                    .chunk_elements = CHUNK_ELEMENTS,
                                    .window = 8 * FIXTURE_CHUNK_BYTES,
                                    .staleness = 4,
                                    .save_interval = 10 * SECOND,
                                    .evaluate_interval = SECOND};
    f->protocol = PROTOCOL_TOLD;
    f->schema = schema_new();
    if (!f->schema || schema_add(f->schema, "w", 2, shape, NULL) != STATUS_OK)
        abort();
    f->hand.pool = pool_new();
    f->next_peer = FIRST_PEER;
    f->next_uuid = 1;
    return f;
}

void hub_fixture_open(struct hub_fixture *f)
{
    struct pool *pool = f->hand.pool;

    f->hub = hub_new(&f->config, pool);
    hand_init(&f->hand, hub_machine(f->hub), pool, check_hub);
}

void hub_fixture_destroy(struct hub_fixture **reference)
{
    struct hub_fixture *f = *reference;

    *reference = NULL;
    hand_free(&f->hand);
    hub_destroy(&f->hub);
    schema_destroy(&f->schema);
    pool_destroy(&f->hand.pool);
    free(f);
}

const struct hub_view *hub_fixture_look(struct hub_fixture *f)
{
    hub_look(f->hub, f->hand.now, &f->view);
    return &f->view;
}

const struct hub_node_view *hub_fixture_node(struct hub_fixture *f,
                                             const char *name)
{
    const struct hub_view *view = hub_fixture_look(f);

    for (unsigned i = 0; i < view->count; i++)
        if (strcmp(view->nodes[i].name, name) == 0)
            return &view->nodes[i];
    return NULL;
}

void hub_fixture_stop(struct hub_fixture *f)
{
    struct msg msg = {.kind = MSG_STOP};

    hand_say(&f->hand, PEER_OPERATOR, &msg, NULL);
}

uint64_t hub_fixture_order(struct hub_fixture *f, enum command command,
                           const char *node)
{
    struct msg msg = {.kind = MSG_ORDER};

    msg.order.ticket = ++f->next_ticket;
    msg.order.command = command;
    (void)snprintf(msg.order.node, sizeof msg.order.node, "%s", node);
    hand_say(&f->hand, PEER_OPERATOR, &msg, NULL);
    return f->next_ticket;
}

enum status hub_fixture_answer(const struct hub_fixture *f, uint64_t ticket,
                               char text[MSG_TEXT_BYTES])
{
    text[0] = '\0';
    for (unsigned i = 0; i < f->hand.sent_count; i++) {
        const struct hand_sent *sent = &f->hand.sent[i];

        if (sent->peer != PEER_OPERATOR || sent->msg.kind != MSG_ANSWER ||
            sent->msg.answer.ticket != ticket)
            continue;
        memcpy(text, sent->msg.answer.text, MSG_TEXT_BYTES);
        return sent->msg.answer.status;
    }
    return STATUSES;
}

void hub_fixture_answered(const struct hub_fixture *f, uint64_t ticket,
                          enum status status, const char *words)
{
    char text[MSG_TEXT_BYTES];

    CHECK_EQUAL(status, hub_fixture_answer(f, ticket, text));
    CHECK_CONTAINS(words, text);
}

size_t hub_fixture_length(uint32_t chunk)
{
    return chunk_length(FIXTURE_ELEMENTS, CHUNK_ELEMENTS, chunk);
}

struct fake_node fake_node_new(struct hub_fixture *f, const char *name)
{
    struct fake_node node = {.control = PEER_NONE};

    node.hello.protocol_min = PROTOCOL_MIN;
    node.hello.protocol_max = f->protocol;
    node.hello.node_high = 1;
    node.hello.node_low = f->next_uuid++;
    node.hello.incarnation = 1;
    node.hello.lineage = 5;
    node.hello.kept_chunk = f->config.chunk_elements;
    (void)snprintf(node.hello.name, sizeof node.hello.name, "%s", name);
    return node;
}

void fake_node_hello(struct hub_fixture *f, struct fake_node *node)
{
    struct blob *text = blob_wrap(f->hand.pool, f->schema->text,
                                  f->schema->text_bytes, NULL, NULL);
    struct msg msg = {.kind = MSG_HELLO, .hello = node->hello};
    const struct msg *welcome;

    if (!msg.hello.schema)
        msg.hello.schema = f->schema->hash;
    if (node->control == PEER_NONE) {
        node->control = f->next_peer++;
        hand_join_as(&f->hand, node->control, CHANNEL_CONTROL, node->key);
    }
    hand_say(&f->hand, node->control, &msg, text);
    blob_unref(&text);
    welcome = fake_node_heard(f, node, MSG_WELCOME);
    if (welcome)
        node->session = welcome->welcome.session;
}

void fake_node_attach(struct hub_fixture *f, struct fake_node *node)
{
    struct msg msg = {.kind = MSG_ATTACH};

    msg.attach.session = node->session;
    if (node->bulk == PEER_NONE) {
        node->bulk = f->next_peer++;
        hand_join_as(&f->hand, node->bulk, CHANNEL_BULK, node->key);
    }
    hand_say(&f->hand, node->bulk, &msg, NULL);
}

struct fake_node fake_node_comes(struct hub_fixture *f, const char *name)
{
    struct fake_node node = fake_node_new(f, name);

    fake_node_hello(f, &node);
    fake_node_attach(f, &node);
    return node;
}

void fake_node_breaks(struct hub_fixture *f, struct fake_node *node)
{
    hand_leave(&f->hand, node->bulk);
    hand_leave(&f->hand, node->control);
    node->control = node->bulk = PEER_NONE;
}

void fake_node_comes_again(struct hub_fixture *f, struct fake_node *node)
{
    node->control = node->bulk = PEER_NONE;
    fake_node_hello(f, node);
    fake_node_attach(f, node);
}

void fake_node_says(struct hub_fixture *f, struct fake_node *node,
                    enum msg_kind kind)
{
    struct msg msg = {.kind = kind};
    bool bulk = msg_info(kind)->channel == CHANNEL_BULK;

    hand_say(&f->hand, bulk ? node->bulk : node->control, &msg, NULL);
}

void fake_node_chunk(struct hub_fixture *f, struct fake_node *node,
                     const struct msg_chunk *chunk, struct blob *payload)
{
    struct msg msg = {.kind = MSG_CHUNK, .chunk = *chunk};

    hand_say(&f->hand, node->bulk, &msg, payload);
}

void fake_node_delivers(struct hub_fixture *f, struct fake_node *node,
                        uint64_t exchange, uint32_t chunk, double value)
{
    struct blob *payload =
        hand_floats(f->hand.pool, hub_fixture_length(chunk), value);
    struct msg_chunk msg = {
        .exchange = exchange, .chunk = chunk, .checksum = payload->checksum};

    fake_node_chunk(f, node, &msg, payload);
    blob_unref(&payload);
}

void fake_node_delivers_all(struct hub_fixture *f, struct fake_node *node,
                            uint64_t exchange, double value)
{
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        fake_node_delivers(f, node, exchange, i, value);
}

void fake_node_founds(struct hub_fixture *f, struct fake_node *node,
                      double value)
{
    fake_node_delivers_all(f, node, 0, value);
    CHECK(hub_fixture_look(f)->founded);
    f->lineage = fake_node_heard(f, node, MSG_WELCOME)->welcome.lineage;
}

void fake_node_offer(struct hub_fixture *f, struct fake_node *node,
                     const struct msg_offer *offer)
{
    struct msg msg = {.kind = MSG_OFFER, .offer = *offer};

    const struct msg *welcome = fake_node_heard(f, node, MSG_WELCOME);

    if (!(offer->norm > 0))
        msg.offer.norm = FIXTURE_NORM;
    if (!offer->kind)
        msg.offer.kind = f->config.policy.exchange;
    if (welcome)
        f->lineage = welcome->welcome.lineage;
    if (!offer->lineage)
        msg.offer.lineage = f->lineage;
    hand_say(&f->hand, node->control, &msg, NULL);
}

void fake_node_offers(struct hub_fixture *f, struct fake_node *node,
                      uint64_t exchange)
{
    const struct msg_offer offer = {.exchange = exchange,
                                    .iteration = exchange,
                                    .base_version =
                                        hub_fixture_look(f)->version,
                                    .samples = 1,
                                    .score = NO_SCORE};

    fake_node_offer(f, node, &offer);
}

void fake_node_gives(struct hub_fixture *f, struct fake_node *node,
                     uint64_t exchange, double value)
{
    fake_node_offers(f, node, exchange);
    fake_node_delivers_all(f, node, exchange, value);
}

void fake_node_gives_last(struct hub_fixture *f, struct fake_node *node,
                          uint64_t exchange, double value)
{
    const struct msg_offer offer = {.exchange = exchange,
                                    .base_version =
                                        hub_fixture_look(f)->version,
                                    .samples = 1,
                                    .score = NO_SCORE,
                                    .last = 1};

    fake_node_offer(f, node, &offer);
    fake_node_delivers_all(f, node, exchange, value);
}

struct fake_node fake_node_other(struct hub_fixture *f)
{
    struct fake_node b = fake_node_new(f, "b");

    b.hello.node_low = 77;
    fake_node_comes_again(f, &b);
    return b;
}

struct fake_node fake_node_alone(struct hub_fixture *f)
{
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    return a;
}

void fake_node_credits(struct hub_fixture *f, struct fake_node *node,
                       uint64_t exchange, uint64_t bytes)
{
    struct msg msg = {.kind = MSG_CREDIT};

    msg.credit.exchange = exchange;
    msg.credit.more = bytes;
    hand_say(&f->hand, node->control, &msg, NULL);
}

void fake_node_returns(struct hub_fixture *f, struct fake_node *node,
                       uint64_t exchange)
{
    const struct hand_sent *sent;
    uint64_t bytes = 0;

    for (unsigned i = 0;
         (sent = hand_nth(&f->hand, node->bulk, MSG_RESULT, i)) != NULL; i++)
        if (sent->msg.result.exchange == exchange)
            bytes += sent->payload ? sent->payload->wire_bytes : 0;
    fake_node_credits(f, node, exchange, bytes);
}

void fake_node_pings(struct hub_fixture *f, struct fake_node *node,
                     uint64_t iteration)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.iteration = iteration;
    msg.ping.accuracy = -1;
    hand_say(&f->hand, node->control, &msg, NULL);
}

void fake_node_lives(struct hub_fixture *f, struct fake_node *node, nanos span)
{
    for (; span > 0; span -= 500 * MILLISECOND) {
        hand_wait(&f->hand, 500 * MILLISECOND);
        fake_node_pings(f, node, 1);
    }
}
