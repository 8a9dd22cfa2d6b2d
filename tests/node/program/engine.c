/* What engines set, and what it means. */
#include "node/program/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

/* Sets "NAME=value NAME=value", finds, and takes them away again. */
static enum status find(const char *variables, struct engine_place *place,
                        struct why *why)
{
    char text[400], *rest = text, *word;
    char *names[16];
    unsigned count = 0;
    enum status status;

    (void)snprintf(text, sizeof text, "%s", variables);
    while ((word = strtok_r(rest, " ", &rest)) && count < 16) {
        char *equals = strchr(word, '=');

        *equals = '\0';
        (void)setenv(word, equals + 1, 1);
        names[count++] = word;
    }
    status = engine_find(place, why);
    while (count)
        (void)unsetenv(names[--count]);
    return status;
}

static void check_place(const char *variables, const char *engine,
                        unsigned rank, unsigned size, const char *host)
{
    struct engine_place place;
    struct why why;

    CHECK_OK(find(variables, &place, &why));
    CHECK_TEXT(engine, place.engine ? place.engine : "none");
    CHECK_EQUAL(rank, place.rank);
    CHECK_EQUAL(size, place.size);
    CHECK_TEXT(host, place.host);
}

static void nobody_sets_anything(void)
{
    check_place("", "none", 0, 0, "");
    check_place("RANK=3", "none", 0, 0, ""); /* that alone is anybody's */
    check_place("RANK=3 WORLD_SIZE=4", "none", 0, 0, "");
    check_place("SLURM_PROCID= SLURM_NTASKS=2", "none", 0, 0, "");
}

static void each_engine_says_it_its_own_way(void)
{
    check_place("RANK=3 WORLD_SIZE=4 MASTER_ADDR=pc0", "torchrun", 3, 4, "pc0");
    check_place("RANK=3 WORLD_SIZE=4 MASTER_ADDR=pc0 LOCAL_WORLD_SIZE=4",
                "torchrun", 3, 4, "127.0.0.1");
    check_place("LWS_LEADER_ADDRESS=a.b LWS_WORKER_INDEX=0 LWS_GROUP_SIZE=5",
                "LeaderWorkerSet", 0, 5, "a.b");
    check_place("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "
                "OMPI_COMM_WORLD_LOCAL_SIZE=1",
                "Open MPI", 1, 2, "");
    check_place("PMIX_RANK=7", "PMIx", 7, 0, "");
    check_place("PMI_RANK=1 PMI_SIZE=2 MPI_LOCALNRANKS=2", "MPICH", 1, 2,
                "127.0.0.1");
    check_place("PMI_RANK=1 PMI_SIZE=2", "PMI", 1, 2, "");
    check_place("JOB_COMPLETION_INDEX=999999", "Kubernetes", 999999, 0, "");
}

static void one_inside_another_wins(void)
{
    static const char *const outside[] = {
        "SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_NODELIST=pc9",
        "JOB_COMPLETION_INDEX=0",
        "LWS_WORKER_INDEX=0 LWS_GROUP_SIZE=4 LWS_LEADER_ADDRESS=pc9"};
    static const struct {
        const char *variables, *engine, *host;
    } inside[] = {
        {"RANK=1 WORLD_SIZE=8 MASTER_ADDR=pc3", "torchrun", "pc3"},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=8 PMIX_RANK=1",
         "Open MPI", ""},
        {"PMI_RANK=1 PMI_SIZE=8 MPI_LOCALNRANKS=2", "MPICH", ""},
    };
    char text[300];

    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        for (size_t j = 0; j < sizeof inside / sizeof *inside; j++) {
            (void)snprintf(text, sizeof text, "%s %s", outside[i],
                           inside[j].variables);
            check_place(text, inside[j].engine, 1, 8, inside[j].host);
        }
    check_place("SLURM_PROCID=0 SLURM_NTASKS=2 RANK=1 WORLD_SIZE=8 "
                "MASTER_ADDR=pc3",
                "torchrun", 1, 8, "pc3");
    /* What srun's own plugins set. */
    check_place("SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NNODES=1 PMIX_RANK=1 "
                "PMI_RANK=1 PMI_SIZE=2",
                "SLURM", 1, 2, "127.0.0.1");
}

static void check_slurm(const char *list, const char *host)
{
    char text[200];

    (void)snprintf(text, sizeof text,
                   "SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_NNODES=2 "
                   "SLURM_JOB_NODELIST=%s",
                   list);
    check_place(text, "SLURM", 1, 4, host);
}

static void slurm_lists_its_hosts(void)
{
    check_slurm("pc7", "pc7");
    check_slurm("pc7,pc8", "pc7");
    check_slurm("pc[01-04,7],gpu3", "pc01");
    check_slurm("rack[2,5]-[10-11]b,x", "rack2-10b");
    check_slurm("pc[3", "pc3");
    check_slurm("[", "");
    check_place("SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_JOB_NODELIST=a,b "
                "SLURM_STEP_NODELIST=b SLURM_NNODES=2 SLURM_STEP_NUM_NODES=1",
                "SLURM", 1, 4, "127.0.0.1");
}

static void what_is_no_number_is_said(void)
{
    struct engine_place place;
    struct why why;

    CHECK_STATUS(STATUS_CONFIG, find("PMI_RANK=-1 PMI_SIZE=2", &place, &why));
    CHECK_CONTAINS("PMI_RANK is no number: -1", why.text);
    CHECK_STATUS(STATUS_CONFIG, find("PMI_RANK=1 PMI_SIZE=2x", &place, &why));
    CHECK_CONTAINS("PMI_SIZE is no number: 2x", why.text);
    CHECK_STATUS(STATUS_CONFIG, find("PMIX_RANK=99999999999", &place, &why));
}

static void a_job_can_be_part_of_a_file_name(void)
{
    struct engine_place place;
    struct why why;

    CHECK_OK(find("PMIX_RANK=1 PMIX_NAMESPACE=../a@1_b", &place, &why));
    CHECK_TEXT("---a-1_b", place.job);
    CHECK_OK(
        find("SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=77", &place, &why));
    CHECK_TEXT("77", place.job);
    CHECK_OK(find("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "
                  "PMIX_NAMESPACE=x.1 SLURM_JOB_ID=77",
                  &place, &why));
    CHECK_TEXT("77", place.job);
    CHECK_TEXT("x-1", place.start);
    CHECK_OK(find("RANK=1 WORLD_SIZE=2 MASTER_ADDR=a TORCHELASTIC_RUN_ID=none",
                  &place, &why));
    CHECK_TEXT("", place.job);
}

void add_node_program_engine_tests(CU_pSuite suite)
{
    TEST(nobody_sets_anything);
    TEST(each_engine_says_it_its_own_way);
    TEST(one_inside_another_wins);
    TEST(slurm_lists_its_hosts);
    TEST(what_is_no_number_is_said);
    TEST(a_job_can_be_part_of_a_file_name);
}
