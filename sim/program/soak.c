/* starswitch-sim soak: many seeded lives, and the story of what fails. */
#include <stdlib.h>
#include <string.h>

#include "core/quote.h"
#include "core/text.h"
#include "net/net.h"
#include "sim/program/program.h"
#include "sim/program/run.h"
#include "sim/study/process_pool.h"
#include "sim/study/soak_shrink.h"
#include "store/file.h"

/* A batch is lived in one process; after STRETCH of them it is said how far it
 * is. */
enum { BATCH = 10, STRETCH = 100, STRETCH_SEEDS = STRETCH * BATCH };
enum { SEEDS = 200, STORIES = 3, LONGEST_STORY = 1 << 20 };

/* What a batch of seeds came to. */
struct batch {
    struct soak_life sum; /* its complaint is not used */
    unsigned lived, failed;
    struct failure {
        uint64_t seed;
        char complaint[SOAK_COMPLAINT_BYTES];
    } failures[BATCH];
};

struct soaking {
    struct options options;
    uint64_t seeds, lived;         /* so many of the first ones */
    struct batch all;              /* its failures: the first ones */
    struct batch stretch[STRETCH]; /* the batches behind those */
    double began;
};

static double seconds(void)
{
    return (double)net_now() / (double)SECOND;
}

static void add_failure(struct batch *batch, uint64_t seed,
                        const char *complaint)
{
    if (batch->failed < BATCH) {
        struct failure *failure = &batch->failures[batch->failed];

        failure->seed = seed;
        (void)snprintf(failure->complaint, sizeof failure->complaint, "%s",
                       complaint);
    }
    batch->failed++;
}

static void add_life(struct batch *batch, uint64_t seed,
                     const struct soak_life *life)
{
    struct soak_life *sum = &batch->sum;

    batch->lived++;
    sum->steps += life->steps;
    sum->late += life->late;
    sum->twice += life->twice;
    sum->lies += life->lies;
    sum->merged += life->merged;
    sum->recovered += life->recovered;
    sum->time += life->time;
    for (unsigned i = 0; i < SCRIPT_VERBS; i++)
        sum->verbs[i] += life->verbs[i];
    if (life->complaint[0])
        add_failure(batch, seed, life->complaint);
}

/* ---- many seeds ---- */

/* The seeds of a batch of the stretch: the last one may have fewer. */
static uint64_t first_of(const struct soaking *soaking, unsigned batch)
{
    return soaking->options.seed + soaking->lived + (uint64_t)batch * BATCH;
}

static unsigned size_of(const struct soaking *soaking, unsigned batch)
{
    uint64_t left = soaking->seeds - soaking->lived - (uint64_t)batch * BATCH;

    return left < BATCH ? (unsigned)left : BATCH;
}

static void run_batch(void *of, unsigned number, void *result)
{
    const struct soaking *soaking = of;

    for (unsigned i = 0; i < size_of(soaking, number); i++) {
        uint64_t seed = first_of(soaking, number) + i;
        struct soak_plan *plan = soak_draw(seed);
        struct soak_life life;

        soak_live_twice(plan, &life);
        add_life(result, seed, &life);
        soak_plan_destroy(&plan);
    }
}

/* One seed after the other, each in a process of its own: some of them ended
 * the batch's. False: interrupted, and the batch is not lived. */
static bool try_batch(struct soaking *soaking, unsigned number)
{
    bool whole = true;

    for (unsigned i = 0; whole && i < size_of(soaking, number); i++) {
        uint64_t seed = first_of(soaking, number) + i;
        struct soak_plan *plan = soak_draw(seed);
        struct soak_life life;

        whole = soak_try(plan, NULL, &life);
        if (whole)
            add_life(&soaking->stretch[number], seed, &life);
        soak_plan_destroy(&plan);
    }
    if (!whole)
        soaking->stretch[number] = (struct batch){0};
    return whole;
}

static void add_batch(struct batch *all, const struct batch *batch)
{
    add_life(all, 0, &batch->sum);
    all->lived += batch->lived - 1;
    for (unsigned i = 0; i < batch->failed; i++)
        add_failure(all, batch->failures[i].seed, batch->failures[i].complaint);
}

/* False: interrupted; those that were begun are lived. */
static bool soak_stretch(struct soaking *soaking)
{
    uint64_t left = (soaking->seeds - soaking->lived + BATCH - 1) / BATCH;
    unsigned count = left < STRETCH ? (unsigned)left : STRETCH;
    struct process_pool pool = {
        .count = count,
        .workers = (unsigned)soaking->options.workers,
        .size = sizeof(struct batch),
        .of = soaking,
        .run = run_batch,
        .noun = soaking->seeds > STRETCH_SEEDS ? NULL : "batches of 10 seeds"};
    bool whole = process_pool_run(&pool, soaking->stretch);
    uint64_t lived = 0;

    for (unsigned i = 0; i < count; i++) {
        if (whole && !soaking->stretch[i].lived)
            whole = try_batch(soaking, i);
        if (!soaking->stretch[i].lived)
            break;
        add_batch(&soaking->all, &soaking->stretch[i]);
        lived += soaking->stretch[i].lived;
    }
    soaking->lived += lived;
    return whole || soaking->lived == soaking->seeds;
}

/* Where to go on, as options. */
static void add_rest(const struct soaking *soaking, struct text *out)
{
    uint64_t first = soaking->options.seed + soaking->lived;
    uint64_t left = soaking->seeds - soaking->lived;

    text_add(out, "--seed %llu --seeds %llu", (unsigned long long)first,
             (unsigned long long)left);
}

static void say_how_far(const struct soaking *soaking)
{
    double spent = seconds() - soaking->began;
    double rest = (double)(soaking->seeds - soaking->lived);
    char bytes[80];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    add_rest(soaking, &text);
    (void)fprintf(stderr,
                  "%llu of %llu seeds in %.0f s, about %.0f s to go, "
                  "violations: %u; the rest: %s\n",
                  (unsigned long long)soaking->lived,
                  (unsigned long long)soaking->seeds, spent,
                  spent / (double)soaking->lived * rest, soaking->all.failed,
                  bytes);
    for (unsigned i = 0; i < soaking->all.failed && i < BATCH; i++)
        (void)fprintf(stderr, "  seed %llu: %s\n",
                      (unsigned long long)soaking->all.failures[i].seed,
                      soaking->all.failures[i].complaint);
}

/* False: interrupted. */
static bool soak_all(struct soaking *soaking)
{
    while (soak_stretch(soaking)) {
        if (soaking->lived == soaking->seeds)
            return true;
        say_how_far(soaking);
    }
    return false;
}

/* ---- what is said ---- */

/* The story of a failing seed, as short as it gets; the caller's. */
static char *story_of(const struct failure *failure)
{
    struct soak_plan *plan = soak_draw(failure->seed);
    struct soak_plan *best = soak_shrink(plan, NULL, failure->complaint);
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);

    if (!out)
        abort();
    soak_tell(best, failure->complaint, out);
    (void)fclose(out);
    soak_plan_destroy(&plan);
    soak_plan_destroy(&best);
    return bytes;
}

static unsigned stories_of(const struct batch *all)
{
    return all->failed < STORIES ? all->failed : STORIES;
}

static const char *const script_verb_words[SCRIPT_VERBS] = {
#define SCRIPT_VERB(NAME, word, of_hub, function, what) word,
#include "sim/study/script.def"
#undef SCRIPT_VERB
};

static void print_words(const struct soaking *soaking)
{
    const struct batch *all = &soaking->all;
    const struct soak_life *sum = &all->sum;

    (void)printf(
        "%u seed%s from %llu on, each twice, in %.0f s: %.1f virtual "
        "days, %llu steps, %llu chunks merged, %llu centres "
        "recovered from nodes\nacts:",
        all->lived, plural(all->lived),
        (unsigned long long)soaking->options.seed, seconds() - soaking->began,
        (double)sum->time / (86400 * (double)SECOND),
        (unsigned long long)sum->steps, (unsigned long long)sum->merged,
        (unsigned long long)sum->recovered);
    for (unsigned i = 0; i < SCRIPT_VERBS; i++)
        (void)printf(" %s %llu", script_verb_words[i],
                     (unsigned long long)sum->verbs[i]);
    (void)printf("\nmessages: late %llu, twice %llu, lies %llu\n"
                 "violations: %u\n",
                 (unsigned long long)sum->late, (unsigned long long)sum->twice,
                 (unsigned long long)sum->lies, all->failed);
    for (unsigned i = 0; i < all->failed && i < BATCH; i++)
        (void)printf("  seed %llu: %s\n",
                     (unsigned long long)all->failures[i].seed,
                     all->failures[i].complaint);
    for (unsigned i = 0; i < stories_of(all); i++) {
        char *story = story_of(&all->failures[i]);

        (void)printf("\nSeed %llu, shortened. To live it again, write it to a "
                     "file:\nstarswitch-sim soak --scenario FILE\n\n%s",
                     (unsigned long long)all->failures[i].seed, story);
        (void)fflush(stdout);
        free(story);
    }
}

static void print_string(const char *words)
{
    static char bytes[65536];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    quote_json(&text, words);
    (void)fputs(bytes, stdout);
}

static void print_json(const struct soaking *soaking)
{
    const struct batch *all = &soaking->all;
    const struct soak_life *sum = &all->sum;

    (void)printf("{\"seeds\":%u,\"first\":%llu,\"virtual_seconds\":%.0f,"
                 "\"steps\":%llu,\"merged\":%llu,\"acts\":{",
                 all->lived, (unsigned long long)soaking->options.seed,
                 (double)sum->time / (double)SECOND,
                 (unsigned long long)sum->steps,
                 (unsigned long long)sum->merged);
    for (unsigned i = 0; i < SCRIPT_VERBS; i++)
        (void)printf("%s\"%s\":%llu", i ? "," : "", script_verb_words[i],
                     (unsigned long long)sum->verbs[i]);
    (void)printf("},\"late\":%llu,\"twice\":%llu,\"lies\":%llu,"
                 "\"violations\":%u,\"failing\":[",
                 (unsigned long long)sum->late, (unsigned long long)sum->twice,
                 (unsigned long long)sum->lies, all->failed);
    for (unsigned i = 0; i < all->failed && i < BATCH; i++) {
        char *story = i < STORIES ? story_of(&all->failures[i]) : NULL;

        (void)printf("%s{\"seed\":%llu,\"complaint\":", i ? "," : "",
                     (unsigned long long)all->failures[i].seed);
        print_string(all->failures[i].complaint);
        (void)printf(",\"story\":");
        print_string(story ? story : "");
        (void)printf("}");
        free(story);
    }
    (void)printf("]}\n");
}

/* ---- one story ---- */

static void print_line(void *of, const char *line)
{
    (void)fprintf(of, "%s\n", line);
}

/* False: not all of it could be written. */
static bool end_record(FILE *file)
{
    bool whole = !ferror(file);

    return fclose(file) == 0 && whole;
}

/* Lives the plan of a file. Its transcript goes to --record. */
static enum status tell_story(const struct options *options, struct why *why)
{
    const char *record = options->record;
    struct soak_watcher watcher = {.line = print_line};
    struct soak_plan *plan = NULL;
    struct soak_life life;
    char *text = NULL;
    size_t size = 0;
    bool recorded;
    struct why reason;
    enum status status =
        file_read(options->scenario, LONGEST_STORY, &text, &size, why);

    if (status != STATUS_OK)
        return status;
    status = soak_plan_parse(text, size, &plan, &reason);
    free(text);
    if (status != STATUS_OK)
        return because(why, status, "%s: %.240s", options->scenario,
                       reason.text);
    watcher.of = *record ? fopen(record, "w") : NULL;
    if (*record && !watcher.of) {
        soak_plan_destroy(&plan);
        return because(why, STATUS_IO, "--record %s cannot be written", record);
    }
    soak_live(plan, watcher.of ? &watcher : NULL, &life);
    recorded = !watcher.of || end_record(watcher.of);
    soak_plan_destroy(&plan);
    if (life.complaint[0])
        return because(why, STATUS_BUG, "%s", life.complaint);
    if (!recorded)
        return because(why, STATUS_IO, "--record %s cannot be written", record);
    (void)printf("nothing is wrong with it, after %.1f virtual seconds\n",
                 (double)life.time / (double)SECOND);
    return STATUS_OK;
}

static enum status soak_seeds(struct soaking *soaking, struct why *why)
{
    char rest[80];
    struct text text;
    bool whole;

    soaking->seeds =
        soaking->options.given.seeds ? soaking->options.seeds : SEEDS;
    soaking->began = seconds();
    whole = soak_all(soaking);
    if (soaking->options.json)
        print_json(soaking);
    else
        print_words(soaking);
    if (soaking->all.failed)
        return because(why, STATUS_BUG,
                       "promises were broken: keep the stories, and report "
                       "them");
    text_init(&text, rest, sizeof rest);
    add_rest(soaking, &text);
    return whole ? STATUS_OK
                 : because(why, STATUS_AGAIN,
                           "interrupted; what is said is of the seeds so far. "
                           "For the others give %s",
                           rest);
}

int sim_soak(int count, char **words)
{
    static struct soaking soaking;
    struct why why = {""};
    enum status status;
    int code;

    if (!run_options(count, words, &soaking.options, &code))
        return code;
    status = soaking.options.scenario[0] ? tell_story(&soaking.options, &why)
                                         : soak_seeds(&soaking, &why);
    return status == STATUS_OK ? 0 : run_fail(status, &why);
}
