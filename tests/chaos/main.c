/* star-chaos: see tests/chaos/chaos.h. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/chaos/chaos.h"
#include "tests/chaos/judge.h"

static const char help[] =
    "Usage: star-chaos run FOLDER [OPTION...]  in tests/chaos/network\n"
    "       star-chaos judge FOLDER [--recovery] [--serve SECONDS]\n"
    "  --time SECONDS     with faults (60)\n"
    "  --quiet SECONDS    without them, at the end (30)\n"
    "  --seed N           draws the faults (1)\n"
    "  --nodes N          of tests/chaos/network, 1 to 32 (8)\n"
    "  --hub-kills N      all is quiet after so many\n"
    "  --rest SECONDS     at least, from a fault to the next of its kind (0)\n"
    "  --programs DIR     where starswitch-hub and -node are (build)\n"
    "  --hub OPTIONS      more for starswitch-hub, such as '--miss cut'\n"
    "  --counted          nodes count their steps, so that learning can be "
    "counted\n"
    "  --mean FAULT=S     seconds between two of these, 0: never; all=0: no\n"
    "                     faults but those named after it\n"
    "  --recovery         judge: centres that nodes keep count, too\n"
    "  --serve SECONDS    judge: longest until a hub that was killed serves\n"
    "Faults, mean time between two, and how long they last:\n";

struct settings {
    struct drive drive;
    struct judge_limits limits;
};

/* A run that is interrupted leaves its namespaces, and they end with it. */
static void give_up(int number)
{
    _exit(128 + number);
}

static void wrong(const char *text)
{
    (void)fprintf(stderr, "star-chaos: %s is not understood; see --help\n",
                  text);
    exit(64);
}

static double number_of(const char *text)
{
    char *end;
    double number = strtod(text, &end);

    if (*end || end == text || number < 0 || number > 1e9)
        wrong(text);
    return number;
}

static nanos time_of(const char *text)
{
    return (nanos)(number_of(text) * (double)SECOND);
}

static void take_option(struct settings *settings, int name, const char *text)
{
    struct drive *drive = &settings->drive;

    switch (name) {
    case 't':
        drive->time = time_of(text);
        break;
    case 'q':
        drive->quiet = time_of(text);
        break;
    case 's':
        drive->seed = (uint64_t)number_of(text);
        break;
    case 'n':
        drive->nodes = (unsigned)number_of(text);
        if (drive->nodes < 1 || drive->nodes > MOST_NODES)
            wrong(text);
        break;
    case 'k':
        drive->most_hub_kills = (unsigned)number_of(text);
        break;
    case 'R':
        drive->rest = time_of(text);
        break;
    case 'p':
        drive->programs = text;
        break;
    case 'H':
        drive->settings = text;
        break;
    case 'c':
        drive->counted = true;
        break;
    case 'm':
        if (!drive_set_mean(drive, text))
            wrong(text);
        break;
    case 'r':
        settings->limits.recovery = true;
        break;
    case 'S':
        settings->limits.serve = time_of(text);
        break;
    default:
        (void)fputs(help, stdout);
        drive_help();
        exit(name == 'h' ? 0 : 64);
    }
}

static void read_options(int argc, char **argv, struct settings *settings)
{
    static const struct option names[] = {
        {"time", required_argument, NULL, 't'},
        {"quiet", required_argument, NULL, 'q'},
        {"seed", required_argument, NULL, 's'},
        {"nodes", required_argument, NULL, 'n'},
        {"hub-kills", required_argument, NULL, 'k'},
        {"rest", required_argument, NULL, 'R'},
        {"programs", required_argument, NULL, 'p'},
        {"hub", required_argument, NULL, 'H'},
        {"counted", no_argument, NULL, 'c'},
        {"mean", required_argument, NULL, 'm'},
        {"recovery", no_argument, NULL, 'r'},
        {"serve", required_argument, NULL, 'S'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int name;

    drive_init(&settings->drive);
    judge_limits_init(&settings->limits);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
    while ((name = getopt_long(argc, argv, "h", names, NULL)) != -1)
        take_option(settings, name, optarg);
}

int main(int argc, char **argv)
{
    static struct settings settings;
    struct sigaction action = {.sa_handler = give_up};

    read_options(argc, argv, &settings);
    if (argc - optind != 2)
        wrong(argc - optind < 2 ? "nothing" : argv[optind + 2]);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    settings.drive.folder = argv[optind + 1];
    if (strcmp(argv[optind], "run") == 0)
        return drive_run(&settings.drive);
    if (strcmp(argv[optind], "judge") == 0)
        return judge_folder(settings.drive.folder, &settings.limits, stdout);
    wrong(argv[optind]);
}
