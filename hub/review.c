#include "hub/review.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/need.h"
#include "core/prng.h"
#include "hub/state.h"
#include "policies/order.h"

enum stage {
    STAGE_NONE, /* not asked */
    STAGE_OPEN, /* to be asked */
    STAGE_SENT, /* asked */
    STAGE_MADE, /* has answered */
    STAGE_VOID  /* will not answer */
};

struct opinion {
    enum stage stage;
    double loss, error;
};

/* What is evaluated: first the centre, then the updates. */
struct subject {
    const struct update *update; /* NULL: the centre */
    uint32_t formed;             /* chunks */
    struct opinion *by;          /* of each place */
};

struct review {
    uint64_t number; /* ordinal, of reviews */
    nanos began;
    int places;               /* of members, taken or not, when it began */
    int *circle;              /* these, in random order */
    struct opinion *opinions; /* count * places */
    unsigned pending;         /* opinions that are OPEN or SENT */
    unsigned forming;         /* jobs under way */
    bool centred;             /* there is a centre */
    bool displaced;           /* updates are displacements from it */
    unsigned count;           /* subjects */
    struct blob **chunks;     /* count * hub->centre.count, float32, sealed */
    struct subject subject[];
};

void review_destroy(struct hub *hub, struct review **reference)
{
    struct review *review = *reference;

    *reference = NULL;
    if (!review)
        return;
    EACH_MEMBER(hub, member)
        if (member->reviewer.review == review->number)
            member->reviewer.asked = 0;
    for (size_t i = 0; i < (size_t)review->count * hub->centre.count; i++)
        blob_unref(&review->chunks[i]);
    free((void *)review->chunks);
    free(review->circle);
    free(review->opinions);
    free(review);
}

/* ---- who evaluates what ---- */

static bool is_able(const struct member *member)
{
    return member_live(member) && !member->reviewer.declines &&
           !member->reviewer.late;
}

static void set_stage(struct review *review, unsigned subject, int member,
                      enum stage stage)
{
    struct opinion *opinion = &review->subject[subject].by[member];

    review->pending -=
        opinion->stage == STAGE_OPEN || opinion->stage == STAGE_SENT;
    review->pending += stage == STAGE_OPEN || stage == STAGE_SENT;
    opinion->stage = stage;
}

/* The Fisher-Yates shuffle of all places, taken or not, so that it does not
 * depend on how many are. */
static void draw_circle(const struct hub *hub, const struct round *round,
                        int *circle, int places)
{
    struct prng prng;

    prng_seed(&prng, hub->config.seed ^ prng_mix(round->number));
    for (int i = 0; i < places; i++)
        circle[i] = i;
    for (int i = places - 1; i > 0; i--) {
        int other = (int)prng_below(&prng, (uint64_t)i + 1);
        int place = circle[i];

        circle[i] = circle[other];
        circle[other] = place;
    }
}

/* Has the update evaluated by the next member behind its own. */
static void draw(struct hub *hub, struct review *review, unsigned subject)
{
    int own = review->subject[subject].update->member;
    int at = 0;

    while (review->circle[at] != own)
        at++;
    for (int i = 1; i < review->places; i++) {
        int place = review->circle[(at + i) % review->places];
        enum stage centre = review->subject[0].by[place].stage;

        if (place >= hub->roll.count ||
            review->subject[subject].by[place].stage != STAGE_NONE ||
            centre == STAGE_VOID || !is_able(hub->roll.members[place]))
            continue;
        set_stage(review, subject, place, STAGE_OPEN);
        if (review->centred && centre == STAGE_NONE)
            set_stage(review, 0, place, STAGE_OPEN);
        return;
    }
}

/* ---- asking ---- */

static struct review *review_find(struct hub *hub, uint64_t number)
{
    struct round *round = hub->rounds.first;

    while (round && (!round->review || round->review->number != number))
        round = round->next;
    return round ? round->review : NULL;
}

/* The first subject of the round that the member is to be asked about, or
 * `count`. */
static unsigned next_subject(const struct hub *hub, const struct review *review,
                             int member)
{
    unsigned i = 0;

    while (i < review->count &&
           (review->subject[i].by[member].stage != STAGE_OPEN ||
            review->subject[i].formed < hub->centre.count))
        i++;
    return i;
}

/* Places that are taken, of those that the review knows. */
static int places_of(const struct hub *hub, const struct review *review)
{
    return hub->roll.count < review->places ? hub->roll.count : review->places;
}

/* Asks each member that is not at work for the next thing there is. */
static void ask(struct hub *hub)
{
    EACH_ROUND(hub, round)
        for (int i = 0; round->review && i < places_of(hub, round->review);
             i++) {
            struct reviewer *reviewer = &hub->roll.members[i]->reviewer;
            unsigned subject = next_subject(hub, round->review, i);

            if (reviewer->asked || subject == round->review->count)
                continue;
            set_stage(round->review, subject, i, STAGE_SENT);
            reviewer->asked = ++hub->rounds.last_asked;
            reviewer->review = round->review->number;
            reviewer->subject = subject;
            reviewer->next = 0;
            reviewer->began = hub->now;
            delivery_stir(hub, hub->roll.members[i]);
        }
}

/* How a chunk of a subject goes to a member; NULL: it holds that. */
static struct blob *spare(const struct hub *hub, const struct member *member,
                          const struct review *review, struct blob *values,
                          struct msg_review *msg)
{
    const struct update *update =
        review->subject[member->reviewer.subject].update;
    const struct update_chunk *gave =
        update ? &update->chunks[msg->chunk] : NULL;

    msg->checksum = values->checksum;
    if (!last_sent_is(hub, member, msg->chunk, review->chunks[msg->chunk]) ||
        (gave && (!gave->payload || !review->displaced)))
        return values;
    if (!gave)
        return NULL;
    msg->checksum = gave->payload->checksum;
    msg->codec = gave->codec;
    msg->change = 1;
    return gave->payload;
}

bool review_next(struct hub *hub, const struct member *member,
                 struct review_chunk *out)
{
    const struct reviewer *reviewer = &member->reviewer;
    const struct review *review;

    if (!reviewer->asked || reviewer->next == hub->centre.count)
        return false;
    review = review_find(hub, reviewer->review);
    out->values = review->chunks[(size_t)reviewer->subject * hub->centre.count +
                                 reviewer->next];
    out->msg = (struct msg){.kind = MSG_REVIEW};
    out->msg.review.review = reviewer->asked;
    out->msg.review.chunk = reviewer->next;
    out->payload = spare(hub, member, review, out->values, &out->msg.review);
    return true;
}

void review_sent(struct hub *hub, struct member *member,
                 const struct review_chunk *chunk)
{
    last_sent_review(hub, member, member->reviewer.next++, chunk->values);
}

/* ---- what is evaluated ---- */

static void formed(void *machine, struct job *job)
{
    struct hub *hub = machine;
    const struct form_job *made = (struct form_job *)job;
    struct review *review = review_find(hub, made->review);

    if (!review)
        return;
    review->forming--;
    if (job->status == STATUS_OK) {
        review
            ->chunks[(size_t)made->subject * hub->centre.count + made->chunk] =
            blob_ref(job->out[0]);
        review->subject[made->subject].formed++;
        ask(hub);
    } else {
        for (int i = 0; i < review->places; i++)
            set_stage(review, made->subject, i, STAGE_VOID);
    }
    hub->dirty |= DIRTY_ROUNDS;
}

static const struct work work_form = {"form", form_chunk, formed};

/* Starts to decode the chunks of an update. */
static void form(struct hub *hub, const struct round *round, unsigned subject)
{
    const struct update *update = round->review->subject[subject].update;
    bool displaced = round->review->displaced;

    for (uint32_t i = 0; i < hub->centre.count; i++) {
        struct form_job *made =
            job_make(&work_form, sizeof *made, hub->pool, 2);
        struct job *job = &made->job;

        if (displaced)
            job->in[0] = (struct input){blob_ref(round->review->chunks[i]), 1,
                                        CODEC_RAW};
        job->inputs = displaced ? 2 : 1;
        job->in[job->inputs - 1] = (struct input){
            blob_ref(update->chunks[i].payload), 1, update->chunks[i].codec};
        job->extent = centre_extent(hub, i);
        made->review = round->review->number;
        made->subject = subject;
        made->chunk = i;
        round->review->forming++;
        hub_job(hub, job);
    }
}

static void take_centre(struct hub *hub, struct review *review)
{
    review->centred = true;
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        review->chunks[i] = blob_ref(last_sent_of(&hub->centre.chunk[i]));
        review->centred &= review->chunks[i] != NULL;
    }
    review->subject[0].formed = hub->centre.count;
}

/* A rule is to judge it. */
static bool is_candidate(const struct update *update)
{
    return update->merges && !update->judged;
}

static struct review *review_new(struct hub *hub, const struct round *round)
{
    unsigned count = 1 + round->count;
    size_t places = (size_t)hub->roll.room;
    struct review *review =
        need_memory(1, sizeof *review + count * sizeof review->subject[0]);

    review->chunks =
        need_memory((size_t)count * hub->centre.count, sizeof(struct blob *));
    review->circle = need_memory(places, sizeof *review->circle);
    review->opinions = need_memory(count * places, sizeof *review->opinions);
    review->places = (int)places;
    for (unsigned i = 0; i < count; i++)
        review->subject[i].by = review->opinions + i * places;
    review->number = ++hub->rounds.last_review;
    review->count = 1;
    EACH_OFFER(round, one)
        if (is_candidate(one))
            review->subject[review->count++].update = one;
    return review;
}

static void begin(struct hub *hub, struct round *round)
{
    struct review *review = review_new(hub, round);

    round->review = review;
    review->began = hub->now;
    review->displaced = round->policy->exchange == EXCHANGE_DELTA;
    draw_circle(hub, round, review->circle, review->places);
    take_centre(hub, review);
    for (unsigned i = 1; i < review->count; i++)
        for (unsigned j = 0; j < REVIEWERS; j++)
            draw(hub, review, i);
    for (unsigned i = 1; review->pending && i < review->count; i++)
        form(hub, round, i);
    ask(hub);
}

/* Whether the review is about this one; it is not when all that it was about
 * were lost, and others were asked for their data. */
static bool is_subject(const struct review *review, const struct update *update)
{
    unsigned i = 1;

    while (i < review->count && review->subject[i].update != update)
        i++;
    return i < review->count;
}

bool review_done(struct hub *hub, struct round *round)
{
    if (!round->policy->reduce->by_loss || hub->config.evaluate)
        return true;
    for (unsigned i = 0; round->review && i < round->count; i++)
        if (is_candidate(round->list[i]) &&
            !is_subject(round->review, round->list[i]))
            review_destroy(hub, &round->review);
    if (!round->review)
        begin(hub, round);
    return !round->review->pending && !round->review->forming;
}

/* ---- answers, and those that do not come ---- */

/* Expects nothing of the member any more; `replace`: others are asked in its
 * place. */
static void withdraw(struct hub *hub, int member, bool replace)
{
    hub->roll.members[member]->reviewer.asked = 0;
    EACH_ROUND(hub, round)
        for (unsigned i = 0; round->review && member < round->review->places &&
                             i < round->review->count;
             i++) {
            enum stage stage = round->review->subject[i].by[member].stage;

            if (stage != STAGE_OPEN && stage != STAGE_SENT)
                continue;
            set_stage(round->review, i, member, STAGE_VOID);
            if (replace && i)
                draw(hub, round->review, i);
        }
    ask(hub);
}

void hub_on_reviewed(struct hub *hub, const struct incoming *in)
{
    struct member *member = in->member;
    struct reviewer *reviewer = &member->reviewer;
    struct review *review;
    struct opinion *opinion;

    reviewer->late = false;
    if (!reviewer->asked || in->msg->reviewed.review != reviewer->asked)
        return;
    if (!in->msg->reviewed.made || reviewer->next < hub->centre.count) {
        reviewer->declines = true;
        withdraw(hub, in->member->place, true);
    } else {
        review = review_find(hub, reviewer->review);
        opinion = &review->subject[reviewer->subject].by[in->member->place];
        opinion->loss = in->msg->reviewed.loss;
        opinion->error = fabs(in->msg->reviewed.error);
        set_stage(review, reviewer->subject, in->member->place, STAGE_MADE);
        reviewer->asked = 0;
        ask(hub);
    }
    hub->dirty |= DIRTY_ROUNDS;
}

void review_forget(struct hub *hub, int member)
{
    struct reviewer *reviewer = &hub->roll.members[member]->reviewer;

    reviewer->declines = reviewer->late = false;
    withdraw(hub, member, false);
}

static nanos patience(const struct member *member)
{
    double two =
        member->stats.rate > 0 ? 2 * (double)SECOND / member->stats.rate : 0;

    return two < (double)(REVIEW_LONGEST - REVIEW_TIME)
               ? REVIEW_TIME + (nanos)two
               : REVIEW_LONGEST;
}

/* Nothing has come, neither of what it was sent nor of it, for too long. */
static bool is_late(const struct hub *hub, const struct member *member)
{
    nanos latest = hub->now - (member->delivery.out ? LEASE : patience(member));

    return member->reviewer.began <= latest && member->delivery.moved <= latest;
}

/* It is slower than its others, and they have waited long enough for it. */
static bool is_slow(struct hub *hub, struct member *member, nanos span)
{
    nanos age = hub->now - member->reviewer.began - patience(member);

    return age > 0 && patience_seconds(age) > waits_whole(hub, member) &&
           patience_use(hub, member, span, "its review is too slow");
}

void review_tick(struct hub *hub, nanos span)
{
    EACH_MEMBER(hub, member) {
        if (!member->reviewer.asked ||
            !(is_late(hub, member) || is_slow(hub, member, span)))
            continue;
        member->reviewer.late = true;
        withdraw(hub, member->place, false);
        effects_note(hub->out, NOTE_REVIEW_LATE, member->name,
                     "is late with a review; it counts without");
        hub->dirty |= DIRTY_ROUNDS;
    }
}

/* ---- what the answers come to: medians of paired differences ---- */

/* Of an even number the higher one of the middle two: an update is not
 * good before most say so. */
static double median(double *values, unsigned count)
{
    values_sort(values, count);
    return values[count / 2];
}

/* Room for a number of each member; the caller frees it. */
static double *numbers_of(const struct review *review)
{
    double *numbers = need_memory((size_t)review->places, sizeof *numbers);

    return numbers;
}

static double centre_loss(const struct review *review)
{
    double *losses = numbers_of(review), loss = NO_SCORE;
    unsigned count = 0;

    for (int i = 0; i < review->places; i++)
        if (review->subject[0].by[i].stage == STAGE_MADE)
            losses[count++] = review->subject[0].by[i].loss;
    if (count)
        loss = median(losses, count);
    free(losses);
    return loss;
}

/* The centre's loss and the median of the differences to it. */
static struct reviewed score_of(const struct review *review,
                                const struct subject *subject, double centre)
{
    struct reviewed reviewed = {.loss = NO_SCORE};
    double *losses = numbers_of(review), *errors = numbers_of(review);

    for (int i = 0; i < review->places; i++) {
        const struct opinion *opinion = &subject->by[i];

        if (opinion->stage != STAGE_MADE)
            continue;
        losses[reviewed.answers] = opinion->loss;
        if (review->centred)
            losses[reviewed.answers] -= review->subject[0].by[i].loss;
        errors[reviewed.answers++] = opinion->error;
    }
    if (reviewed.answers) {
        reviewed.loss = median(losses, reviewed.answers);
        if (review->centred)
            reviewed.loss += centre;
        if (!score_known(reviewed.loss))
            reviewed.loss = NO_SCORE;
        reviewed.error = median(errors, reviewed.answers);
    }
    free(errors);
    free(losses);
    return reviewed;
}

static bool was_asked(const struct review *review,
                      const struct subject *subject)
{
    bool asked = false;

    for (int i = 0; i < review->places; i++)
        asked |= subject->by[i].stage != STAGE_NONE;
    return asked;
}

/* `asked`: some node should have evaluated it. */
static void tell(struct hub *hub, const struct update *update,
                 const struct reviewed *reviewed, double centre, bool asked)
{
    const char *name = hub->roll.members[update->member]->name;
    unsigned long long exchange = update->offer.exchange;

    if (reviewed->answers)
        effects_note(hub->out, NOTE_REVIEWED, name,
                     "exchange %llu: loss %.4g by %u node%s; the "
                     "centre's: %.4g",
                     exchange, reviewed->loss, reviewed->answers,
                     plural(reviewed->answers), centre);
    else if (!hub->rounds.unreviewed && asked)
        effects_note(hub->out, NOTE_UNREVIEWED, name,
                     "exchange %llu: no other node could test it; what its "
                     "own node says of it counts, unless it is far better "
                     "than what all others say",
                     exchange);
    hub->rounds.unreviewed = !reviewed->answers;
}

void review_close(struct hub *hub, struct round *round,
                  struct judge_order *order)
{
    const struct review *review = round->review;
    unsigned at = 0;

    if (!review)
        return;
    order->centre = centre_loss(review);
    for (unsigned i = 1; i < review->count; i++) {
        const struct subject *subject = &review->subject[i];

        if (!subject->update->merges)
            continue; /* lost meanwhile */
        order->one[at].review = score_of(review, subject, order->centre);
        order->reviewed |= order->one[at].review.answers > 0;
        tell(hub, subject->update, &order->one[at++].review, order->centre,
             was_asked(review, subject));
    }
    assert(at == order->count);
    review_destroy(hub, &round->review);
}

void review_tell(const struct round *round, nanos now, struct text *out)
{
    const struct review *review = round->review;

    if (review)
        text_add(out,
                 "; waits for %u test%s of parameters by nodes, for "
                 "%.0f s",
                 review->pending, plural(review->pending),
                 (double)(now - review->began) / (double)SECOND);
}

void review_warn(struct hub *hub)
{
    for (const struct round *round = hub->rounds.first;
         round && !hub->rounds.slow_reviews; round = round->next) {
        if (!round->review || hub->now - round->review->began < REVIEW_NOTICED)
            continue;
        hub->rounds.slow_reviews = true;
        effects_note(hub->out, NOTE_REVIEW_SLOW, "",
                     "nodes take more than %.0f s to test a round's "
                     "parameters. Start the hub with --model and --data, so "
                     "that it tests them itself, or with %s",
                     (double)REVIEW_NOTICED / (double)SECOND,
                     tournament_goes_on(hub)
                         ? "--init hub"
                         : "a larger --every or --policy diloco");
    }
}

const char *review_check(const struct hub *hub)
{
    unsigned busy = 0, sent = 0;

    EACH_MEMBER(hub, member)
        busy += member->reviewer.asked != 0;
    EACH_ROUND(hub, round) {
        unsigned open = 0;

        for (unsigned i = 0; round->review && i < round->review->count; i++)
            for (int j = 0; j < round->review->places; j++) {
                enum stage stage = round->review->subject[i].by[j].stage;

                open += stage == STAGE_OPEN || stage == STAGE_SENT;
                sent += stage == STAGE_SENT;
            }
        if (round->review && open != round->review->pending)
            return "open reviews are counted wrong";
    }
    return busy == sent ? NULL : "a node has more than one review, or none";
}
