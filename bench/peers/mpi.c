/* The peer that needs no hub: MPI_Allreduce of float32 sums, in place. For
 * mpicc; prints one line of JSON as the programs of bench/ do.
 *
 *     mpirun -n 4 peer-mpi NAME MEGABYTES ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 1000, WARM_UP = 2 };

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    static double took[MOST_ROUNDS];
    int rank, nodes, megabytes, rounds, count;
    float *values;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &nodes);
    megabytes = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 64;
    rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 5;
    if (megabytes < 1 || megabytes > 4096 || rounds < 1 || rounds > MOST_ROUNDS)
        (void)MPI_Abort(MPI_COMM_WORLD, 64);
    count = megabytes * (1 << 18);
    values = malloc((size_t)count * sizeof *values);
    if (!values)
        (void)MPI_Abort(MPI_COMM_WORLD, 70);
    memset(values, 0, (size_t)count * sizeof *values);
    for (int i = 0; i < rounds + WARM_UP; i++) {
        double began;

        (void)MPI_Barrier(MPI_COMM_WORLD);
        began = MPI_Wtime();
        (void)MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM,
                            MPI_COMM_WORLD);
        (void)MPI_Barrier(MPI_COMM_WORLD);
        if (i >= WARM_UP)
            took[i - WARM_UP] = MPI_Wtime() - began;
    }
    qsort(took, (size_t)rounds, sizeof *took, by_size);
    if (rank == 0)
        (void)printf("{\"bench\":\"peer\",\"peer\":\"%s\",\"nodes\":%d,"
                     "\"megabytes\":%d,\"rounds\":%d,\"ms\":%.1f}\n",
                     argc > 1 ? argv[1] : "MPI", nodes, megabytes, rounds,
                     1e3 * took[rounds / 2]);
    free(values);
    (void)MPI_Finalize();
    return 0;
}
