/* What a tuner sees of a star. */
#include <math.h>
#include <string.h>

#include "sim/study/tune.h"
#include "sim/trace/trace.h"
#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

static struct options star_of(uint64_t nodes, nanos step)
{
    struct options options;

    options_defaults(&options);
    options.star_nodes = nodes;
    options.step_time = step;
    return options;
}

static void a_trace_counts_with_the_slowest_link_of_half_of_the_times(void)
{
    const struct options options = star_of(2, 200 * MILLISECOND);
    struct trace *trace = trace_of("starswitch-trace 1\n"
                                   "span 4s\n"
                                   "0s * delay 2ms\n"
                                   "0s * jitter 2ms\n"
                                   "0s hub up 20MB\n"
                                   "2s hub up 40MB\n"
                                   "0s n1 up 9MB\n"
                                   "1s n1 up 3MB\n"
                                   "2s n1 up 5MB\n"
                                   "3s n1 up 9MB\n"
                                   "0s n2 down 7MB\n"
                                   "0s n2 step 100ms\n"
                                   "end\n");
    struct plan_star star;

    if (!trace)
        return;
    tune_star(&options, trace, NULL, 0, &star);
    CHECK_NEAR(30e6, star.port, 1);
    CHECK_NEAR(7e6, star.link, 1); /* of 7, 3, 5, 7 */
    CHECK_NEAR(0.003, star.latency, 1e-9);
    CHECK_NEAR(0.2, star.slowest, 1e-9);
    CHECK_NEAR(0.1, star.fastest, 1e-9);
    CHECK_NEAR(2 / 15.0, star.step, 1e-9);
    trace_destroy(&trace);
}

static void speeds_repeat_and_no_limit_is_none(void)
{
    static const double speeds[] = {1, 0.5};
    struct options options = star_of(4, 100 * MILLISECOND);
    struct plan_star star;

    options.rate = options.port = 0;
    options.packet_loss = 0.01;
    tune_star(&options, NULL, speeds, 2, &star);
    CHECK_NEAR(0.2, star.slowest, 1e-9);
    CHECK_NEAR(2 / 15.0, star.step, 1e-9);
    CHECK(isinf(star.port));
    CHECK_NEAR(1.22 * 1448 / (2 * 200e-6 * 0.1), star.link, 1);
}

void add_sim_study_tune_star_tests(CU_pSuite suite)
{
    TEST(a_trace_counts_with_the_slowest_link_of_half_of_the_times);
    TEST(speeds_repeat_and_no_limit_is_none);
}
