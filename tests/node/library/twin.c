#include "tests/node/library/twin.h"

#include <math.h>
#include <string.h>

#include "node/node.h"
#include "sim/trainer.h"
#include "tests/check.h"
#include "tests/hand.h"

#define RATE 0.1
#define STEP (100 * MILLISECOND)

double twin_gradient(const void *context, uint64_t iteration, const float *x,
                     size_t elements, float *out)
{
    double loss = 0;

    (void)context;
    for (size_t i = 0; i < elements; i++) {
        double aim = sin((double)(i + 3 * iteration));

        out[i] = (float)((double)x[i] - aim);
        loss += fabs((double)x[i] - aim);
    }
    return iteration % 5 == 3 ? (double)NAN : loss;
}

void twin_descend(float *x, const float *by, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[first + i] = (float)((double)x[first + i] - RATE * (double)by[i]);
}

struct fake_hub *twin_tutor(const struct twin_script *script)
{
    struct fake_hub *hub = fake_hub_new();

    hub->verb = script->verb;
    hub->weight = script->weight;
    hub->rise = 0.5;
    hub->welcome.fragments = script->fragments;
    hub->welcome.every = script->every;
    hub->welcome.delay = script->delay;
    hub->welcome.exchange = script->exchange;
    hub->welcome.anchor = script->anchor;
    hub->welcome.miss = MISS_WAIT;
    hub->welcome.wait = FAKE_PATIENCE;
    return hub;
}

void twin_begin(float x[FAKE_HUB_ELEMENTS])
{
    for (int i = 0; i < FAKE_HUB_ELEMENTS; i++)
        x[i] = (float)cos(i);
}

/* A trainer and its node; the machine is their hub without a network. */
struct pair {
    struct hand trainer, node;
    struct fake_hub *hub;
};

static void say_to_hub(struct pair *pair, const struct hand_sent *sent)
{
    const struct event event = {.kind = EVENT_MESSAGE,
                                .now = pair->node.now,
                                .peer = sent->peer,
                                .msg = &sent->msg,
                                .payload = sent->payload};
    struct effects out = {0};

    pair->hub->fake->react(pair->hub->fake, &event, &out);
    for (unsigned i = 0; i < out.count; i++)
        hand_say(&pair->node, out.list[i].peer, &out.list[i].msg,
                 out.list[i].payload);
    effects_free(&out);
}

/* Carries messages to and fro until there are none. */
static void carry(struct pair *pair)
{
    unsigned from_trainer = 0, from_node = 0;

    while (from_trainer < pair->trainer.sent_count ||
           from_node < pair->node.sent_count) {
        const struct hand_sent *sent;

        if (from_trainer < pair->trainer.sent_count) {
            sent = &pair->trainer.sent[from_trainer++];
            hand_say(&pair->node, PEER_TRAINER, &sent->msg, sent->payload);
            continue;
        }
        sent = &pair->node.sent[from_node++];
        if (sent->peer == PEER_TRAINER)
            hand_say(&pair->trainer, PEER_TRAINER, &sent->msg, sent->payload);
        else
            say_to_hub(pair, sent);
    }
    hand_forget(&pair->trainer);
    hand_forget(&pair->node);
}

static void optimize(const void *context, float *x, const float *by,
                     size_t first, size_t count)
{
    (void)context;
    twin_descend(x, by, first, count);
}

static void run(struct pair *pair, const struct twin_script *script,
                struct trainer *trainer)
{
    hand_join(&pair->node, PEER_CONTROL, CHANNEL_CONTROL);
    hand_join(&pair->node, PEER_BULK, CHANNEL_BULK);
    hand_join(&pair->trainer, PEER_TRAINER, CHANNEL_LOCAL);
    carry(pair);
    for (uint64_t i = 0; i < script->iterations; i++) {
        if (i + 1 == script->iterations)
            trainer_leave(trainer);
        hand_wait(&pair->trainer, STEP);
        hand_wait(&pair->node, STEP);
        carry(pair);
    }
    CHECK_EQUAL(script->iterations, trainer_iteration(trainer));
    CHECK(trainer_stopped(trainer));
}

void twin_by_hand(const struct twin_script *script, struct fake_hub *hub)
{
    static const uint64_t shapes[] = {3, FAKE_HUB_ELEMENTS - 3};
    struct pool *pool = pool_new();
    struct schema *schema = schema_new();
    struct node_config plan = {.name = "twin", .uuid_low = 1, .schema = schema};
    float x[FAKE_HUB_ELEMENTS];
    struct trainer_config config = {.name = "twin",
                                    .start = x,
                                    .elements = FAKE_HUB_ELEMENTS,
                                    .step = STEP,
                                    .samples = TWIN_SAMPLES,
                                    .gradient = twin_gradient,
                                    .optimizer = optimize};
    static struct pair pair;
    struct trainer *trainer;
    struct node *node;
    struct why why;

    twin_begin(x);
    CHECK_EQUAL(STATUS_OK, schema_add(schema, "a", 1, &shapes[0], &why));
    CHECK_EQUAL(STATUS_OK, schema_add(schema, "b", 1, &shapes[1], &why));
    trainer = trainer_new(&config, pool);
    node = node_new(&plan, pool);
    pair = (struct pair){.hub = hub};
    hand_init(&pair.trainer, trainer_machine(trainer), pool, NULL);
    hand_init(&pair.node, node_machine(node), pool, NULL);
    run(&pair, script, trainer);
    hand_free(&pair.trainer);
    hand_free(&pair.node);
    trainer_destroy(&trainer);
    node_destroy(&node);
    pool_destroy(&pool);
    schema_destroy(&schema);
}
