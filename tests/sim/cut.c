/* Exchanges that are cut at their time: what does not come through is merged
 * later, and once; whoever has a fast link loses nothing by those who have not.
 */
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { EVERY = 8, ELEMENTS = 1526, CHUNKS = 24, EXCHANGES = 256, NODES = 3 };
enum { ITERATIONS = 400 };
#define AMOUNT 0.25

static const struct drift drift = {(float)AMOUNT};
static const char *const names[NODES] = {"n1", "n2", "n3"};

/* Of one node: what it has offered of each chunk, and what of that was merged.
 */
struct book {
    uint64_t iteration[EXCHANGES]; /* of the offer */
    double sent[EXCHANGES][CHUNKS];
    bool counted[EXCHANGES][CHUNKS];
    double merged[CHUNKS];
    uint64_t newest[CHUNKS]; /* exchange of which it was merged */
    unsigned closes, waives, chunks;
};

struct books {
    struct book of[NODES];
    unsigned applied[NODES];
    unsigned results;
};

static void note_sent(struct book *book, const struct world_message *on)
{
    const struct msg *msg = on->msg;

    book->closes += msg->kind == MSG_CLOSE;
    book->waives += msg->kind == MSG_WAIVE;
    if (msg->kind == MSG_OFFER && msg->offer.exchange < EXCHANGES)
        book->iteration[msg->offer.exchange] = msg->offer.iteration;
    if (msg->kind != MSG_CHUNK || !msg->chunk.exchange ||
        msg->chunk.exchange >= EXCHANGES)
        return;
    book->chunks++;
    book->sent[msg->chunk.exchange][msg->chunk.chunk] =
        (double)blob_floats(on->payload)[0];
}

static void note_merged(struct book *book, uint64_t exchange, uint32_t chunk,
                        enum verdict verdict)
{
    if (verdict != VERDICT_MERGED || !exchange || exchange >= EXCHANGES ||
        book->counted[exchange][chunk])
        return;
    book->counted[exchange][chunk] = true;
    book->merged[chunk] += book->sent[exchange][chunk];
    if (exchange > book->newest[chunk])
        book->newest[chunk] = exchange;
}

static void keep_books(void *context, const struct world_message *message,
                       struct world_fate *fate)
{
    const struct lab *lab = context;
    struct book *book = &((struct books *)lab->own)->of[message->node];
    const struct msg_verdict *verdict = &message->msg->verdict;

    (void)fate;
    if (message->to_hub)
        note_sent(book, message);
    else if (message->msg->kind == MSG_RESULT)
        note_merged(book, message->msg->result.exchange,
                    message->msg->result.chunk,
                    (enum verdict)message->msg->result.verdict);
    for (uint32_t i = 0;
         !message->to_hub && message->msg->kind == MSG_VERDICT &&
         i < verdict->chunks && verdict->first + i < CHUNKS;
         i++)
        note_merged(book, verdict->exchange, verdict->first + i,
                    (enum verdict)verdict->verdict);
}

static struct lab *cutting_lab(uint64_t delay, struct books *books)
{
    struct lab *lab = lab_new(ELEMENTS);

    *books = (struct books){.results = 0};
    lab->own = books;
    lab->config.hub.every = EVERY;
    lab->config.hub.delay = delay;
    lab->config.hub.miss = MISS_CUT;
    lab->config.hub.keeping = 1; /* slow links have no room for manifests */
    lab->config.hub.nodes = NODES;
    lab->config.hub.chunk_elements = 64;
    lab->config.hub.window = 512;
    lab->config.hooks.filter = keep_books;
    return lab;
}

static void count_applied(void *observer, const struct trainer_look *look)
{
    unsigned *applied = observer;

    *applied += look->moment == TRAINER_APPLIED;
}

/* The first node's link carries so many bytes per second, 0: as the others'. */
static void open_with(struct lab *lab, uint64_t slow, uint64_t seed)
{
    struct books *books = lab->own;

    lab_open(lab, seed);
    for (unsigned i = 0; i < NODES; i++) {
        struct world_node node = {.name = names[i],
                                  .trainer = {.start = lab->start,
                                              .elements = lab->elements,
                                              .step = 100 * MILLISECOND,
                                              .rate = 1,
                                              .samples = 1,
                                              .gradient = trainer_drift,
                                              .context = &drift,
                                              .look = count_applied,
                                              .observer = &books->applied[i]}};

        if (slow && !i)
            node.link =
                (struct world_link){MILLISECOND, MILLISECOND, slow, slow, 0};
        world_start(lab->world, world_add_node(lab->world, &node));
    }
}

/* All that a node has learnt of each chunk, up to its last offer, was merged.
 */
static void check_books(const struct book *book)
{
    for (uint32_t i = 0; i < CHUNKS; i++) {
        uint64_t iteration = book->iteration[book->newest[i]];

        CHECK(iteration >= ITERATIONS);
        CHECK_NEAR(AMOUNT * (double)iteration, book->merged[i], 1e-4);
    }
}

static const uint64_t delays[] = {1, EVERY / 2, EVERY, 5 * EVERY / 2};

/* The model takes 6 KB; in d iterations come 0.2 to 32 KB through. */
static void t20_what_is_cut_off_is_merged_later_and_once(void)
{
    static struct books books;
    unsigned closes = 0, applied = 0;

    for (uint64_t seed = 1; seed <= 8; seed++)
        for (unsigned i = 0; i < 4; i++) {
            struct lab *lab = cutting_lab(delays[i], &books);

            lab->config.hub.iterations = ITERATIONS;
            open_with(lab, 2000 * seed, seed);
            lab_run_to_end(lab);
            for (unsigned j = 0; j < NODES; j++)
                check_books(&books.of[j]);
            closes += books.of[0].closes;
            applied += books.applied[0];
            lab_destroy(&lab);
        }
    CHECK(closes > 1500);
    CHECK(applied > 1000);
}

/* With a link that carries half of the model in time, against one that carries
 * all: the others apply as many results, and wait for none. */
static void a_slow_link_costs_the_others_nothing(void)
{
    static struct books slow, fast;
    struct lab *lab = cutting_lab(EVERY, &fast);

    open_with(lab, 0, 1);
    lab_run(lab, 40 * SECOND);
    lab_destroy(&lab);
    lab = cutting_lab(EVERY, &slow);
    open_with(lab, 4500, 1);
    lab_run(lab, 40 * SECOND);
    for (unsigned i = 1; i < NODES; i++) {
        CHECK_EQUAL(0, trainer_missed(world_trainer(lab->world, i)));
        CHECK(slow.applied[i] + 1 >= fast.applied[i]);
        CHECK_EQUAL(0, slow.of[i].closes + slow.of[i].waives);
    }
    CHECK(slow.of[0].chunks < 2 * fast.of[0].chunks / 3);
    CHECK(slow.of[0].closes > 40);
    lab_destroy(&lab);
}

/* Results are late, and void in part; all that was sent is merged, so that each
 * chunk of the centre is what a node has drifted. */
static void delay_results(void *context, const struct world_message *message,
                          struct world_fate *fate)
{
    const struct lab *lab = context;
    struct books *books = lab->own;
    const struct msg_result *result = &message->msg->result;
    uint64_t mixed;

    keep_books(context, message, fate);
    if (message->msg->kind != MSG_RESULT || !result->exchange)
        return;
    books->results++;
    CHECK_NEAR(AMOUNT *
                   (double)books->of[message->node].iteration[result->exchange],
               (double)lab_result(lab, result, message->payload)[0], 0);
    mixed = result->exchange * 5 + (uint64_t)result->chunk * 3 + message->node;
    fate->delay = (nanos)(mixed % 7) * 100 * MILLISECOND;
}

static void void_results_change_nothing(void)
{
    static struct books books;
    unsigned waives = 0, results = 0;

    for (unsigned i = 0; i < 4; i++) {
        struct lab *lab = cutting_lab(delays[i], &books);

        lab->config.hooks.filter = delay_results;
        open_with(lab, 0, 11 + i);
        lab_run(lab, 30 * SECOND);
        results += books.results;
        for (unsigned j = 0; j < NODES; j++)
            waives += books.of[j].waives;
        lab_destroy(&lab);
    }
    CHECK(waives > 50);
    CHECK(results > 1000);
}

void add_sim_cut_tests(CU_pSuite suite)
{
    TEST(t20_what_is_cut_off_is_merged_later_and_once);
    TEST(a_slow_link_costs_the_others_nothing);
    TEST(void_results_change_nothing);
}
