#include "tests/node/solo.h"

#include "tests/check.h"

static void merge(struct solo *solo, const struct msg_chunk *chunk,
                  double offered)
{
    struct solo_answer *answer = &solo->answers[solo->answer_count++];
    uint64_t exchange = chunk->exchange;

    solo->own[chunk->chunk] += offered;
    solo->theta[chunk->chunk] += solo->gain * offered + solo->others;
    solo->applied_value[exchange % SOLO_EXCHANGES][chunk->chunk] =
        solo->theta[chunk->chunk];
    *answer =
        (struct solo_answer){.result = {.exchange = exchange,
                                        .chunk = chunk->chunk,
                                        .verb = solo->verb,
                                        .version = exchange,
                                        .lineage = 5,
                                        .weight = solo->desk->weight},
                             .value = solo->theta[chunk->chunk],
                             .arrival = solo->pacer.iteration + solo->latency +
                                        exchange * 7 % (solo->jitter + 1)};
}

static void take(struct solo *solo, const struct hand_sent *sent)
{
    const struct msg *msg = &sent->msg;

    switch (msg->kind) {
    case MSG_SCHEDULE:
        pacer_schedule(&solo->pacer, &msg->schedule);
        break;
    case MSG_APPLY:
        inbox_take(&solo->inbox, &msg->apply, sent->payload);
        if (inbox_complete(&solo->inbox, msg->apply.exchange))
            pacer_ready(&solo->pacer, msg->apply.exchange);
        break;
    case MSG_FORGET:
        pacer_forget(&solo->pacer, msg->forget.first, msg->forget.last);
        inbox_forget(&solo->inbox, msg->forget.first, msg->forget.last);
        break;
    case MSG_CHUNK:
        merge(solo, &msg->chunk, hand_float(sent->payload, 0));
        break;
    default:
        break;
    }
}

/* Takes what the node has said, then gives it the answers that are there. */
static void converse(struct solo *solo)
{
    for (unsigned i = 0; i < solo->desk->hand.sent_count; i++)
        take(solo, &solo->desk->hand.sent[i]);
    hand_forget(&solo->desk->hand);
    for (unsigned i = 0; i < solo->answer_count; i++) {
        struct solo_answer *answer = &solo->answers[i];

        if (answer->given || answer->arrival > solo->pacer.iteration)
            continue;
        answer->given = true;
        desk_result(solo->desk, &answer->result, answer->value);
    }
    for (unsigned i = 0; i < solo->desk->hand.sent_count; i++)
        take(solo, &solo->desk->hand.sent[i]);
    hand_forget(&solo->desk->hand);
}

static void apply(struct solo *solo, uint64_t exchange)
{
    const struct span span = {solo->x, DESK_ELEMENTS};

    CHECK(solo->pacer.iteration >=
          solo->taken[exchange % SOLO_EXCHANGES] + solo->delay);
    (void)inbox_apply(&solo->inbox, exchange, &span, NULL, NULL);
    pacer_done(&solo->pacer, exchange);
    desk_applied(solo->desk, exchange);
    solo->applied++;
    for (unsigned i = 0; i < DESK_CHUNKS; i++) {
        if (solo->applied_value[exchange % SOLO_EXCHANGES][i] == 0)
            continue;
        solo->base[i] = solo->applied_value[exchange % SOLO_EXCHANGES][i];
        solo->base_taken[i] = solo->taken[exchange % SOLO_EXCHANGES];
    }
}

static void apply_due(struct solo *solo)
{
    uint64_t exchange;
    enum pacer_act act;

    while ((act = pacer_due(&solo->pacer, &exchange)) == PACER_APPLY ||
           act == PACER_SKIP) {
        if (act == PACER_APPLY) {
            apply(solo, exchange);
            continue;
        }
        pacer_done(&solo->pacer, exchange);
        inbox_forget(&solo->inbox, exchange, exchange);
        desk_skips(solo->desk, exchange);
        solo->skipped++;
    }
}

static void offer(struct solo *solo, uint64_t exchange)
{
    const struct msg_schedule *schedule = &solo->pacer.schedule;
    const struct span span = {solo->x, DESK_ELEMENTS};
    struct msg_snapshot snapshot = {.exchange = exchange,
                                    .iteration = solo->pacer.iteration,
                                    .kind = schedule->exchange,
                                    .fragment = solo->pacer.fragment,
                                    .fragments = schedule->fragments};
    struct fragment part =
        fragment_of(solo->pacer.fragment, schedule->fragments);
    struct blob *values =
        hand_floats(solo->desk->hand.pool,
                    fragment_elements(part, DESK_ELEMENTS, SOLO_CHUNK), 0);

    fragment_copy(part, DESK_ELEMENTS, SOLO_CHUNK, &span, blob_floats(values));
    values->checksum = 0;
    solo->taken[exchange % SOLO_EXCHANGES] = solo->pacer.iteration;
    for (unsigned i = 0; i < DESK_CHUNKS; i++)
        solo->applied_value[exchange % SOLO_EXCHANGES][i] = 0;
    desk_takes(solo->desk, &snapshot, values);
    blob_unref(&values);
}

void solo_step(struct solo *solo, double drift)
{
    uint64_t exchange;

    for (int i = 0; i < DESK_ELEMENTS; i++)
        solo->x[i] += (float)drift;
    pacer_tick(&solo->pacer);
    converse(solo);
    apply_due(solo);
    while (pacer_offer(&solo->pacer, false, &exchange))
        offer(solo, exchange);
    converse(solo);
    if (solo->delay == 0)
        apply_due(solo);
}

void solo_open(struct solo *solo, uint64_t every, uint64_t delay,
               uint32_t fragments, double value)
{
    struct desk *desk = desk_new();

    *solo = (struct solo){.desk = desk, .delay = delay, .gain = 1};
    pacer_init(&solo->pacer);
    inbox_init(&solo->inbox, DESK_ELEMENTS);
    for (int i = 0; i < DESK_ELEMENTS; i++)
        solo->x[i] = (float)value;
    for (int i = 0; i < DESK_CHUNKS; i++)
        solo->theta[i] = solo->base[i] = value;
    desk->welcome.every = every;
    desk->welcome.delay = delay;
    desk->welcome.fragments = fragments;
    desk_ready(desk, value);
    converse(solo);
}

void solo_close(struct solo *solo)
{
    inbox_free(&solo->inbox);
    desk_destroy(&solo->desk);
}
