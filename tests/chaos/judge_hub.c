/* One life of the hub, and what hub and nodes say of the same chunks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/chaos/inside.h"

enum { MOST_PEERS = 65536 };

struct hub {
    struct judge *judge;
    struct life *life;
    struct life *peers[MOST_PEERS]; /* whose connection it is */
    uint64_t sessions[MOST_PEERS];
    unsigned most; /* peer that was seen */
};

static struct life *life_of(const struct judge *judge, unsigned actor,
                            uint64_t incarnation)
{
    for (size_t i = 0; i < judge->life_count; i++)
        if (judge->lives[i].actor == actor &&
            judge->lives[i].incarnation == incarnation)
            return &judge->lives[i];
    return NULL;
}

static void on_hello(void *of, const struct entry *entry)
{
    struct hub *hub = of;
    uint64_t incarnation = entry_number(entry, "incarnation");
    char name[NAME_BYTES];

    for (unsigned i = 1; i < hub->judge->actors; i++)
        if (entry->peer < MOST_PEERS &&
            entry_text_is(entry, "name", actor_name(i, name)))
            hub->peers[entry->peer] = life_of(hub->judge, i, incarnation);
}

static void on_attach(void *of, const struct entry *entry)
{
    struct hub *hub = of;
    uint64_t session = entry_number(entry, "session");

    for (unsigned i = 1; i <= hub->most && entry->peer < MOST_PEERS; i++)
        if (hub->sessions[i] == session)
            hub->peers[entry->peer] = hub->peers[i];
}

/* N4, once: where the hub goes on. */
static void on_welcome(void *of, const struct entry *entry)
{
    struct hub *hub = of;
    struct life *life = hub->life;

    if (!life->welcomed)
        life->welcomed = entry->now;
    if (!life->placed && start_settles(entry)) {
        life->placed = true;
        life->settled = entry->now;
        life->from = entry_number(entry, "version");
    }
    if (entry->peer >= MOST_PEERS)
        return;
    hub->sessions[entry->peer] = entry_number(entry, "session");
    if (entry->peer > hub->most)
        hub->most = (unsigned)entry->peer;
}

/* What the hub says of chunks must be the same each time it says it. */
static void say(struct hub *hub, const struct entry *entry, uint64_t first,
                uint64_t count, unsigned verdict)
{
    struct life *node =
        entry->peer < MOST_PEERS ? hub->peers[entry->peer] : NULL;
    uint64_t number = entry_number(entry, "exchange");
    struct offer *exchange;

    if (!node) {
        violated(hub->judge, entry, "N1: a verdict for nobody");
        return;
    }
    exchange = exchange_at(node, number);
    for (uint64_t i = first; i < first + count && i < MOST_CHUNKS; i++) {
        struct chunk *chunk = &exchange->chunks[i];

        if (chunk->sent != OPEN && chunk->sent != verdict)
            violated(hub->judge, entry,
                     "N1: the hub said %s of chunk %" PRIu64 " before",
                     verdict_words[chunk->sent].text, i);
        chunk->sent = verdict;
    }
}

static void on_verdict(void *of, const struct entry *entry)
{
    say(of, entry, entry_number(entry, "first"), entry_number(entry, "chunks"),
        (unsigned)entry_number(entry, "verdict"));
}

static void on_result(void *of, const struct entry *entry)
{
    struct hub *hub = of;
    struct life *node =
        entry->peer < MOST_PEERS ? hub->peers[entry->peer] : NULL;
    uint64_t number = entry_number(entry, "exchange");
    uint64_t index = entry_number(entry, "chunk");
    uint64_t version = entry_number(entry, "version");
    struct chunk *chunk;

    if (!number)
        return;
    if (!hub->life->merged)
        hub->life->merged = entry->now;
    say(hub, entry, index, 1, (unsigned)entry_number(entry, "verdict"));
    if (!node || index >= MOST_CHUNKS)
        return;
    chunk = &exchange_at(node, number)->chunks[index];
    if (chunk->version && chunk->version != version)
        violated(hub->judge, entry, "N2: the chunk was in version %" PRIu64,
                 chunk->version);
    chunk->version = version;
}

static void on_saved(void *of, const struct entry *entry)
{
    struct hub *hub = of;
    uint64_t version;

    if (entry_noted(entry, "\"centre, version ", &version))
        hub->life->saved = version;
}

static const struct reader readers[] = {{"message", "hello", on_hello},
                                        {"message", "attach", on_attach},
                                        {"send", "welcome", on_welcome},
                                        {"send", "result", on_result},
                                        {"send", "verdict", on_verdict},
                                        {"note", "centre_saved", on_saved},
                                        {NULL, NULL, NULL}};

static const struct life *life_number(const struct judge *judge, unsigned actor,
                                      unsigned number)
{
    for (size_t i = 0; i < judge->life_count; i++)
        if (judge->lives[i].actor == actor && judge->lives[i].number == number)
            return &judge->lives[i];
    return NULL;
}

/* Whether the node was there from before the hub's end until it served. */
static bool was_there(const struct judge *judge, const struct life *hub,
                      const struct life *before, unsigned actor)
{
    const struct life *node = life_number(judge, actor, before->keeper[actor]);

    return node && node->end > hub->settled &&
           !was_disturbed(judge, actor, before->end - SECOND, hub->settled);
}

static void judge_start(struct judge *judge, const struct life *hub,
                        const struct life *before, const char *path)
{
    struct entry entry = {.path = path, .now = hub->settled};
    char name[NAME_BYTES];

    if (hub->from < before->saved)
        violated(judge, &entry,
                 "N4: it goes on from version %" PRIu64
                 ", and saved was %" PRIu64,
                 hub->from, before->saved);
    for (unsigned i = 1; judge->limits->recovery && i < judge->actors; i++)
        if (hub->from < before->kept[i] && was_there(judge, hub, before, i))
            violated(judge, &entry,
                     "N4: it goes on from version %" PRIu64
                     ", and %s kept %" PRIu64,
                     hub->from, actor_name(i, name), before->kept[i]);
}

/* From its start to its first WELCOME, and to its first result. */
static void measure_start(struct judge *judge, const struct life *life,
                          const char *path)
{
    struct entry entry = {.path = path, .now = life->welcomed};
    nanos stopped = stopped_between(judge, life, life->begin, life->welcomed);
    nanos time = life->welcomed - life->begin - stopped;

    numbers_add(&judge->welcomes, (double)time / (double)SECOND);
    if (judge->limits->serve && time > judge->limits->serve)
        violated(judge, &entry, "it served only %.3f s after its start",
                 (double)time / (double)SECOND);
    if (life->merged)
        numbers_add(&judge->merges,
                    (double)(life->merged - life->begin) / (double)SECOND);
}

/* Whether the hub's directory was emptied after this life. */
static bool was_lost(const struct judge *judge, const struct life *life)
{
    for (size_t i = 0; i < judge->span_count; i++)
        if (judge->spans[i].fault == FAULT_HUB_LOSS &&
            judge->spans[i].life == life->number)
            return true;
    return false;
}

/* What a life leaves to the next one, which adds to it. */
static void inherit(const struct judge *judge, struct life *life,
                    struct life *before)
{
    if (was_lost(judge, before))
        before->saved = 0;
    life->saved = before->saved;
    for (unsigned i = 1; i < judge->actors; i++)
        if (!life->kept[i]) {
            life->kept[i] = before->kept[i];
            life->keeper[i] = before->keeper[i];
        }
}

/* Once a life has merged something, what nodes kept beyond the version that it
 * went on from is no newer centre: what that had has been offered again. */
static void forget_branch(const struct judge *judge, struct life *life,
                          const struct life *before)
{
    for (unsigned i = 1; i < judge->actors && life->merged; i++)
        if (life->kept[i] > life->from && life->kept[i] == before->kept[i] &&
            life->keeper[i] == before->keeper[i])
            life->kept[i] = 0;
}

void judge_hub(struct judge *judge, struct life *life, struct life *before,
               const char *path)
{
    static struct hub hub;
    nanos end;

    hub = (struct hub){.judge = judge, .life = life};
    if (before)
        inherit(judge, life, before);
    if (!entries_read(path, readers, &hub, &end) || !life->welcomed)
        return;
    if (before) {
        if (life->placed) {
            judge_start(judge, life, before, path);
            forget_branch(judge, life, before);
        }
        measure_start(judge, life, path);
    }
}

/* ---- all together ---- */

static void judge_chunk(struct judge *judge, const struct life *life,
                        size_t number, unsigned index, size_t answered)
{
    const struct chunk *chunk = &life->exchanges[number].chunks[index];
    char name[NAME_BYTES];
    struct entry entry = {.path = actor_name(life->actor, name),
                          .now = life->exchanges[number].offered};

    if (chunk->told == ANSWERED_BY_WELCOME) {
        judge->by_welcome++;
        return;
    }
    if (chunk->told == OPEN) {
        judge->open++;
        if (number + 8 <= answered || life->code == 0)
            violated(judge, &entry,
                     "N1: exchange %zu chunk %u of life %u has no verdict",
                     number, index, life->number);
        return;
    }
    judge->agreed += chunk->sent == chunk->told;
    if (chunk->sent != chunk->told)
        violated(judge, &entry,
                 "N1: exchange %zu chunk %u of life %u was told %s, and the "
                 "hub has not said so",
                 number, index, life->number, verdict_words[chunk->told].text);
}

static void judge_life(struct judge *judge, const struct life *life)
{
    size_t answered = 0;

    for (size_t i = 1; i < life->count; i++)
        if (life->exchanges[i].chunks[0].told < OPEN)
            answered = i;
    for (size_t i = 1; i < life->count; i++)
        for (unsigned j = 0; j < judge->chunks; j++)
            if (life->exchanges[i].offered &&
                fragment_holds(life->exchanges[i].part, j))
                judge_chunk(judge, life, i, j, answered);
}

void judge_exchanges(struct judge *judge)
{
    for (size_t i = 0; i < judge->life_count; i++)
        judge_life(judge, &judge->lives[i]);
}
