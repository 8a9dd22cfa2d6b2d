/* The estimate of the time that is left, of curves of many forms: those of the
 * fit and others, with goals above and below where they level off. */
#include "hub/eta.h"

#include <math.h>

#include "core/prng.h"
#include "tests/check.h"

enum { SEEDS = 2, GOALS = 4, LONG = 20000, LONG_IN_VAIN = 1000 };

enum kind { POWER, EXPONENTIAL, TWO_EXPONENTIALS, MIXED, TWO_PHASES };

/* floor + height * a power -p of the time, or e to the -t/p; noise that hangs
 * together from second to second by rho. */
struct family {
    const char *name;
    enum kind kind;
    double height, floor, p, noise, rho;
};

static const struct family families[] = {
    {"power 0.2 to 0", POWER, 3, 0, 0.2, 0.02, 0},
    {"power 0.4 to 0", POWER, 5, 0, 0.4, 0.03, 0},
    {"power 0.2", POWER, 3, 0.3, 0.2, 0.01, 0},
    {"power 0.4", POWER, 5, 0.3, 0.4, 0.01, 0},
    {"power 0.7", POWER, 5, 0.3, 0.7, 0.02, 0},
    {"power 1", POWER, 20, 0.3, 1, 0.02, 0},
    {"power 0.5, noise that lasts", POWER, 5, 0.3, 0.5, 0.02, 0.8},
    {"exponential to 0", EXPONENTIAL, 3, 0, 100, 0.02, 0},
    {"exponential", EXPONENTIAL, 3, 0.3, 100, 0.02, 0},
    {"exponential, slow", EXPONENTIAL, 2, 0.3, 500, 0.01, 0},
    {"exponential, noise that lasts", EXPONENTIAL, 3, 0.3, 200, 0.02, 0.8},
    {"two exponentials", TWO_EXPONENTIALS, 3, 0.3, 300, 0.02, 0},
    {"two exponentials, little noise", TWO_EXPONENTIALS, 3, 0.3, 300, 0.005, 0},
    {"exponential and power", MIXED, 3, 0.2, 0.4, 0.01, 0},
    {"two phases", TWO_PHASES, 5, 0.1, 100, 0.02, 0},
};

/* At a time: without noise. */
static double falls(const struct family *of, double t)
{
    double p = of->p;

    switch (of->kind) {
    case POWER:
        return pow(t, -p);
    case EXPONENTIAL:
        return exp(-t / p);
    case TWO_EXPONENTIALS:
        return 0.7 * exp(-5 * t / p) + 0.3 * exp(-t / p);
    case MIXED:
        return 0.6 * exp(-t / 20) + 0.4 * pow(1 + t / 20, -p);
    case TWO_PHASES:
        return t < p ? pow(t, -0.3) : pow(p, -0.3) * pow(t / p, -0.8);
    }
    return 0;
}

/* Of a family, or all. `vain`: of goals that are never met. */
struct sum {
    unsigned asked, known, within, vain, vain_known, runs, flips;
};

struct asked {
    struct eta_left left;
    double at;
};

enum { MOST_ASKED = 64 };

static void count(struct sum *sum, const struct asked *list, unsigned length,
                  double end)
{
    for (unsigned i = 0; i < length; i++) {
        double off = fabs(list[i].left.seconds - (end - list[i].at));

        sum->vain += end <= 0;
        sum->vain_known += end <= 0 && list[i].left.known;
        sum->asked += end > 0;
        sum->known += end > 0 && list[i].left.known;
        /* Scores come once a second. */
        sum->within += end > 0 && list[i].left.known &&
                       off <= 2 * list[i].left.spread + 0.5;
    }
}

/* One run, asked each time that it is a quarter older; not in the first of two
 * phases, which says nothing of the second. */
static void learn(const struct family *of, double goal, uint64_t seed,
                  struct sum *sum)
{
    double t = 0, loss = INFINITY, noise = 0, next = 20;
    double longest = goal < of->floor ? LONG_IN_VAIN : LONG;
    struct asked list[MOST_ASKED];
    struct eta_track track = {0};
    struct eta_answer answer = {.unlike = 0};
    unsigned length = 0;
    struct prng prng;

    prng_seed(&prng, seed);
    while (loss > goal && t < longest) {
        nanos now = (nanos)(++t * (double)SECOND);

        noise =
            of->rho * noise + sqrt(1 - of->rho * of->rho) * prng_normal(&prng);
        loss = (of->floor + of->height * falls(of, t)) * exp(of->noise * noise);
        if (eta_note_score(&track, now, loss) && loss > goal) {
            bool known = answer.left.known;

            eta_settle(&answer, now, eta_of_score(&track, 0, now, goal));
            sum->flips += answer.left.known != known;
        }
        if (t < next || loss <= goal ||
            (of->kind == TWO_PHASES && t < 1.5 * of->p))
            continue;
        next *= 1.25;
        list[length++] = (struct asked){eta_answer_now(&answer, now), t};
    }
    sum->runs++;
    count(sum, list, length, loss <= goal ? t : 0);
}

/* Goals at shares of the way from the third second to the floor; and below it.
 */
static struct sum try(const struct family *of)
{
    static const double shares[GOALS] = {0.02, 0.05, 0.15, 0.4};
    struct sum sum = {0};

    for (unsigned i = 0; i < GOALS; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            learn(of, of->floor + of->height * falls(of, 3) * shares[i], seed,
                  &sum);
            if (of->floor > 0)
                learn(of, of->floor * (0.97 - 0.1 * i), seed, &sum);
        }
    return sum;
}

static void the_spread_covers_the_truth_whatever_the_form(void)
{
    size_t count = runs_slowly() ? 1 : sizeof families / sizeof *families;
    struct sum all = {0};

    for (size_t i = 0; i < count; i++) {
        struct sum sum = try(&families[i]);

        if (!CHECK(100 * sum.within >= 90 * sum.known))
            CHECK_TEXT("covers", families[i].name);
        if (!CHECK(100 * sum.vain_known <= 15 * sum.vain))
            CHECK_TEXT("not known", families[i].name);
        all.asked += sum.asked;
        all.known += sum.known;
        all.within += sum.within;
        all.vain += sum.vain;
        all.vain_known += sum.vain_known;
        all.runs += sum.runs;
        all.flips += sum.flips;
    }
    CHECK(100 * all.within >= 92 * all.known);
    CHECK(100 * all.known >= 20 * all.asked); /* saying nothing is no way out */
    CHECK(100 * all.vain_known <= 10 * all.vain);
    CHECK(all.flips <= 2 * all.runs);
}

/* One that is unlike the others changes nothing. */
static void an_answer_does_not_come_and_go(void)
{
    const struct eta_left known = {true, 100, 5}, unknown = {false, 0, 0};
    struct eta_answer answer = {.unlike = 0};

    for (unsigned i = 0; i < 40; i++) {
        eta_settle(&answer, i * SECOND, i % 2 ? known : unknown);
        CHECK(!answer.left.known);
    }
    for (unsigned i = 0; i < ETA_SURE; i++)
        eta_settle(&answer, 40 * SECOND, known);
    CHECK_NEAR(90, eta_answer_now(&answer, 50 * SECOND).seconds, 1e-9);
    for (unsigned i = 0; i < 40; i++) {
        eta_settle(&answer, 40 * SECOND, i % 2 ? known : unknown);
        CHECK(answer.left.known);
    }
    for (unsigned i = 0; i < ETA_UNSURE; i++)
        eta_settle(&answer, 50 * SECOND, unknown);
    CHECK(!eta_answer_now(&answer, 50 * SECOND).known);
}

void add_hub_eta_curves_tests(CU_pSuite suite)
{
    TEST(the_spread_covers_the_truth_whatever_the_form);
    TEST(an_answer_does_not_come_and_go);
}
