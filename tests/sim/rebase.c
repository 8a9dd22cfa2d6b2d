/* REBASE loses nothing: with equal drift a of all nodes the centre after T
 * iterations is exactly a T, whatever is late, skipped or not merged. */
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { EVERY = 8, ROUNDS = 30, ELEMENTS = 11, CHUNKS = 3, EXCHANGES = 256 };
#define AMOUNT 0.25

static const struct drift drift = {(float)AMOUNT};
static const uint64_t delays[] = {0, EVERY / 2, EVERY, 5 * EVERY / 2};
static const char *const names[] = {"n1", "n2", "n3", "n4"};

static struct lab *drifting_lab(uint64_t delay, enum miss miss, unsigned nodes)
{
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.every = EVERY;
    lab->config.hub.delay = delay;
    lab->config.hub.miss = miss;
    lab->config.hub.nodes = nodes;
    return lab;
}

static void count_skips(void *observer, const struct trainer_look *look)
{
    unsigned *skips = observer;

    *skips += look->moment == TRAINER_SKIPPED;
}

static void open_with(struct lab *lab, uint64_t seed, unsigned nodes,
                      unsigned *skips)
{
    struct model model = {trainer_drift, &drift, 1, 0, count_skips, skips};

    lab_open(lab, seed);
    for (unsigned i = 0; i < nodes; i++)
        lab_add(lab, names[i], &model);
}

static unsigned differing(const float *values, double expected)
{
    unsigned differing = 0;

    for (size_t i = 0; i < ELEMENTS; i++)
        differing += (double)values[i] != expected;
    return differing;
}

/* When each node made its offers. */
struct offered {
    uint64_t iteration[4][EXCHANGES];
    unsigned count[4];
};

/* Version j holds the j-th offers of all: without late results those of
 * j * EVERY iterations. */
static void check_versions(struct lab *lab, unsigned nodes)
{
    const struct offered *offered = lab->own;

    if (!lab_run_rounds(lab, ROUNDS))
        return;
    for (unsigned j = 1; j <= ROUNDS; j++) {
        double sum = 0;

        for (unsigned i = 0; i < nodes; i++)
            sum += (double)offered->iteration[i][j - 1];
        CHECK(sum >= (double)(nodes * j * EVERY));
        CHECK_EQUAL(0, differing(lab_values(lab, j), AMOUNT * sum / nodes));
    }
}

static void note_offer(void *context, const struct world_message *message,
                       struct world_fate *fate)
{
    const struct lab *lab = context;
    struct offered *offered = lab->own;
    unsigned *count = &offered->count[message->node];

    (void)fate;
    if (message->msg->kind == MSG_OFFER && *count < EXCHANGES)
        offered->iteration[message->node][(*count)++] =
            message->msg->offer.iteration;
}

/* Chunks come up to 0.6 s late, those of other chunks and nodes sooner. */
static void delay_chunks(void *context, const struct world_message *message,
                         struct world_fate *fate)
{
    const struct msg *msg = message->msg;
    uint64_t mixed = 0;

    note_offer(context, message, fate);
    if (msg->kind == MSG_CHUNK && msg->chunk.exchange)
        mixed = msg->chunk.exchange * 7 + (uint64_t)msg->chunk.chunk * 5;
    if (msg->kind == MSG_RESULT && msg->result.exchange)
        mixed = msg->result.exchange * 5 + (uint64_t)msg->result.chunk * 3;
    if (mixed)
        fate->delay = (nanos)((mixed + message->node) % 7) * 100 * MILLISECOND;
}

static unsigned check_delays(enum miss miss, bool late)
{
    unsigned skips = 0;

    for (unsigned i = 0; i < 4; i++) {
        struct lab *lab = drifting_lab(delays[i], miss, 4);

        struct offered offered = {.count = {0}};

        lab->own = &offered;
        lab->config.hooks.filter = late ? delay_chunks : note_offer;
        open_with(lab, 11 + i, 4, &skips);
        check_versions(lab, 4);
        CHECK_EQUAL(0, lab->unmerged);
        lab_destroy(&lab);
    }
    return skips;
}

static void every_delay(void)
{
    CHECK_EQUAL(0, check_delays(MISS_LATE, false));
}

static void late_results(void)
{
    CHECK_EQUAL(0, check_delays(MISS_LATE, true));
}

static void skipped_results(void)
{
    CHECK(check_delays(MISS_SKIP, true) > 20);
}

/* ---- chunks that are not merged ---- */

/* Of one node: when each exchange was offered, what of it was merged. */
struct ledger {
    uint64_t iteration[EXCHANGES]; /* of the offer */
    double sent[EXCHANGES];        /* the first value of chunk 0 */
    bool counted[EXCHANGES];       /* it is in `merged` */
    double merged;                 /* the sum of these that was merged */
    uint64_t newest;               /* newest exchange of which it was */
    unsigned chunks, unmerged;     /* that were merged, that were not */
    unsigned offers;
    bool alone; /* the node is the only one: check each merged chunk */
};

static void note_sent(struct ledger *ledger, const struct world_message *on)
{
    const struct msg *msg = on->msg;

    if (msg->kind == MSG_OFFER && msg->offer.exchange < EXCHANGES) {
        ledger->iteration[msg->offer.exchange] = msg->offer.iteration;
        ledger->offers++;
    }
    if (msg->kind == MSG_CHUNK && msg->chunk.exchange < EXCHANGES &&
        msg->chunk.chunk == 0)
        ledger->sent[msg->chunk.exchange] = (double)blob_floats(on->payload)[0];
}

/* Chunk 0 of it has been merged. */
static void note_merged(struct ledger *ledger, uint64_t exchange)
{
    if (!ledger->counted[exchange])
        ledger->merged += ledger->sent[exchange];
    ledger->counted[exchange] = true;
    if (exchange > ledger->newest)
        ledger->newest = exchange;
}

/* A result that was passed over for a newer one. */
static void note_verdict(struct ledger *ledger,
                         const struct msg_verdict *verdict)
{
    if (verdict->exchange < EXCHANGES && verdict->first == 0 &&
        verdict->verdict == VERDICT_MERGED)
        note_merged(ledger, verdict->exchange);
}

static void note_result(const struct lab *lab, struct ledger *ledger,
                        const struct msg_result *result, struct blob *payload)
{
    if (!result->exchange || result->exchange >= EXCHANGES)
        return;
    if (result->verdict != VERDICT_MERGED) {
        ledger->unmerged++;
        return;
    }
    ledger->chunks++;
    if (ledger->alone)
        CHECK_NEAR(AMOUNT * (double)ledger->iteration[result->exchange],
                   (double)lab_result(lab, result, payload)[0], 0);
    if (!result->chunk)
        note_merged(ledger, result->exchange);
}

/* Watches what hub and nodes send, whether it arrives or not. */
static void keep_books(void *context, const struct world_message *message,
                       struct world_fate *fate)
{
    struct lab *lab = context;
    struct ledger *ledger = (struct ledger *)lab->own + message->node;

    (void)fate;
    if (message->to_hub)
        note_sent(ledger, message);
    else if (message->msg->kind == MSG_RESULT)
        note_result(lab, ledger, &message->msg->result, message->payload);
    else if (message->msg->kind == MSG_VERDICT)
        note_verdict(ledger, &message->msg->verdict);
}

static void cut_first(void *context, struct world *world)
{
    (void)context;
    world_cut(world, 0, false);
}

static void repair_first(void *context, struct world *world)
{
    (void)context;
    world_repair(world, 0);
}

static void freeze_first(void *context, struct world *world)
{
    (void)context;
    world_freeze(world, 0);
}

static void thaw_first(void *context, struct world *world)
{
    (void)context;
    world_thaw(world, 0);
}

/* A link so slow that an exchange takes most of a second, cut in between. */
static unsigned check_cuts(uint64_t delay, uint64_t seed)
{
    struct lab *lab = drifting_lab(delay, MISS_LATE, 1);
    struct ledger ledger = {.alone = true};
    unsigned skips = 0;

    lab->config.link.up = lab->config.link.down = 400;
    lab->config.hub.keeping = 1; /* no room for manifests */
    lab->config.hub.window = (uint64_t)2 * 16;
    lab->config.hooks.filter = keep_books;
    lab->own = &ledger;
    open_with(lab, seed, 1, &skips);
    for (unsigned i = 1; i < 9; i++) {
        nanos at = (nanos)i * 4 * SECOND + (nanos)(seed * 110) * MILLISECOND;

        world_at(lab->world, at, cut_first, NULL);
        world_at(lab->world, at + 400 * MILLISECOND, repair_first, NULL);
    }
    lab_run(lab, 60 * SECOND);
    CHECK(ledger.iteration[ledger.newest] > 300);
    lab_destroy(&lab);
    return CHUNKS * ledger.offers - ledger.chunks;
}

static void cut_uploads(void)
{
    unsigned unmerged = 0;

    for (uint64_t seed = 0; seed < 8; seed++)
        for (unsigned i = 0; i < 4; i++)
            unmerged += check_cuts(delays[i], seed);
    CHECK(unmerged > 10);
}

/* Of several nodes one is frozen until its chunks have expired. In the end
 * all that each has learnt was merged, and merged once. */
static unsigned check_expired(uint64_t delay, uint64_t seed)
{
    struct lab *lab = drifting_lab(delay, MISS_LATE, 3);
    struct ledger ledgers[3] = {{.newest = 0}};
    unsigned skips = 0;

    lab->config.link.up = lab->config.link.down = 700;
    lab->config.hub.window = 1;
    lab->config.hooks.filter = keep_books;
    lab->own = ledgers;
    open_with(lab, seed, 3, &skips);
    for (unsigned i = 1; i < 4; i++) {
        nanos at = (nanos)i * 5 * SECOND + (nanos)(seed * 110) * MILLISECOND;

        world_at(lab->world, at, freeze_first, NULL);
        world_at(lab->world, at + 3 * SECOND, thaw_first, NULL);
    }
    lab_run(lab, 40 * SECOND);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t iteration = ledgers[i].iteration[ledgers[i].newest];

        CHECK(iteration > 100);
        CHECK_NEAR(AMOUNT * (double)iteration, ledgers[i].merged, 1e-4);
    }
    lab_destroy(&lab);
    return ledgers[0].unmerged;
}

static void expired_chunks(void)
{
    unsigned unmerged = 0;

    for (uint64_t seed = 0; seed < 8; seed++)
        for (unsigned i = 0; i < 4; i++)
            unmerged += check_expired(delays[i], seed);
    CHECK(unmerged > 10);
}

void add_sim_rebase_tests(CU_pSuite suite)
{
    check_add(suite,
              "the centre after T iterations is exactly a*T for d = 0, k/2, "
              "k, 2.5k",
              every_delay);
    check_add(suite, "the centre is exactly a*T with late results",
              late_results);
    check_add(suite, "the centre is exactly a*T with skipped results",
              skipped_results);
    check_add(suite, "the centre is exactly a*T when uploads are cut off",
              cut_uploads);
    check_add(suite, "chunks that expire are merged later, and once",
              expired_chunks);
}
