/* One life of a node. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/chaos/inside.h"

struct node {
    struct judge *judge;
    struct life *life;
    uint64_t session, iteration;
    uint32_t fragments;
    bool settled;  /* the hub knows its centre */
    nanos counted; /* when its iterations were; 0: not yet */
};

static void on_hello(void *of, const struct entry *entry)
{
    struct node *node = of;

    node->life->incarnation = entry_number(entry, "incarnation");
}

static void on_offer(void *of, const struct entry *entry)
{
    struct node *node = of;
    struct offer *offer =
        exchange_at(node->life, entry_number(entry, "exchange"));

    offer->offered = entry->now;
    offer->part =
        fragment_of((uint32_t)entry_number(entry, "fragment"), node->fragments);
    node->judge->exchanges++;
}

/* After all was quiet: a node whose new exchange is merged is live. */
static void see_live(struct node *node, const struct offer *exchange, nanos now)
{
    struct judge *judge = node->judge;
    nanos *alive = &judge->alive[node->life->actor];

    if (judge->quiet == NEVER || exchange->offered < judge->quiet || *alive)
        return;
    *alive = now;
    numbers_add(&judge->lives_again,
                (double)(now - judge->quiet) / (double)SECOND);
}

/* N1: one verdict for a chunk. */
static void tell(struct node *node, const struct entry *entry, uint64_t first,
                 uint64_t count, unsigned verdict)
{
    struct judge *judge = node->judge;
    uint64_t number = entry_number(entry, "exchange");
    struct offer *exchange = exchange_at(node->life, number);

    if (!exchange->offered || verdict >= VERDICT_COUNT ||
        first + count > MOST_CHUNKS) {
        violated(judge, entry, "N1: a verdict for what was never offered");
        return;
    }
    for (uint64_t i = first; i < first + count; i++) {
        struct chunk *chunk = &exchange->chunks[i];

        if (chunk->told == OPEN) {
            judge->told[verdict]++;
            numbers_add(&judge->verdicts,
                        (double)(entry->now - exchange->offered) / SECOND);
        } else if (chunk->told != verdict) {
            violated(judge, entry, "N1: chunk %" PRIu64 " has a second verdict",
                     i);
        }
        chunk->told = verdict;
        if (i >= judge->chunks)
            judge->chunks = (unsigned)i + 1;
    }
    if (verdict == VERDICT_MERGED)
        see_live(node, exchange, entry->now);
}

static void on_verdict(void *of, const struct entry *entry)
{
    tell(of, entry, entry_number(entry, "first"), entry_number(entry, "chunks"),
         (unsigned)entry_number(entry, "verdict"));
}

/* N2 and N3: (epoch, version) at a node. */
static void come_to(struct node *node, const struct entry *entry,
                    uint64_t epoch, uint64_t version)
{
    struct judge *judge = node->judge;
    struct place *place = &judge->places[node->life->actor];

    if (epoch < place->epoch ||
        (epoch == place->epoch && version < place->version))
        violated(judge, entry,
                 "N3: (epoch %" PRIu64 ", version %" PRIu64 ") after (%" PRIu64
                 ", %" PRIu64 ")",
                 epoch, version, place->epoch, place->version);
    place->epoch = epoch;
    place->version = version;
    if (version > judge->newest)
        judge->newest = version;
}

static void on_result(void *of, const struct entry *entry)
{
    struct node *node = of;
    uint64_t number = entry_number(entry, "exchange");
    uint64_t index = entry_number(entry, "chunk");
    uint64_t version = entry_number(entry, "version");
    struct chunk *chunk;

    if (!number)
        return;
    tell(node, entry, index, 1, (unsigned)entry_number(entry, "verdict"));
    if (index >= MOST_CHUNKS)
        return;
    chunk = &exchange_at(node->life, number)->chunks[index];
    if (chunk->version && chunk->version != version)
        violated(node->judge, entry, "N2: the chunk was in version %" PRIu64,
                 chunk->version);
    chunk->version = version;
}

/* It answers all that was offered before. */
static void answer_all(struct node *node)
{
    struct life *life = node->life;

    for (size_t i = 1; i < life->count; i++)
        for (unsigned j = 0; j < MOST_CHUNKS; j++)
            if (life->exchanges[i].offered &&
                life->exchanges[i].chunks[j].told == OPEN)
                life->exchanges[i].chunks[j].told = ANSWERED_BY_WELCOME;
}

/* Whether the hub's directory was emptied since. What nodes kept then is held
 * against the hub's next life (judge_start); if none kept anything, the run is
 * lost. */
static bool was_emptied(const struct judge *judge, nanos since)
{
    for (size_t i = 0; i < judge->span_count; i++)
        if (judge->spans[i].fault == FAULT_HUB_LOSS &&
            judge->spans[i].from >= since)
            return true;
    return false;
}

/* Which run it is, and where that stands. */
static void arrive(struct node *node, const struct entry *entry)
{
    struct place *place = &node->judge->places[node->life->actor];
    uint64_t run = entry_number(entry, "run");

    /* A run that has merged nothing yet leaves nothing to go on with. */
    if (place->run != run &&
        (!place->version || was_emptied(node->judge, place->seen)))
        *place = (struct place){.run = run};
    if (place->run != run)
        violated(node->judge, entry, "N4: another run, the centre is lost");
    place->run = run;
    place->seen = entry->now;
    come_to(node, entry, entry_number(entry, "epoch"),
            entry_number(entry, "version"));
}

static void on_welcome(void *of, const struct entry *entry)
{
    struct node *node = of;

    /* A hub that looks for its centre does not know where it stands. */
    node->settled = start_settles(entry);
    if (node->settled)
        arrive(node, entry);
    if (entry_number(entry, "session") != node->session)
        answer_all(node);
    node->session = entry_number(entry, "session");
    node->fragments = (uint32_t)entry_number(entry, "fragments");
}

static void on_tune(void *of, const struct entry *entry)
{
    struct node *node = of;

    node->fragments = (uint32_t)entry_number(entry, "fragments");
}

static void on_view(void *of, const struct entry *entry)
{
    struct node *node = of;

    if (node->settled)
        come_to(node, entry, entry_number(entry, "epoch"),
                node->judge->places[node->life->actor].version);
}

static void on_pong(void *of, const struct entry *entry)
{
    struct node *node = of;

    if (node->settled)
        come_to(node, entry, node->judge->places[node->life->actor].epoch,
                entry_number(entry, "version"));
}

static void on_kept(void *of, const struct entry *entry)
{
    struct node *node = of;
    struct life *hub = hub_at(node->judge, entry->now);
    unsigned actor = node->life->actor;
    uint64_t version;

    if (!hub || !entry_noted(entry, "version ", &version))
        return;
    hub->kept[actor] = version;
    hub->keeper[actor] = node->life->number;
}

/* N8: from one count of iterations to the next. */
static void see_pause(struct node *node, const struct entry *entry, nanos now)
{
    struct judge *judge = node->judge;
    nanos from = node->counted ? node->counted : node->life->begin;
    nanos pause = now - from - stopped_between(judge, node->life, from, now);

    if (!node->counted) {
        numbers_add(&judge->loads, (double)pause / (double)SECOND);
        return;
    }
    numbers_add(&judge->pauses, (double)pause / (double)SECOND);
    if (pause > judge->limits->pause)
        violated(judge, entry, "N8: no iteration for %.3f s",
                 (double)pause / (double)SECOND);
}

static void on_progress(void *of, const struct entry *entry)
{
    struct node *node = of;
    uint64_t iteration = entry_number(entry, "iteration");

    if (node->counted && iteration <= node->iteration)
        return;
    see_pause(node, entry, entry->now);
    node->counted = entry->now;
    node->iteration = iteration;
}

static const struct reader readers[] = {{"send", "hello", on_hello},
                                        {"send", "offer", on_offer},
                                        {"message", "result", on_result},
                                        {"message", "verdict", on_verdict},
                                        {"message", "welcome", on_welcome},
                                        {"message", "tune", on_tune},
                                        {"message", "view", on_view},
                                        {"message", "pong", on_pong},
                                        {"message", "local_ping", on_progress},
                                        {"note", "centre_kept", on_kept},
                                        {NULL, NULL, NULL}};

void judge_node(struct judge *judge, struct life *life, const char *path)
{
    struct node node = {.judge = judge, .life = life};
    struct entry end = {.path = path};

    if (!entries_read(path, readers, &node, &end.now))
        return; /* it was killed before it could make the file */
    /* A trainer that hangs until its node is killed. */
    if (node.counted)
        see_pause(&node, &end, life->end < NEVER ? life->end : end.now);
}
