/* Somebody's own training loop that takes part in a run: two calls in it.
 *
 *     cc -o embed examples/embed.c $(pkg-config --cflags --libs starswitch) -lm
 *     starswitch-hub --every 50 --time 10s --nodes 2 &
 *     ./embed 0 & ./embed 1
 *
 * It learns to tell two clouds of points apart, but sees only the cloud that
 * it is told: alone it cannot learn that, together two of them can. */
#include <math.h>
#include <starswitch.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 2000 };

static float w[3]; /* two weights, then the bias */

/* A point of cloud 0 or 1, 3 wide around (-1, -1) or (1, 1): how sure w is
 * that it is of cloud 1. */
static double guess(int cloud, double x[2])
{
    static uint64_t state = 1; /* Knuth's MMIX generator */

    for (int i = 0; i < 2; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = 3 * ((double)(state >> 11) / 9007199254740992.0 - 0.5) +
               (cloud ? 1 : -1);
    }
    return 1 / (1 + exp(-(w[0] * x[0] + w[1] * x[1] + w[2])));
}

/* One step of gradient descent on a batch of one cloud; its mean loss. */
static double train(int cloud)
{
    double loss = 0, sum[3] = {0}, x[2];

    for (int i = 0; i < BATCH; i++) {
        double p = guess(cloud, x);

        loss -= log(cloud ? p : 1 - p) / BATCH;
        for (int j = 0; j < 3; j++)
            sum[j] += (p - cloud) * (j < 2 ? x[j] : 1) / BATCH;
    }
    for (int j = 0; j < 3; j++)
        w[j] -= (float)(0.1 * (sum[j] + 0.01 * w[j]));
    return loss;
}

int main(int argc, char **argv)
{
    const int cloud = argc > 1 && argv[1][0] == '1';
    const struct star_tensor tensors[] = {
        STAR_TENSOR("weight", 1, w, NULL, 2),
        STAR_TENSOR("bias", 1, w + 2, NULL, 1)};
    struct star_progress progress = {
        .size = sizeof progress, .samples = BATCH, .accuracy = -1};
    struct star_link *link;
    struct star_state state = {.size = sizeof state};
    char error[256];
    double x[2];
    int right = 0;

    if (star_attach(NULL, tensors, 2, &link, error, sizeof error)) {
        (void)fprintf(stderr, "%s\n", error);
        return 1;
    }
    do
        progress.loss = train(cloud);
    while (star_step(link, &progress) == STAR_GO);
    star_look(link, &state);
    star_detach(&link);
    for (int i = 0; i < BATCH; i++)
        right += (guess(i % 2, x) > 0.5) == i % 2;
    (void)printf("%.1f %% of both clouds right after %llu iterations; "
                 "w = %.3f %.3f %.3f\n",
                 100.0 * right / BATCH, (unsigned long long)state.iteration,
                 (double)w[0], (double)w[1], (double)w[2]);
    return state.exit_code;
}
