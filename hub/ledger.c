#include "hub/ledger.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "core/prng.h"

/* All parts are todo, in the order of the epoch (Fisher and Yates). */
static void begin_epoch(struct ledger *ledger)
{
    struct prng prng;

    prng_seed(&prng, prng_mix(ledger->seed ^ prng_mix(ledger->epoch)));
    for (uint32_t i = 0; i < ledger->parts; i++) {
        uint32_t other = (uint32_t)prng_below(&prng, i + 1);

        ledger->tasks[i] = ledger->tasks[other];
        ledger->tasks[other] = (struct ledger_task){.part = i};
    }
    memset(ledger->count, 0, sizeof ledger->count);
    ledger->count[TASK_TODO] = ledger->parts;
    ledger->next = 0;
}

void ledger_init(struct ledger *ledger, uint32_t parts, uint64_t epochs,
                 uint64_t seed, nanos limit)
{
    assert(parts <= LEDGER_MAX_TASKS);
    *ledger = (struct ledger){
        .parts = parts, .epochs = epochs, .seed = seed, .limit = limit};
    if (!parts)
        return;
    ledger->tasks = need_memory(parts, sizeof *ledger->tasks);
    begin_epoch(ledger);
}

void ledger_free(struct ledger *ledger)
{
    free(ledger->tasks);
    free(ledger->claims);
    *ledger = (struct ledger){0};
}

bool ledger_over(const struct ledger *ledger)
{
    return ledger->parts && ledger->epochs && ledger->epoch >= ledger->epochs;
}

static void task_move(struct ledger *ledger, uint32_t place,
                      enum task_state state)
{
    struct ledger_task *task = &ledger->tasks[place];

    ledger->count[task->state]--;
    ledger->count[state]++;
    task->state = state;
    task->doubted = false;
    if (state == TASK_TODO && place < ledger->next)
        ledger->next = place;
}

/* The number of a task; that of an order that another seed made is the same. */
static uint64_t id_of(const struct ledger *ledger, uint32_t place)
{
    return ledger->epoch * ledger->parts + ledger->tasks[place].part + 1;
}

/* Where it stands in this epoch; `parts`: it is of another one, or of none. */
static uint32_t place_of(const struct ledger *ledger, uint64_t id)
{
    uint64_t before = ledger->epoch * ledger->parts;
    uint32_t place = 0;

    if (id <= before || id - before > ledger->parts)
        return ledger->parts;
    while (ledger->tasks[place].part + 1 != id - before)
        place++;
    return place;
}

static bool is_doing(const struct ledger_task *task, unsigned node)
{
    return task->state == TASK_DOING && task->node == node;
}

static unsigned held_by(const struct ledger *ledger, unsigned node)
{
    unsigned held = 0;

    for (uint32_t i = 0; i < ledger->parts; i++)
        held += is_doing(&ledger->tasks[i], node);
    for (uint32_t i = 0; i < ledger->claim_count; i++)
        held += ledger->claims[i].node == node && !ledger->claims[i].done;
    return held;
}

bool ledger_assign(struct ledger *ledger, unsigned node, nanos now,
                   struct task *out)
{
    struct ledger_task *task;

    while (ledger->next < ledger->parts &&
           ledger->tasks[ledger->next].state != TASK_TODO)
        ledger->next++;
    if (ledger->next == ledger->parts || ledger_over(ledger) ||
        held_by(ledger, node) >= LEDGER_MAX_HELD)
        return false;
    task = &ledger->tasks[ledger->next];
    task->node = node;
    task->since = now;
    out->id = id_of(ledger, ledger->next);
    out->epoch = ledger->epoch;
    out->part = task->part;
    task_move(ledger, ledger->next, TASK_DOING);
    return true;
}

/* Takes what has been claimed of this epoch. */
static void take_claims(struct ledger *ledger)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ledger->claim_count; i++) {
        const struct ledger_claim claim = ledger->claims[i];
        uint32_t place = place_of(ledger, claim.id);

        if (place == ledger->parts) {
            ledger->claims[kept++] = claim;
            continue;
        }
        ledger->tasks[place].node = claim.node;
        ledger->tasks[place].since = claim.since;
        task_move(ledger, place, claim.done ? TASK_DONE : TASK_DOING);
        ledger->tasks[place].doubted = claim.doubted;
    }
    ledger->claim_count = kept;
}

/* Begins the next epoch, once all of this one is done. */
static void go_on(struct ledger *ledger)
{
    while (ledger->count[TASK_DONE] == ledger->parts && !ledger_over(ledger)) {
        ledger->epoch++;
        if (ledger_over(ledger))
            return;
        begin_epoch(ledger);
        take_claims(ledger);
    }
}

/* On a task of a later epoch; NULL: there is none. */
static struct ledger_claim *claim_on(const struct ledger *ledger, uint64_t id)
{
    for (uint32_t i = 0; i < ledger->claim_count; i++)
        if (ledger->claims[i].id == id)
            return &ledger->claims[i];
    return NULL;
}

static void claim_drop(struct ledger *ledger, struct ledger_claim *claim)
{
    *claim = ledger->claims[--ledger->claim_count];
}

/* Of a claim; as ledger_report. */
static bool report_early(struct ledger *ledger, unsigned node, uint64_t id,
                         bool done)
{
    struct ledger_claim *claim = claim_on(ledger, id);

    if (!claim || claim->node != node || claim->done)
        return false;
    claim->done = done;
    claim->doubted = false;
    if (!done)
        claim_drop(ledger, claim);
    return true;
}

bool ledger_report(struct ledger *ledger, unsigned node, uint64_t id, bool done)
{
    uint32_t place = place_of(ledger, id);

    if (place == ledger->parts)
        return report_early(ledger, node, id, done);
    if (!is_doing(&ledger->tasks[place], node))
        return false;
    task_move(ledger, place, done ? TASK_DONE : TASK_TODO);
    go_on(ledger);
    return true;
}

/* Whether it can be of an epoch that is still to come. */
static bool is_to_come(const struct ledger *ledger, uint64_t id)
{
    uint64_t epoch = ledger->parts && id ? (id - 1) / ledger->parts : 0;

    return epoch > ledger->epoch && (!ledger->epochs || epoch < ledger->epochs);
}

/* Whether the claim was the node's, and doubted. */
static bool claim_again(struct ledger_claim *claim, unsigned node)
{
    bool again = claim->node == node && claim->doubted;

    claim->doubted &= !again;
    return again;
}

static bool claim_early(struct ledger *ledger, unsigned node, nanos now,
                        uint64_t id)
{
    struct ledger_claim *claim = claim_on(ledger, id);

    if (claim)
        return claim_again(claim, node);
    if (!is_to_come(ledger, id) || ledger->claim_count == LEDGER_MAX_CLAIMS ||
        held_by(ledger, node) >= LEDGER_MAX_HELD)
        return false;
    if (ledger->claim_count == ledger->claim_room) {
        ledger->claim_room =
            ledger->claim_room ? 2 * ledger->claim_room : LEDGER_MAX_HELD;
        ledger->claims = need_more(ledger->claims,
                                   ledger->claim_room * sizeof *ledger->claims);
    }
    ledger->claims[ledger->claim_count++] =
        (struct ledger_claim){.id = id, .node = node, .since = now};
    return true;
}

bool ledger_claim(struct ledger *ledger, unsigned node, nanos now, uint64_t id)
{
    uint32_t place = place_of(ledger, id);
    struct ledger_task *task;

    if (place == ledger->parts)
        return claim_early(ledger, node, now, id);
    task = &ledger->tasks[place];
    if (is_doing(task, node) && task->doubted) {
        task->doubted = false;
        return true;
    }
    if (task->state != TASK_TODO || ledger_over(ledger) ||
        held_by(ledger, node) >= LEDGER_MAX_HELD)
        return false;
    task->node = node;
    task->since = now;
    task_move(ledger, place, TASK_DOING);
    return true;
}

void ledger_doubt(struct ledger *ledger, unsigned node)
{
    for (uint32_t i = 0; i < ledger->parts; i++)
        ledger->tasks[i].doubted |= is_doing(&ledger->tasks[i], node);
    for (uint32_t i = 0; i < ledger->claim_count; i++)
        ledger->claims[i].doubted |=
            ledger->claims[i].node == node && !ledger->claims[i].done;
}

unsigned ledger_settle(struct ledger *ledger, unsigned node)
{
    unsigned lost = 0;

    for (uint32_t i = 0; i < ledger->parts; i++) {
        struct ledger_task *task = &ledger->tasks[i];

        if (!is_doing(task, node) || !task->doubted)
            continue;
        task_move(ledger, i, TASK_TODO);
        lost++;
    }
    for (uint32_t i = 0; i < ledger->claim_count;)
        if (ledger->claims[i].node == node && ledger->claims[i].doubted)
            claim_drop(ledger, &ledger->claims[i]);
        else
            i++;
    return lost;
}

unsigned ledger_lost(struct ledger *ledger, unsigned node)
{
    ledger_doubt(ledger, node);
    return ledger_settle(ledger, node);
}

unsigned ledger_expire(struct ledger *ledger, nanos now)
{
    unsigned expired = 0;

    for (uint32_t i = 0; ledger->limit && i < ledger->parts; i++) {
        const struct ledger_task *task = &ledger->tasks[i];

        if (task->state != TASK_DOING || now - task->since < ledger->limit)
            continue;
        task_move(ledger, i, TASK_TODO);
        expired++;
    }
    return expired;
}

/* ---- as text ---- */

static const char digits[] = "0123456789abcdef";

size_t ledger_print(const struct ledger *ledger, char *text, size_t size)
{
    unsigned char bits[LEDGER_MAX_TASKS / 4] = {0};
    size_t count = (ledger->parts + 3) / 4;
    size_t at = (size_t)snprintf(text, size, "tasks %" PRIu32 " %" PRIu64 " ",
                                 ledger->parts, ledger->epoch);

    assert(size >= LEDGER_TEXT_BYTES);
    for (uint32_t i = 0; i < ledger->parts && !ledger_over(ledger); i++) {
        const struct ledger_task *task = &ledger->tasks[i];

        if (task->state == TASK_DONE)
            bits[task->part / 4] |= (unsigned char)(8u >> task->part % 4);
    }
    for (size_t i = 0; i < count; i++)
        text[at++] = digits[bits[i]];
    text[at++] = '\n';
    text[at] = '\0';
    return at;
}

/* Reads a number and the space behind it. */
static bool read_number(const char **text, uint64_t *out)
{
    char *end;

    if (**text < '0' || **text > '9')
        return false;
    *out = strtoull(*text, &end, 10);
    *text = end + 1;
    return *end == ' ';
}

/* Whether the digits say that the part is done. */
static bool bit_of(const char *bits, uint32_t part)
{
    const char *digit = strchr(digits, bits[part / 4]);

    return ((unsigned)(digit - digits) & 8u >> part % 4) != 0;
}

bool ledger_read(struct ledger *ledger, const char *line)
{
    uint64_t parts, epoch;

    if (strncmp(line, "tasks ", 6) != 0)
        return false;
    line += 6;
    if (!read_number(&line, &parts) || !parts || parts != ledger->parts ||
        !read_number(&line, &epoch) || epoch >= UINT64_MAX / 2 / parts ||
        strspn(line, digits) != (parts + 3) / 4 ||
        line[(parts + 3) / 4] != '\n')
        return false;
    ledger->epoch = epoch;
    ledger->claim_count = 0;
    begin_epoch(ledger);
    for (uint32_t i = 0; i < ledger->parts; i++)
        if (bit_of(line, ledger->tasks[i].part))
            task_move(ledger, i, TASK_DONE);
    go_on(ledger);
    return true;
}

const char *ledger_check(const struct ledger *ledger)
{
    uint32_t count[TASK_STATES] = {0};

    for (uint32_t i = 0; i < ledger->parts; i++) {
        count[ledger->tasks[i].state]++;
        if (i < ledger->next && ledger->tasks[i].state == TASK_TODO)
            return "a task that is todo will never be given out";
    }
    for (uint32_t i = 0; i < ledger->claim_count; i++)
        if (!is_to_come(ledger, ledger->claims[i].id))
            return "a claim on a task that is there is not taken";
    if (memcmp(count, ledger->count, sizeof count) != 0)
        return "the tasks are not those that are counted";
    if (ledger->parts && count[TASK_DONE] == ledger->parts &&
        !ledger_over(ledger))
        return "all tasks are done, but the epoch goes on";
    return NULL;
}
