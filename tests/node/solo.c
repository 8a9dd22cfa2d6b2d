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
    *answer = (struct solo_answer){
        .result = {.exchange = exchange,
                   .chunk = chunk->chunk,
                   .verb = solo->verb,
                   .version = exchange,
                   .lineage = 5,
                   .weight = solo->f->weight},
        .value = solo->theta[chunk->chunk],
        .arrival = solo->agenda.pacer.iteration + solo->latency +
                   exchange * 7 % (solo->jitter + 1)};
}

static void take(struct solo *solo, const struct hand_sent *sent)
{
    const struct msg *msg = &sent->msg;

    if (msg->kind == MSG_CHUNK)
        merge(solo, &msg->chunk, hand_float(sent->payload, 0));
    else
        (void)agenda_receive(&solo->agenda, msg, sent->payload);
}

/* Takes what the node has said, then gives it the answers that are there. */
static void converse(struct solo *solo)
{
    for (unsigned i = 0; i < solo->f->hand.sent_count; i++)
        take(solo, &solo->f->hand.sent[i]);
    hand_forget(&solo->f->hand);
    for (unsigned i = 0; i < solo->answer_count; i++) {
        struct solo_answer *answer = &solo->answers[i];

        if (answer->given || answer->arrival > solo->agenda.pacer.iteration)
            continue;
        answer->given = true;
        node_fixture_result(solo->f, &answer->result, answer->value);
    }
    for (unsigned i = 0; i < solo->f->hand.sent_count; i++)
        take(solo, &solo->f->hand.sent[i]);
    hand_forget(&solo->f->hand);
}

static void apply(struct solo *solo, uint64_t exchange)
{
    const struct span span = {solo->x, FIXTURE_ELEMENTS};
    bool replaced;

    CHECK(solo->agenda.pacer.iteration >=
          solo->taken[exchange % SOLO_EXCHANGES] + solo->delay);
    (void)agenda_apply(&solo->agenda, exchange, &span, NULL,
                       &(struct inbox_optimizer){NULL, NULL, NULL, NULL},
                       &replaced);
    node_fixture_applied(solo->f, exchange);
    solo->applied++;
    for (unsigned i = 0; i < FIXTURE_CHUNKS; i++) {
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

    while ((act = agenda_due(&solo->agenda, &exchange)) == PACER_APPLY ||
           act == PACER_SKIP) {
        if (act == PACER_APPLY) {
            apply(solo, exchange);
            continue;
        }
        agenda_skip(&solo->agenda, exchange);
        node_fixture_skips(solo->f, exchange);
        solo->skipped++;
    }
}

static void offer(struct solo *solo, uint64_t exchange)
{
    const struct span span = {solo->x, FIXTURE_ELEMENTS};
    struct msg_local_offer snapshot = {.exchange = exchange};
    struct blob *values =
        hand_floats(solo->f->hand.pool, agenda_elements(&solo->agenda), 0);

    agenda_describe(&solo->agenda, false, &snapshot);
    agenda_copy(&solo->agenda, &span, blob_floats(values));
    values->checksum = 0;
    solo->taken[exchange % SOLO_EXCHANGES] = snapshot.iteration;
    for (unsigned i = 0; i < FIXTURE_CHUNKS; i++)
        solo->applied_value[exchange % SOLO_EXCHANGES][i] = 0;
    node_fixture_takes(solo->f, &snapshot, values);
    blob_unref(&values);
}

void solo_step(struct solo *solo, double drift)
{
    uint64_t exchange;

    for (int i = 0; i < FIXTURE_ELEMENTS; i++)
        solo->x[i] += (float)drift;
    pacer_tick(&solo->agenda.pacer);
    converse(solo);
    apply_due(solo);
    while (pacer_offer(&solo->agenda.pacer, false, &exchange))
        offer(solo, exchange);
    converse(solo);
    if (solo->delay == 0)
        apply_due(solo);
}

void solo_open(struct solo *solo, uint64_t every, uint64_t delay,
               uint32_t fragments, double value)
{
    struct node_fixture *f = node_fixture_new();

    *solo = (struct solo){.f = f, .delay = delay, .gain = 1};
    agenda_init(&solo->agenda, FIXTURE_ELEMENTS);
    for (int i = 0; i < FIXTURE_ELEMENTS; i++)
        solo->x[i] = (float)value;
    for (int i = 0; i < FIXTURE_CHUNKS; i++)
        solo->theta[i] = solo->base[i] = value;
    f->welcome.every = every;
    f->welcome.delay = delay;
    f->welcome.fragments = fragments;
    node_fixture_ready(f, value);
    converse(solo);
}

void solo_close(struct solo *solo)
{
    agenda_free(&solo->agenda);
    node_fixture_destroy(&solo->f);
}
