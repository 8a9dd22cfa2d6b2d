/* The library and the simulated trainer are one: both go through the same
 * script, at the same hub that is a toy, and what they offer is the same, bit
 * for bit. The library does so over the network and in real time, where the hub
 * has it wait for each result that is due, and with its parameters at another
 * place after each iteration; the simulated one by hand. */
#include <math.h>
#include <string.h>

#include <starswitch.h>

#include "node/node.h"
#include "sim/trainer.h"
#include "tests/check.h"
#include "tests/hand.h"
#include "tests/node/tutor.h"

#define PATIENCE (30 * SECOND)
#define RATE 0.1
#define STEP (100 * MILLISECOND)

enum { SAMPLES = 32 };

/* What the hub wants, and how long one trains: until all results but the last
 * are there, as a node may give one offer in the place of two. */
struct script {
    uint64_t every, delay, iterations;
    enum exchange exchange;
    enum verb verb;
    double weight, anchor;
};

/* Towards numbers that change with the iteration; the loss is not always
 * known. */
static double gradient(const void *context, uint64_t iteration, const float *x,
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

static void descend(float *x, const float *by, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[first + i] = (float)((double)x[first + i] - RATE * (double)by[i]);
}

static struct tutor *tutor_for(const struct script *script)
{
    struct tutor *tutor = tutor_new();

    tutor->verb = script->verb;
    tutor->weight = script->weight;
    tutor->welcome.every = script->every;
    tutor->welcome.delay = script->delay;
    tutor->welcome.exchange = script->exchange;
    tutor->welcome.anchor = script->anchor;
    tutor->welcome.miss = MISS_WAIT;
    tutor->welcome.wait = PATIENCE;
    return tutor;
}

static void begin(float x[TUTOR_ELEMENTS])
{
    for (int i = 0; i < TUTOR_ELEMENTS; i++)
        x[i] = (float)cos(i);
}

/* ---- the library ---- */

static bool same_bits(const void *one, const void *other, size_t bytes)
{
    return memcmp(one, other, bytes) == 0;
}

/* Parameters that move from one place to another and back. */
struct mover {
    float x[2][TUTOR_ELEMENTS], by[2][TUTOR_ELEMENTS];
    unsigned place;
    struct star_link *link;
    struct star_state state;
};

static void take_step(void *context, const float *by, size_t first,
                      size_t count)
{
    struct mover *mover = context;

    descend(mover->x[mover->place], by, first, count);
}

/* `hub`: NULL where it is attached, and its tensors move. */
static enum star_status attach(struct mover *mover, const char *hub)
{
    float *x = mover->x[mover->place], *by = mover->by[mover->place];
    const struct star_tensor tensors[] = {
        STAR_TENSOR("a", 1, x, by, 3),
        STAR_TENSOR("b", 1, x + 3, by + 3, TUTOR_ELEMENTS - 3)};
    const struct star_options options = {.size = sizeof options,
                                         .quiet = 1,
                                         .hub = hub,
                                         .step = take_step,
                                         .context = mover};

    return mover->link
               ? star_retarget(mover->link, tensors, 2, NULL, 0)
               : star_attach(&options, tensors, 2, &mover->link, NULL, 0);
}

static void move(struct mover *mover)
{
    float *from = mover->x[mover->place];

    mover->place = !mover->place;
    memcpy(mover->x[mover->place], from, sizeof mover->x[0]);
    CHECK_EQUAL(STAR_OK, attach(mover, NULL));
    for (int i = 0; i < TUTOR_ELEMENTS; i++)
        from[i] = (float)NAN;
}

/* What it does is what it has said that it would do. */
static void step(struct mover *mover, const struct star_progress *progress)
{
    const float *x = mover->x[mover->place];
    unsigned due = star_due(mover->link);
    uint64_t offered = mover->state.offered;
    float before[TUTOR_ELEMENTS];

    memcpy(before, x, sizeof before);
    CHECK_EQUAL(STAR_GO, star_step(mover->link, progress));
    CHECK_EQUAL(STAR_OK, star_look(mover->link, &mover->state));
    CHECK_EQUAL(mover->state.offered > offered, (due & STAR_DUE_OFFER) != 0);
    if (!(due & STAR_DUE_RESULT))
        CHECK(same_bits(before, x, sizeof before));
}

static void wait_until_offering(struct star_link *link)
{
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + PATIENCE;

    CHECK_EQUAL(STAR_OK, star_wait(link, -1));
    while (!strstr(state.text, "part of the run") && net_now() < until) {
        CHECK_EQUAL(STAR_OK, star_look(link, &state));
        (void)star_wait(NULL, 0.01);
    }
}

static void train_in_earnest(const struct script *script, struct tutor *tutor)
{
    struct mover mover = {.state = {.size = sizeof mover.state}};
    struct star_progress progress = {sizeof progress, 0, SAMPLES, -1};

    begin(mover.x[0]);
    tutor_start(tutor);
    CHECK_EQUAL(STAR_OK, attach(&mover, tutor->hub));
    wait_until_offering(mover.link);
    for (uint64_t i = 0; i < script->iterations; i++) {
        float *x = mover.x[mover.place], *by = mover.by[mover.place];

        progress.loss = gradient(NULL, i, x, TUTOR_ELEMENTS, by);
        if (!star_wants_gradient(mover.link))
            descend(x, by, 0, TUTOR_ELEMENTS);
        step(&mover, &progress);
        move(&mover);
    }
    star_detach(&mover.link);
}

/* ---- the simulated one ---- */

/* A trainer and its node; the toy is their hub without a network. */
struct pair {
    struct hand trainer, node;
    struct tutor *tutor;
};

static void say_to_hub(struct pair *pair, const struct hand_sent *sent)
{
    const struct event event = {.kind = EVENT_MESSAGE,
                                .now = pair->node.now,
                                .peer = sent->peer,
                                .msg = &sent->msg,
                                .payload = sent->payload};
    struct effects out = {0};

    pair->tutor->toy->react(pair->tutor->toy, &event, &out);
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
    descend(x, by, first, count);
}

static void run(struct pair *pair, const struct script *script,
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

static void train_by_hand(const struct script *script, struct tutor *tutor)
{
    static const uint64_t shapes[] = {3, TUTOR_ELEMENTS - 3};
    struct pool *pool = pool_new();
    struct schema *schema = schema_new();
    struct node_config plan = {.name = "twin", .uuid_low = 1, .schema = schema};
    float x[TUTOR_ELEMENTS];
    struct trainer_config config = {.name = "twin",
                                    .start = x,
                                    .elements = TUTOR_ELEMENTS,
                                    .step = STEP,
                                    .samples = SAMPLES,
                                    .gradient = gradient,
                                    .optimizer = optimize};
    static struct pair pair;
    struct trainer *trainer;
    struct node *node;
    struct why why;

    begin(x);
    CHECK_EQUAL(STATUS_OK, schema_add(schema, "a", 1, &shapes[0], &why));
    CHECK_EQUAL(STATUS_OK, schema_add(schema, "b", 1, &shapes[1], &why));
    trainer = trainer_new(&config, pool);
    node = node_new(&plan, pool);
    pair = (struct pair){.tutor = tutor};
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

/* ---- both ---- */

static void check_twins(const struct script *script, uint64_t offers)
{
    static struct tutor_heard heard[TUTOR_HEARD];
    struct tutor *tutor = tutor_for(script);
    uint64_t last;

    train_by_hand(script, tutor);
    last = tutor->last_offer;
    memcpy(heard, tutor->heard, sizeof heard);
    tutor_destroy(&tutor);
    CHECK_EQUAL(offers, last);
    tutor = tutor_for(script);
    train_in_earnest(script, tutor);
    CHECK_EQUAL(last, tutor->last_offer);
    for (uint64_t i = 1; i <= last && i < TUTOR_HEARD; i++) {
        const struct tutor_heard *other = &tutor->heard[i];

        CHECK_EQUAL(heard[i].offer.iteration, other->offer.iteration);
        CHECK_EQUAL(heard[i].offer.samples, other->offer.samples);
        CHECK(same_bits(&heard[i].offer.score, &other->offer.score,
                        sizeof other->offer.score));
        CHECK(same_bits(heard[i].values, other->values, sizeof other->values));
    }
    tutor_destroy(&tutor);
}

static void they_offer_the_same_progress(void)
{
    check_twins(&(struct script){.every = 4,
                                 .delay = 3,
                                 .iterations = 39,
                                 .verb = VERB_REBASE,
                                 .weight = 1},
                10);
}

static void they_wait_for_the_same_results(void)
{
    check_twins(&(struct script){.every = 3,
                                 .delay = 0,
                                 .iterations = 31,
                                 .verb = VERB_REBASE,
                                 .weight = 0.5},
                11);
}

static void they_are_pulled_to_the_same_anchor(void)
{
    check_twins(&(struct script){.every = 3,
                                 .delay = 2,
                                 .iterations = 32,
                                 .verb = VERB_PULL,
                                 .weight = 0.25,
                                 .anchor = 0.5},
                11);
}

/* The last one is that of iteration 28: gradients have no last offer. */
static void they_offer_the_same_gradients_and_no_last_one(void)
{
    check_twins(&(struct script){.every = 4,
                                 .delay = 2,
                                 .iterations = 31,
                                 .exchange = EXCHANGE_GRADIENT,
                                 .verb = VERB_STEP,
                                 .weight = 1},
                7);
}

void add_node_library_twins_tests(CU_pSuite suite)
{
    TEST(they_offer_the_same_progress);
    TEST(they_wait_for_the_same_results);
    TEST(they_are_pulled_to_the_same_anchor);
    TEST(they_offer_the_same_gradients_and_no_last_one);
}
