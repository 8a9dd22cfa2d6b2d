/* starswitch-node: trains a model on this PC as part of a run. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <starswitch.h>

#include "core/prng.h"
#include "net/net.h"
#include "node/program/attach.h"
#include "node/program/auto.h"
#include "node/program/doctor.h"
#include "node/program/find.h"
#include "node/program/key.h"
#include "node/program/save.h"
#include "node/program/show.h"
#include "program/output.h"
#include "program/service.h"
#include "program/settings.h"
#include "train/matrix.h"
#include "train/trainer.h"

/* Enough to see progress, cheap enough to do every few seconds; and to be
 * within 0.01 of the best one's loss, if not to name it. */
enum { EVALUATED_SAMPLES = 1000, REVIEWED_SAMPLES = 512 };

static volatile sig_atomic_t asked_to_stop, asked_for_state;

static void ask_to_stop(int number)
{
    asked_to_stop = 1;
    (void)signal(number, SIG_DFL);
}

static void ask_for_state(int number)
{
    (void)number;
    asked_for_state = 1;
}

struct training {
    struct options options;
    struct trainer *trainer;
    struct star_link *link;
    struct node_show show;
    struct star_progress progress;
    struct star_state state;
    uint32_t shard, shards; /* of the trainer now; a task's are its part */
    struct star_task task;  /* parts 0: none, it trains on its shard */
    uint64_t task_left;     /* samples */
    nanos begun, evaluated;
    struct service service;
    bool ready; /* it has trained */
};

static int complain(enum status status, const struct why *why)
{
    return output_fail("starswitch-node", status, why);
}

/* Without a name, first parameters are others each time. */
static uint64_t own_seed(const struct options *options)
{
    if (options->name[0])
        return trainer_seed_of(options->seed, options->name);
    return prng_mix(prng_mix(options->seed) ^ (uint64_t)getpid());
}

static enum status open_trainer(struct training *training, struct why *why)
{
    struct trainer_choice choice = trainer_choose(&training->options);

    choice.seed = own_seed(&training->options);
    if (!choice.model && !choice.plugin)
        return because(why, STATUS_USAGE,
                       "what is to be trained? Give --model mlp:784-128-10 "
                       "(or cnn, lm, gpt) and --data, or --trainer FILE.so; "
                       "--help says more");
    return trainer_open(&choice, &training->trainer, why);
}

/* Takes a merged gradient to the optimizer, once it is all there. */
static void take_gradient(void *context, const float *gradient, size_t first,
                          size_t count)
{
    struct training *training = context;
    struct star_trainer_model *model = &training->trainer->model;
    struct why why;

    memcpy(model->gradients + first, gradient, count * sizeof *gradient);
    if (first + count == model->elements)
        (void)!trainer_step(training->trainer, &why);
}

static void begin_anew(void *context, int reset)
{
    struct training *training = context;

    if (reset)
        trainer_reset_optimizer(training->trainer);
}

/* Evaluates parameters of another node. */
static int review(void *context, const float *values, double *loss,
                  double *error)
{
    struct training *training = context;
    struct star_evaluation result;
    struct why why;

    if (trainer_evaluate(training->trainer, values, REVIEWED_SAMPLES, &result,
                         &why) != STATUS_OK)
        return -1;
    *loss = result.loss;
    *error =
        result.samples ? result.deviation / sqrt((double)result.samples) : 0;
    return 0;
}

static void take_note(void *context, enum star_level level, const char *event,
                      const char *sentence)
{
    struct training *training = context;

    node_show_note(&training->show, level, event, sentence);
}

static int hurry(void *context)
{
    (void)context;
    return asked_to_stop;
}

static enum status attach(struct training *training, struct why *why)
{
    const struct options *options = &training->options;
    const struct star_trainer_model *model = &training->trainer->model;
    char hub[ENDPOINTS_TEXT_BYTES];
    struct text text;
    struct star_options link = {.size = sizeof link,
                                .hub = hub,
                                .name = options->name,
                                .log = take_note,
                                .step = take_gradient,
                                .replaced = begin_anew,
                                .hurry = hurry,
                                .up = options->up,
                                .down = options->down,
                                .cores = options->cores_node,
                                .record = options->record,
                                .key = options->key,
                                .identity = options->identity,
                                .context = training};
    enum status status;

    if (model->held_out_samples)
        link.evaluate = review;
    if (options->key[0])
        service_hide();
    text_init(&text, hub, sizeof hub);
    endpoints_print(&options->hubs, &text);
    status =
        main_attach(&link, &training->trainer->model, &training->link, why);
    explicit_bzero(training->options.key, sizeof training->options.key);
    return status;
}

static enum status set_shard(struct training *training, uint32_t shard,
                             uint32_t shards, struct why *why)
{
    if (!shards || (shard == training->shard && shards == training->shards))
        return STATUS_OK;
    training->shard = shard;
    training->shards = shards;
    return trainer_set_shard(training->trainer, shard, shards, why);
}

/* Follows the hub's word on which part of the data is ours: a task, or, while
 * there is none, our shard. */
static enum status follow_hub(struct training *training, struct why *why)
{
    const struct star_state *state = &training->state;
    struct star_task *task = &training->task;
    uint64_t samples = training->trainer->model.training_samples;

    if (task->parts)
        return STATUS_OK;
    if (star_task_next(training->link, task) != STAR_TASK)
        return set_shard(training, state->shard, state->shards, why);
    training->task_left =
        samples / task->parts + (task->part < samples % task->parts);
    return set_shard(training, task->part, task->parts, why);
}

/* Counts an iteration's samples towards the task. */
static void count_samples(struct training *training)
{
    uint64_t samples = training->progress.samples;

    if (!training->task.parts)
        return;
    training->task_left -=
        samples < training->task_left ? samples : training->task_left;
    if (training->task_left)
        return;
    star_task_done(training->link, training->task.id, 1);
    training->task.parts = 0;
}

static enum status evaluate(struct training *training, struct why *why)
{
    struct star_evaluation result;
    nanos now = net_now();
    enum status status;

    if (!training->trainer->model.held_out_samples ||
        now - training->evaluated < training->options.evaluate)
        return STATUS_OK;
    status = trainer_evaluate(training->trainer, NULL, EVALUATED_SAMPLES,
                              &result, why);
    training->evaluated = net_now();
    if (status == STATUS_OK)
        training->progress.accuracy = result.accuracy;
    return status;
}

/* Sleeps away what is left of the step's least time. */
static void pace(struct training *training, nanos begin)
{
    nanos until = begin + training->options.step_time;
    struct timespec time = {until / SECOND, until % SECOND};

    if (!training->options.step_time)
        return;
    if (net_now() >= until)
        training->show.overruns++;
    else
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) &&
               !asked_to_stop)
            continue;
}

/* What the service manager and the user ask for. */
static void tell(struct training *training, nanos now)
{
    const struct star_state *state = &training->state;
    struct service *service = &training->service;
    char line[sizeof state->text + 80];

    service_alive(service, now);
    if (service_wants_status(service, now)) {
        (void)snprintf(line, sizeof line, "iteration %llu, %.1f/s; %s",
                       (unsigned long long)state->iteration,
                       training->show.rate, state->text);
        service_say(line);
    }
    if (!asked_for_state)
        return;
    asked_for_state = 0;
    node_show_state(&training->show, &training->progress, state);
}

static double seconds_since(nanos begin)
{
    return (double)(net_now() - begin) / (double)SECOND;
}

static enum status step(struct training *training, struct why *why)
{
    nanos begin = net_now();
    enum status status = trainer_step(training->trainer, why);

    training->progress.optimizer = seconds_since(begin);
    return status;
}

/* One iteration; *advice says whether to go on. */
static enum status iterate(struct training *training, enum star_advice *advice,
                           struct why *why)
{
    struct star_progress *progress = &training->progress;
    nanos begin = net_now(), worked;
    enum status status = trainer_gradient(training->trainer, &progress->loss,
                                          &progress->samples, why);

    progress->optimizer = 0;
    if (status == STATUS_OK && !star_wants_gradient(training->link))
        status = step(training, why);
    if (status == STATUS_OK)
        status = evaluate(training, why);
    if (status != STATUS_OK)
        return status;
    worked = net_now();
    pace(training, begin);
    progress->idle = seconds_since(worked);
    count_samples(training);
    *advice = star_step(training->link, progress);
    star_look(training->link, &training->state);
    node_show_step(&training->show, net_now(), progress, &training->state);
    tell(training, net_now());
    return follow_hub(training, why);
}

static bool is_done(const struct training *training)
{
    const struct options *options = &training->options;

    return asked_to_stop ||
           (options->iterations &&
            training->state.iteration >= options->iterations) ||
           (options->time && net_now() - training->begun >= options->time);
}

static int train(struct training *training, struct why *why)
{
    enum star_advice advice = STAR_GO;
    enum status status = STATUS_OK;
    int code;

    /* After one step there is nothing to evaluate, and it might stand long. */
    training->begun = training->evaluated = net_now();
    training->state.size = sizeof training->state;
    training->task.size = sizeof training->task;
    training->progress.size = sizeof training->progress;
    training->progress.accuracy = -1;
    while (status == STATUS_OK && advice == STAR_GO && !is_done(training)) {
        status = iterate(training, &advice, why);
        if (status == STATUS_OK && !training->ready)
            service_ready();
        training->ready = true;
    }
    service_stopping(&training->service, net_now());
    star_look(training->link, &training->state);
    star_detach(&training->link);
    code = advice == STAR_REFUSED ? training->state.exit_code : 0;
    if (advice == STAR_REFUSED)
        node_show_refusal(training->state.text);
    node_show_end(&training->show, net_now() - training->begun,
                  &training->state, training->trainer);
    if (status == STATUS_OK)
        status = node_save(training->trainer, &training->options,
                           &training->state, why);
    if (status != STATUS_OK && !code)
        return complain(status, why);
    if (status != STATUS_OK)
        (void)complain(status, why);
    return code;
}

static enum status dry_run(struct training *training, struct why *why)
{
    struct star_progress nothing;
    enum status status = main_key_check(&training->options, why);

    if (status == STATUS_OK)
        status = trainer_gradient(training->trainer, &nothing.loss,
                                  &nothing.samples, why);
    if (status == STATUS_OK)
        node_show_plan(training->trainer, &training->options, nothing.loss);
    return status;
}

static enum status begin(struct training *training, struct why *why)
{
    enum status status = main_find_hub(&training->options, why);

    if (status != STATUS_OK)
        return status;
    node_show_begin(&training->show, &training->options, training->trainer);
    status = node_may_save(&training->options, why);
    return status == STATUS_OK ? attach(training, why) : status;
}

static int run(struct training *training)
{
    struct why why = {""};
    enum status status = main_key_read(&training->options, &why);
    int code = 0;

    if (status == STATUS_OK)
        status = open_trainer(training, &why);
    if (status == STATUS_OK)
        status = training->options.dry_run ? dry_run(training, &why)
                                           : begin(training, &why);
    if (status != STATUS_OK)
        code = complain(status, &why);
    else if (training->link)
        code = train(training, &why);
    trainer_close(&training->trainer);
    return code;
}

/* Also without the hub's address: here, or where one announces itself. */
static int doctor(int count, char **words)
{
    static struct options options;
    struct why why = {""};
    enum status status =
        settings_read(&options, PROGRAM_NODE, count, words, &why);

    if (status == STATUS_OK && options.help)
        return 0;
    if (status == STATUS_OK)
        status = main_key_read(&options, &why);
    if (status == STATUS_OK)
        status = main_find_hub(&options, &why);
    return status == STATUS_OK ? doctor_run(&options) : complain(status, &why);
}

int main(int argc, char **argv)
{
    static struct training training;
    struct sigaction action = {.sa_handler = ask_to_stop}, before;
    struct why why = {""};
    enum status status;

    if (argc > 1 && strcmp(argv[1], "auto") == 0)
        return output_end("starswitch-node", auto_run(argc - 1, argv + 1));
    matrix_use_processor(argv);
    service_keep_memory();
    service_begin(&training.service);
    if (argc > 1 && strcmp(argv[1], "doctor") == 0)
        return output_end("starswitch-node", doctor(argc - 1, argv + 1));
    status = settings_read(&training.options, PROGRAM_NODE, argc, argv, &why);
    if (status != STATUS_OK)
        return complain(status, &why);
    if (training.options.version)
        (void)printf("starswitch-node %s\n", STAR_VERSION);
    if (training.options.help || training.options.version)
        return output_end("starswitch-node", 0);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
        (void)sigaction(SIGHUP, &action, NULL); /* not under nohup */
    action.sa_handler = ask_for_state;
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGUSR1, &action, NULL);
    return run(&training);
}
