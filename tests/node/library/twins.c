/* The library and the simulated trainer are one: both go through the same
 * script, at the same hub that is fake, and what they offer is the same, bit
 * for bit. The library does so over the network and in real time, where the hub
 * has it wait for each result that is due, and with its parameters at another
 * place after each iteration; the simulated one by hand. The library does so a
 * second time with parameters that lie elsewhere, as on a GPU, where a copy
 * takes some iterations, and a third time with these given in pieces. */
#include <math.h>
#include <string.h>

#include <starswitch_pieces.h>

#include "tests/check.h"
#include "tests/node/library/twin.h"

/* ---- the library ---- */

/* What the tensors hold moves from one place to another and back: the
 * parameters, or copies of those that lie in `device`. */
struct mover {
    enum home { IN_TENSORS, ELSEWHERE, IN_PIECES } parameters;
    float memory[2][FAKE_HUB_ELEMENTS], by[2][FAKE_HUB_ELEMENTS];
    unsigned place;
    float device[FAKE_HUB_ELEMENTS];
    float copy[FAKE_HUB_ELEMENTS]; /* on its way from there */
    uint64_t copying;              /* as it was after this iteration; 0: none */
    struct star_link *link;
    struct star_state state;
};

static float *parameters(struct mover *mover)
{
    return mover->parameters ? mover->device : mover->memory[mover->place];
}

static void take_step(void *context, const float *by, size_t first,
                      size_t count)
{
    twin_descend(parameters(context), by, first, count);
}

/* Of double precision, so that it is the same bit for bit. */
static void take_change(void *context, double keep, double scale,
                        const float *values, size_t first, size_t count)
{
    float *x = parameters(context);

    for (size_t i = 0; i < count; i++)
        x[first + i] =
            (float)(keep * (double)x[first + i] + scale * (double)values[i]);
}

/* `hub`: NULL where it is attached, and its tensors move. */
static enum star_status attach(struct mover *mover, const char *hub)
{
    float *x = mover->memory[mover->place], *by = mover->by[mover->place];
    const struct star_tensor tensors[] = {
        STAR_TENSOR("a", 1, x, by, 3),
        STAR_TENSOR("b", 1, x + 3, by + 3, FAKE_HUB_ELEMENTS - 3)};
    const struct star_options options = {
        .size = sizeof options,
        .quiet = 1,
        .hub = hub,
        .step = take_step,
        .change = mover->parameters ? take_change : NULL,
        .context = mover};

    return mover->link
               ? star_retarget(mover->link, tensors, 2, NULL, 0)
               : star_attach(&options, tensors, 2, &mover->link, NULL, 0);
}

static void move(struct mover *mover)
{
    float *from = mover->memory[mover->place];

    mover->place = !mover->place;
    memcpy(mover->memory[mover->place], from, sizeof mover->memory[0]);
    CHECK_EQUAL(STAR_OK, attach(mover, NULL));
    for (int i = 0; i < FAKE_HUB_ELEMENTS; i++)
        from[i] = (float)NAN;
}

/* What it does is what it has said that it would do. */
static void step(struct mover *mover, const struct star_progress *progress)
{
    const float *x = parameters(mover);
    unsigned due = star_due(mover->link);
    uint64_t offered = mover->state.offered;
    bool begun;
    float before[FAKE_HUB_ELEMENTS];

    memcpy(before, x, sizeof before);
    CHECK_EQUAL(STAR_GO, star_step(mover->link, progress));
    CHECK_EQUAL(STAR_OK, star_look(mover->link, &mover->state));
    begun = mover->state.offered > offered;
    if (mover->parameters && !star_wants_gradient(mover->link))
        begun = !mover->copying && star_due(mover->link) & STAR_DUE_COPY;
    CHECK_EQUAL(begun, (due & STAR_DUE_OFFER) != 0);
    if (!(due & STAR_DUE_RESULT))
        CHECK(same_bytes(before, x, sizeof before));
}

/* Hands the copy over in pieces: the third of four, and the last element, are
 * where the tensors are. */
static enum star_status offer_pieces(struct mover *mover)
{
    const float *from = mover->copy;
    const float *pieces[] = {from, from + 1, NULL, from + 4};
    const uint64_t lengths[] = {1, 1, 2, FAKE_HUB_ELEMENTS - 5};
    float *tensors = mover->memory[mover->place];
    size_t last = FAKE_HUB_ELEMENTS - 1;

    memcpy(tensors + 2, from + 2, 2 * sizeof *from);
    tensors[last] = from[last];
    return star_offer_pieces(mover->link, mover->copying, pieces, lengths, 4);
}

static enum star_status offer(struct mover *mover)
{
    if (mover->parameters == IN_PIECES)
        return offer_pieces(mover);
    memcpy(mover->memory[mover->place], mover->copy, sizeof mover->copy);
    return star_offer(mover->link, mover->copying);
}

/* Begins to copy what is to be offered, and hands over what was copied. */
static void copy(struct mover *mover, uint64_t lag)
{
    uint64_t now = mover->state.iteration;

    if (!mover->copying && star_due(mover->link) & STAR_DUE_COPY) {
        mover->copying = now;
        memcpy(mover->copy, mover->device, sizeof mover->copy);
    }
    if (!mover->copying || now < mover->copying + lag)
        return;
    CHECK_EQUAL(STAR_OK, offer(mover));
    CHECK_EQUAL(now == mover->copying ? STAR_OK : STAR_BAD_ARGUMENT,
                offer(mover));
    mover->copying = 0;
}

/* With all that was learnt. */
static void leave(struct mover *mover)
{
    if (mover->parameters) {
        memcpy(mover->memory[mover->place], mover->device,
               sizeof mover->device);
        CHECK_EQUAL(STAR_OK, star_offer(mover->link, mover->state.iteration));
    }
    star_detach(&mover->link);
}

static void wait_until_offering(struct star_link *link)
{
    struct star_state state = {.size = sizeof state};
    nanos until = net_now() + FAKE_PATIENCE;

    CHECK_EQUAL(STAR_OK, star_wait(link, -1));
    while (!strstr(state.text, "part of the run") && net_now() < until) {
        CHECK_EQUAL(STAR_OK, star_look(link, &state));
        (void)star_wait(NULL, 0.01);
    }
}

static void train_in_earnest(const struct twin_script *script,
                             struct fake_hub *hub, enum home home)
{
    struct mover mover = {.parameters = home,
                          .state = {.size = sizeof mover.state}};
    struct star_progress progress = {
        .size = sizeof progress, .samples = TWIN_SAMPLES, .accuracy = -1};

    twin_begin(mover.memory[0]);
    twin_begin(mover.device);
    fake_hub_start(hub);
    CHECK_EQUAL(STAR_OK, attach(&mover, hub->address));
    wait_until_offering(mover.link);
    for (uint64_t i = 0; i < script->iterations; i++) {
        float *x = parameters(&mover), *by = mover.by[mover.place];

        progress.loss = twin_gradient(NULL, i, x, FAKE_HUB_ELEMENTS, by);
        if (!star_wants_gradient(mover.link))
            twin_descend(x, by, 0, FAKE_HUB_ELEMENTS);
        step(&mover, &progress);
        if (home)
            copy(&mover, script->lag);
        move(&mover);
    }
    leave(&mover);
}

/* ---- both ---- */

/* Whether it is the same in all worlds: a node that leaves gives the last offer
 * and one whose result is not there as one or as two. */
static bool is_sure(const struct twin_script *script,
                    const struct fake_hub_heard *heard)
{
    return (script->delay < script->every && script->fragments < 2) ||
           heard->offer.iteration + script->delay <= script->iterations;
}

static void check_library(const struct twin_script *script,
                          const struct fake_hub_heard *heard, uint64_t offers,
                          enum home home)
{
    struct fake_hub *hub = twin_tutor(script);

    train_in_earnest(script, hub, home);
    if (is_sure(script, &heard[offers + 1]))
        CHECK_EQUAL(offers, hub->last_offer);
    for (uint64_t i = 1; i <= offers; i++) {
        const struct fake_hub_heard *other = &hub->heard[i];

        CHECK_EQUAL(heard[i].offer.iteration, other->offer.iteration);
        CHECK_EQUAL(heard[i].offer.samples, other->offer.samples);
        CHECK(same_bytes(&heard[i].offer.score, &other->offer.score,
                         sizeof other->offer.score));
        CHECK(same_bytes(heard[i].values, other->values, sizeof other->values));
    }
    fake_hub_destroy(&hub);
}

static void check_twins(const struct twin_script *script, uint64_t offers)
{
    static struct fake_hub_heard heard[FAKE_HUB_HEARD];
    struct fake_hub *hub = twin_tutor(script);
    uint64_t sure = 0;

    twin_by_hand(script, hub);
    memcpy(heard, hub->heard, sizeof heard);
    while (sure < hub->last_offer && sure + 2 < FAKE_HUB_HEARD &&
           is_sure(script, &heard[sure + 1]))
        sure++;
    fake_hub_destroy(&hub);
    CHECK_EQUAL(offers, sure);
    check_library(script, heard, sure, IN_TENSORS);
    check_library(script, heard, sure, ELSEWHERE);
    check_library(script, heard, sure, IN_PIECES);
}

static void with_progress_and_a_delay(void)
{
    check_twins(&(struct twin_script){.every = 4,
                                      .delay = 3,
                                      .iterations = 39,
                                      .verb = VERB_REBASE,
                                      .weight = 1,
                                      .lag = 2},
                10);
}

static void with_progress_and_no_delay(void)
{
    check_twins(
        &(struct twin_script){
            .every = 3, .iterations = 31, .verb = VERB_REBASE, .weight = 0.5},
        11);
}

static void with_progress_and_a_delay_of_a_period(void)
{
    check_twins(&(struct twin_script){.every = 4,
                                      .delay = 4,
                                      .iterations = 39,
                                      .verb = VERB_REBASE,
                                      .weight = 1,
                                      .lag = 3},
                8);
}

/* Results are applied while a copy is on its way. */
static void with_progress_and_a_delay_of_two_periods(void)
{
    check_twins(&(struct twin_script){.every = 3,
                                      .delay = 7,
                                      .iterations = 40,
                                      .verb = VERB_REBASE,
                                      .weight = 1,
                                      .lag = 2},
                11);
}

static void with_a_part_of_what_was_merged(void)
{
    check_twins(&(struct twin_script){.every = 2,
                                      .delay = 5,
                                      .iterations = 31,
                                      .verb = VERB_PULL,
                                      .weight = 0.25,
                                      .lag = 1},
                13);
}

static void with_fragments_in_turn(void)
{
    check_twins(&(struct twin_script){.every = 6,
                                      .delay = 4,
                                      .iterations = 37,
                                      .verb = VERB_REBASE,
                                      .weight = 1,
                                      .lag = 1,
                                      .fragments = 3},
                16);
}

/* As EASGD does. */
static void with_parameters_and_elastic_forces(void)
{
    check_twins(&(struct twin_script){.every = 4,
                                      .delay = 2,
                                      .iterations = 31,
                                      .exchange = EXCHANGE_PARAMETERS,
                                      .verb = VERB_REBASE,
                                      .weight = 1,
                                      .lag = 1},
                8);
}

/* As where the best is taken over by all. */
static void with_parameters_that_replace_others(void)
{
    check_twins(&(struct twin_script){.every = 4,
                                      .delay = 3,
                                      .iterations = 31,
                                      .exchange = EXCHANGE_PARAMETERS,
                                      .verb = VERB_REPLACE,
                                      .weight = 1,
                                      .lag = 2},
                8);
}

static void with_an_anchor(void)
{
    check_twins(&(struct twin_script){.every = 3,
                                      .delay = 2,
                                      .iterations = 32,
                                      .verb = VERB_PULL,
                                      .weight = 0.25,
                                      .anchor = 0.5,
                                      .lag = 1},
                11);
}

/* The last one is that of iteration 28: gradients have no last offer. */
static void with_gradients_for_the_optimizer(void)
{
    check_twins(&(struct twin_script){.every = 4,
                                      .delay = 2,
                                      .iterations = 31,
                                      .exchange = EXCHANGE_GRADIENT,
                                      .verb = VERB_STEP,
                                      .weight = 1},
                7);
}

static void with_gradients_that_the_hub_has_taken(void)
{
    check_twins(&(struct twin_script){.every = 2,
                                      .iterations = 31,
                                      .exchange = EXCHANGE_GRADIENT,
                                      .verb = VERB_REBASE,
                                      .weight = 1},
                15);
}

void add_node_library_twins_tests(CU_pSuite suite)
{
    TEST(with_progress_and_a_delay);
    TEST(with_progress_and_no_delay);
    TEST(with_progress_and_a_delay_of_a_period);
    TEST(with_progress_and_a_delay_of_two_periods);
    TEST(with_a_part_of_what_was_merged);
    TEST(with_fragments_in_turn);
    TEST(with_parameters_and_elastic_forces);
    TEST(with_parameters_that_replace_others);
    TEST(with_an_anchor);
    TEST(with_gradients_for_the_optimizer);
    TEST(with_gradients_that_the_hub_has_taken);
}
