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
    if (state == TASK_TODO && place < ledger->next)
        ledger->next = place;
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
    out->id = ledger->epoch * ledger->parts + ledger->next + 1;
    out->epoch = ledger->epoch;
    out->part = task->part;
    task_move(ledger, ledger->next, TASK_DOING);
    return true;
}

static void end_epoch(struct ledger *ledger)
{
    ledger->epoch++;
    if (!ledger_over(ledger))
        begin_epoch(ledger);
}

bool ledger_report(struct ledger *ledger, unsigned node, uint64_t id, bool done)
{
    uint64_t first = ledger->epoch * ledger->parts + 1;

    if (id < first || id - first >= ledger->parts ||
        !is_doing(&ledger->tasks[id - first], node))
        return false;
    task_move(ledger, (uint32_t)(id - first), done ? TASK_DONE : TASK_TODO);
    if (ledger->count[TASK_DONE] == ledger->parts)
        end_epoch(ledger);
    return true;
}

unsigned ledger_lost(struct ledger *ledger, unsigned node)
{
    unsigned lost = 0;

    for (uint32_t i = 0; i < ledger->parts; i++) {
        if (!is_doing(&ledger->tasks[i], node))
            continue;
        task_move(ledger, i, TASK_TODO);
        lost++;
    }
    return lost;
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
    begin_epoch(ledger);
    for (uint32_t i = 0; i < ledger->parts; i++)
        if (bit_of(line, ledger->tasks[i].part))
            task_move(ledger, i, TASK_DONE);
    if (ledger->count[TASK_DONE] == ledger->parts)
        end_epoch(ledger);
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
    if (memcmp(count, ledger->count, sizeof count) != 0)
        return "the tasks are not those that are counted";
    if (ledger->parts && count[TASK_DONE] == ledger->parts &&
        !ledger_over(ledger))
        return "all tasks are done, but the epoch goes on";
    return NULL;
}
