#include "net/cores.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/net/fake_machine.h"

static struct cores cores_of(const char *text)
{
    struct cores cores = {0};
    struct why why = {""};

    CHECK_OK(cores_read(text, &cores, &why));
    return cores;
}

static void refused(enum status status, const char *text, const char *words)
{
    struct cores cores = {.count = 77};
    struct why why = {""};

    CHECK_STATUS(status, cores_read(text, &cores, &why));
    CHECK_CONTAINS(words, why.text);
    CHECK_EQUAL(77, cores.count);
}

/* The first core that this process may use. */
static size_t first_core(void)
{
    cpu_set_t set;
    size_t core = 0;

    CPU_ZERO(&set);
    CHECK_EQUAL(0, sched_getaffinity(0, sizeof set, &set));
    while (!CPU_ISSET(core, &set))
        core++;
    return core;
}

static void a_list_of_cores_is_read(void)
{
    char text[72];
    struct cores cores;
    size_t first = first_core();

    CHECK_EQUAL(0, cores_of("").count);
    CHECK(cores_count(&(struct cores){.count = 0}) >= 1);
    (void)snprintf(text, sizeof text, "%zu,%zu-%zu", first, first, first);
    cores = cores_of(text);
    CHECK_EQUAL(1, cores.count);
    CHECK(CPU_ISSET(first, &cores.set));
}

static void what_is_no_list_of_cores_is_refused(void)
{
    static const char *const texts[] = {"a",   "0-",  "-1",   "0,", ",0",
                                        "0 1", "1-0", "0--1", "0;1"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refused(STATUS_USAGE, texts[i], "such as 6-7 or 0,2");
}

static void a_core_that_is_not_there_is_named(void)
{
    refused(STATUS_CONFIG, "1023", "core 1023 is not there");
    refused(STATUS_CONFIG, "999999", "core 999999 is not there");
}

/* Threads of this process that may use other cores than these. */
static unsigned outside(const struct cores *cores, unsigned *threads)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;
    struct dirent *entry;

    *threads = 0;
    while (tasks && (entry = readdir(tasks))) {
        pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        cpu_set_t set, both;

        CPU_ZERO(&set);
        if (id <= 0 || sched_getaffinity(id, sizeof set, &set) != 0)
            continue;
        ++*threads;
        CPU_AND(&both, &set, &cores->set);
        count += !CPU_EQUAL(&both, &set);
    }
    if (tasks)
        (void)closedir(tasks);
    return count;
}

static void ap_07_all_threads_of_the_driver_stay_on_their_cores(void)
{
    char text[24];
    struct fake_machine *fake = fake_new(true);
    struct cores cores, all;
    unsigned before, after, threads, more;

    (void)snprintf(text, sizeof text, "%zu", first_core());
    cores = cores_of(text);
    before = outside(&cores, &threads);
    fake->config.cores = cores;
    fake->wake_every = MILLISECOND; /* once it wakes the loop is bound */
    fake_start(fake);
    CHECK(fake_wait(fake, &fake->counts[EVENT_WAKE], 1));
    after = outside(&cores, &more);
    CHECK(more >= threads + 5); /* loop, workers, stations */
    CHECK_EQUAL(before, after); /* none of them, and we are where we were */
    fake_destroy(&fake);
    cores_enter(&cores, &all);
    CHECK_EQUAL(before ? before - 1 : 0, outside(&cores, &threads));
    cores_leave(&all);
    CHECK_EQUAL(before, outside(&cores, &threads));
}

void add_net_cores_tests(CU_pSuite suite)
{
    TEST(a_list_of_cores_is_read);
    TEST(what_is_no_list_of_cores_is_refused);
    TEST(a_core_that_is_not_there_is_named);
    TEST(ap_07_all_threads_of_the_driver_stay_on_their_cores);
}
