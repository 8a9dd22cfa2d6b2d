/* What the ancestor systems require of exchanges: the AP-* and EF-* criteria
 * that a star in virtual time can show. */
#include "tests/check.h"
#include "tests/sim/lab.h"

static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};

/* ---- AP-1 ---- */

static void find_refusal(struct lab *lab, const struct world_step *step)
{
    struct note *found = lab->own;

    for (unsigned i = 0; step->process == WORLD_HUB && i < step->effects->count;
         i++)
        if (step->effects->list[i].kind == EFFECT_NOTE &&
            step->effects->list[i].note.kind == NOTE_REFUSED)
            *found = step->effects->list[i].note;
}

static unsigned add_with(struct lab *lab, const char *name,
                         const struct schema *schema)
{
    static const float start[12];
    struct world_node node = {.name = name,
                              .schema = schema,
                              .trainer = {.start = start,
                                          .elements = (size_t)schema->elements,
                                          .step = 100 * MILLISECOND,
                                          .rate = 1,
                                          .gradient = trainer_drift,
                                          .context = &drift}};
    unsigned number = world_add_node(lab->world, &node);

    world_start(lab->world, number);
    lab_run(lab, SECOND);
    return number;
}

static struct schema *two_tensors(const char *first, uint64_t first_elements,
                                  const char *second, uint64_t second_elements)
{
    struct schema *schema = schema_new();

    CHECK_OK(schema_add(schema, first, 1, &first_elements, NULL));
    CHECK_OK(schema_add(schema, second, 1, &second_elements, NULL));
    return schema;
}

/* A node with `ours` founds the run; another one comes with `theirs`. */
static void check_refused(struct schema *ours, struct schema *theirs,
                          const char *named)
{
    struct lab *lab = lab_new((size_t)ours->elements);
    struct note note = {.text = ""};

    lab->own = &note;
    lab->after_step = find_refusal;
    lab_open(lab, 1);
    (void)add_with(lab, "founder", ours);
    (void)add_with(lab, "stranger", theirs);
    CHECK_TEXT("stranger", note.subject);
    CHECK_CONTAINS(named, note.text);
    CHECK(!node_ended(world_node(lab->world, 0)));
    CHECK(node_ended(world_node(lab->world, 1)));
    CHECK(trainer_stopped(world_trainer(lab->world, 1)));
    lab_destroy(&lab);
    schema_destroy(&ours);
    schema_destroy(&theirs);
}

static void ap_01_a_wrong_schema_is_refused_naming_the_first_difference(void)
{
    check_refused(two_tensors("weight", 7, "bias", 2),
                  two_tensors("weight", 7, "bias", 3), "bias");
    check_refused(two_tensors("weight", 7, "bias", 2),
                  two_tensors("weight", 7, "slope", 2), "slope");
    check_refused(two_tensors("weight", 7, "bias", 2),
                  two_tensors("heavy", 7, "slope", 2), "heavy");
}

/* ---- AP-3 ---- */

static void ap_03_training_goes_on_at_full_rate_with_a_silent_hub(void)
{
    struct lab *lab = lab_new(11);
    uint64_t before;

    lab->config.hub.every = 5;
    lab->config.hub.delay = 3;
    lab_open(lab, 3);
    lab_add(lab, "n1", &drifting);
    lab_run(lab, 10 * SECOND);
    before = trainer_iteration(world_trainer(lab->world, 0));
    world_freeze(lab->world, WORLD_HUB);
    lab_run(lab, 60 * SECOND);
    CHECK_EQUAL(600, trainer_iteration(world_trainer(lab->world, 0)) - before);
    CHECK_EQUAL(0, trainer_waited(world_trainer(lab->world, 0)));
    world_thaw(lab->world, WORLD_HUB);
    lab_run(lab, 10 * SECOND);
    CHECK_EQUAL(700, trainer_iteration(world_trainer(lab->world, 0)) - before);
    CHECK(world_hub(lab->world) != NULL);
    lab_destroy(&lab);
}

/* ---- AP-4 ---- */

enum { OFFERS = 512 };

struct schedule_watch {
    uint64_t delay, every;
    uint64_t offered[OFFERS]; /* iteration of each exchange's offer */
    unsigned applied, early, punctual, out_of_turn;
};

static void watch_schedule(void *observer, const struct trainer_look *look)
{
    struct schedule_watch *watch = observer;
    uint64_t due;

    if (!look->exchange || look->exchange >= OFFERS)
        return;
    if (look->moment == TRAINER_OFFERED) {
        watch->offered[look->exchange] = look->iteration;
        watch->out_of_turn += look->iteration % watch->every != 0;
    } else if (look->moment == TRAINER_APPLIED) {
        due = watch->offered[look->exchange] + watch->delay;
        watch->applied++;
        watch->early += look->iteration < due;
        watch->punctual += look->iteration == due;
    }
}

static void check_schedule(uint64_t every, uint64_t delay, nanos latency)
{
    struct schedule_watch watch = {.every = every, .delay = delay};
    struct model model = drifting;
    struct lab *lab = lab_new(5);

    model.look = watch_schedule;
    model.observer = &watch;
    lab->config.hub.every = every;
    lab->config.hub.delay = delay;
    lab->config.link.latency = latency;
    lab_open(lab, 4);
    lab_add(lab, "n1", &model);
    lab_run(lab, 40 * SECOND);
    CHECK(watch.applied > 10);
    CHECK_EQUAL(0, watch.early);
    CHECK_EQUAL(0, watch.out_of_turn);
    if (latency < 10 * MILLISECOND)
        CHECK_EQUAL(watch.applied, watch.punctual);
    lab_destroy(&lab);
}

static void ap_04_a_result_is_never_applied_before_its_iteration(void)
{
    check_schedule(1, 0, MILLISECOND);
    check_schedule(1, 1, MILLISECOND);
    check_schedule(4, 0, MILLISECOND);
    check_schedule(4, 2, MILLISECOND);
    check_schedule(4, 4, MILLISECOND);
    check_schedule(4, 10, MILLISECOND);
    check_schedule(4, 2, 300 * MILLISECOND);
    check_schedule(4, 10, 300 * MILLISECOND);
}

/* ---- AP-5 ---- */

/* Runs with results that take about 600 ms where 200 ms are allowed. */
static void check_misses(enum miss miss, nanos wait)
{
    struct hub_view view;
    struct lab *lab = lab_new(5);
    const struct trainer *trainer;

    lab->config.hub.every = 20;
    lab->config.hub.delay = 2;
    lab->config.hub.miss = miss;
    lab->config.hub.wait = wait;
    lab->config.link.latency = 150 * MILLISECOND;
    lab_open(lab, 5);
    lab_add(lab, "n1", &drifting);
    lab_run(lab, 30 * SECOND);
    trainer = world_trainer(lab->world, 0);
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    if (miss == MISS_WAIT && wait > SECOND)
        CHECK_EQUAL(0, trainer_missed(trainer));
    else
        CHECK(trainer_missed(trainer) >= 13);
    CHECK(trainer_missed(trainer) - view.nodes[0].missed <= 1);
    CHECK((trainer_waited(trainer) > 0) == (miss == MISS_WAIT));
    if (miss == MISS_WAIT && wait < SECOND)
        CHECK_EQUAL((nanos)trainer_missed(trainer) * wait,
                    trainer_waited(trainer));
    lab_destroy(&lab);
}

static void ap_05_misses_are_counted_by_policy(void)
{
    check_misses(MISS_LATE, SECOND);
    check_misses(MISS_SKIP, SECOND);
    check_misses(MISS_WAIT, 100 * MILLISECOND);
    check_misses(MISS_WAIT, 5 * SECOND);
}

/* ---- AP-8 ---- */

struct speech {
    unsigned to_hub, elsewhere, between;
};

static void listen(struct lab *lab, const struct world_step *step)
{
    struct speech *speech = lab->own;

    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind != EFFECT_SEND || step->process == WORLD_HUB)
            continue;
        if (step->trainer)
            speech->between += effect->peer != PEER_TRAINER;
        else if (effect->peer == PEER_CONTROL || effect->peer == PEER_BULK)
            speech->to_hub++;
        else
            speech->elsewhere += effect->peer != PEER_TRAINER;
    }
}

static void ap_08_a_node_speaks_to_the_hub_only(void)
{
    struct speech speech = {0, 0, 0};
    struct lab *lab = lab_new(5);

    lab->own = &speech;
    lab->after_step = listen;
    lab->config.hub.nodes = 3;
    lab_open(lab, 8);
    lab_add(lab, "n1", &drifting);
    lab_add(lab, "n2", &drifting);
    lab_add(lab, "n3", &drifting);
    lab_run_rounds(lab, 20);
    CHECK(speech.to_hub > 100);
    CHECK_EQUAL(0, speech.elsewhere);
    CHECK_EQUAL(0, speech.between);
    lab_destroy(&lab);
}

/* ---- AP-11 ---- */

struct scorer {
    unsigned count, rises;
    double best; /* of what the hub has published */
    uint64_t best_version;
};

/* Falls to 1 at once, then stays or is worse: the first 1 is the best. */
static void score(void *context, const float *theta, size_t elements,
                  double *loss, double *accuracy)
{
    struct scorer *scorer = ((struct lab *)context)->own;

    (void)theta;
    (void)elements;
    scorer->count++;
    *loss = scorer->count < 3 ? 3 : 1 + (double)(scorer->count % 3);
    *accuracy = -1;
}

static void watch_best(struct lab *lab, const struct world_step *step)
{
    struct scorer *scorer = lab->own;
    struct hub_view view;

    if (step->process != WORLD_HUB)
        return;
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    scorer->rises += view.best_score > scorer->best;
    if (view.best_score < scorer->best)
        scorer->best_version = view.best_version;
    scorer->best = view.best_score;
    CHECK(view.best_version == scorer->best_version ||
          view.best_score >= NO_SCORE);
}

static void ap_11_the_first_of_equals_stays_and_the_best_never_gets_worse(void)
{
    struct scorer scorer = {.best = NO_SCORE};
    struct hub_view view;
    struct lab *lab = lab_new(5);

    lab->own = &scorer;
    lab->after_step = watch_best;
    lab->config.hooks.evaluate = score;
    lab->config.hub.evaluate_interval = 200 * MILLISECOND;
    lab->config.hub.nodes = 2;
    lab_open(lab, 11);
    lab_add(lab, "n1", &drifting);
    lab_add(lab, "n2", &drifting);
    lab_run(lab, 20 * SECOND);
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    CHECK(scorer.count > 20);
    CHECK_EQUAL(0, scorer.rises);
    CHECK_NEAR(1, view.best_score, 0);
    CHECK_EQUAL(scorer.best_version, view.best_version);
    CHECK(view.best_version + 20 < view.version);
    CHECK(view.nodes[0].best && !view.nodes[1].best);
    lab_destroy(&lab);
}

/* ---- EF-3 ---- */

static void ef_03_a_push_each_iteration_a_pull_m_iterations_later(void)
{
    enum { PULL = 7 };
    struct schedule_watch watch = {.every = 1, .delay = PULL};
    struct model model = drifting;
    struct lab *lab = lab_new(5);

    model.look = watch_schedule;
    model.observer = &watch;
    lab->config.hub.delay = PULL;
    lab->config.hub.policy.gate = &gate_async;
    lab_open(lab, 33);
    lab_add(lab, "n1", &model);
    lab_run(lab, 20 * SECOND);
    CHECK_EQUAL(199, watch.offered[199]);
    CHECK(watch.applied > 180);
    CHECK_EQUAL(watch.applied, watch.punctual);
    lab_destroy(&lab);
}

/* The same tensors in another order are another model: nothing is matched by
 * its place alone. */
static void ef_03_parameters_are_matched_by_name(void)
{
    check_refused(two_tensors("one", 3, "two", 3),
                  two_tensors("two", 3, "one", 3), "two");
}

void add_sim_ancestors_tests(CU_pSuite suite)
{
    TEST(ap_01_a_wrong_schema_is_refused_naming_the_first_difference);
    TEST(ap_03_training_goes_on_at_full_rate_with_a_silent_hub);
    TEST(ap_04_a_result_is_never_applied_before_its_iteration);
    TEST(ap_05_misses_are_counted_by_policy);
    TEST(ap_08_a_node_speaks_to_the_hub_only);
    TEST(ap_11_the_first_of_equals_stays_and_the_best_never_gets_worse);
    TEST(ef_03_a_push_each_iteration_a_pull_m_iterations_later);
    TEST(ef_03_parameters_are_matched_by_name);
}
