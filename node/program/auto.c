#include "node/program/auto.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/options.h"
#include "core/time.h"
#include "net/net.h"
#include "node/program/engine.h"
#include "program/beside.h"
#include "program/output.h"
#include "program/settings.h"
#include "store/file.h"

static const char usage[] =
    "usage: starswitch-node auto [--dry-run] [HUB OPTION]... -- COMMAND...\n"
    "\n"
    "Started on many hosts by an engine (SLURM, torchrun, MPI, Kubernetes),\n"
    "the process of rank 0 becomes the hub, with these options, and all "
    "others\n"
    "run COMMAND as its nodes: start one more than there are to be nodes. The\n"
    "command finds the hub in its environment (STARSWITCH_HUB, "
    "STARSWITCH_NAME,\n"
    "STARSWITCH_KEY_FILE; STARSWITCH_NODE counts from 0).\n"
    "\n"
    "What says where this process is, the first that is set: STARSWITCH_HUB "
    "(a\n"
    "hub runs already), torchrun, Open MPI, MPICH, SLURM, PMIx, PMI,\n"
    "LeaderWorkerSet, a Kubernetes Indexed Job. It prints which one it was.\n"
    "\n"
    "The hub's directory is starswitch-JOB unless --directory says another; "
    "it\n"
    "is to be on a file system that all hosts share, as the nodes take their\n"
    "key from it. Else give all STARSWITCH_KEY_FILE, or --insecure. On one "
    "host\n"
    "there are no keys. The hub ends with the run, or 60 s after its last "
    "node\n"
    "(--idle). SIGTERM, SIGINT, SIGHUP and SIGUSR1 ask a command to end as\n"
    "Ctrl-C does, so that it gives what it has learnt; a second one ends it. "
    "The\n"
    "exit code is the signal's then (143 by SIGTERM), as there is more to do.\n"
    "\n"
    "  srun -n5 starswitch auto --goal 0.35 -- python train.py\n"
    "  mpirun -n 5 starswitch auto --time 1h -- python train.py\n"
    "  torchrun --nproc-per-node 5 --no-python starswitch auto -- "
    "python train.py\n"
    "\n"
    "--dry-run prints what this process would do, and does nothing.\n";

enum {
    WORDS_MOST = 256,
    TEXT_BYTES = 600,
    PORTS = 5000, /* pairs of them, for the jobs of one host */
    FIRST_PORT = 20000,
    LOOK_EVERY = 200, /* ms, for what another host writes */
    SIGNAL_EXIT = 128
};

#define AGAIN_EVERY (30 * SECOND)
#define LINGER (30 * SECOND)

struct auto_plan {
    struct options options; /* the hub's */
    struct engine_place place;
    char **hub_words, **command;
    int hub_count;
    bool dry_run, keyed;
    char directory[FILE_PATH_BYTES];
    struct endpoint hub;
};

static int complain(enum status status, const struct why *why)
{
    return output_fail("starswitch-node auto", status, why);
}

/* ---- the plan ---- */

static unsigned add_up(unsigned sum, const char *text)
{
    for (; *text; text++)
        sum = sum * 31 + (unsigned char)*text;
    return sum;
}

/* Jobs of one host get ports of their own, which all of a job know: by the
 * hub's directory, whose path they share there, and else by the job's name and
 * that of a directory that all were given. */
static uint16_t port_of(const struct auto_plan *plan)
{
    const struct options *options = &plan->options;
    unsigned sum;

    if (options->given.listen || (!plan->place.one_host && !plan->place.job[0]))
        return options->listen.port;
    sum = add_up(0, plan->place.one_host ? plan->directory : plan->place.job);
    if (!plan->place.one_host && options->given.directory)
        sum = add_up(sum, options->directory);
    return (uint16_t)(FIRST_PORT + 2 * (sum % PORTS));
}

static bool is_anywhere(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

/* As a command may go elsewhere, from the root. */
static void plan_directory(struct auto_plan *plan)
{
    const struct options *options = &plan->options;
    const char *job = plan->place.job;
    bool own = options->given.directory || !job[0];
    char here[FILE_PATH_BYTES];

    if ((own && options->directory[0] == '/') || !getcwd(here, sizeof here))
        here[0] = '\0';
    (void)snprintf(plan->directory, sizeof plan->directory, "%s%s%s%s", here,
                   here[0] ? "/" : "", own ? options->directory : "starswitch-",
                   own ? "" : job);
}

/* The host of rank 0 is written to a file, if nobody else says it: behind the
 * name of this start, as an older one may have left such a file. */
static bool is_told_by_file(const struct auto_plan *plan)
{
    return !plan->place.host[0] && plan->place.start[0] &&
           !plan->options.given.listen;
}

/* What nodes have of their own, beside the hub's directory: the program of a
 * hub knows all that is in that. */
static void folder_of_nodes(const struct auto_plan *plan,
                            char out[FILE_PATH_BYTES])
{
    struct text text;

    text_init(&text, out, FILE_PATH_BYTES);
    text_add(&text, "%s-nodes", plan->directory);
}

static enum status plan_hub(struct auto_plan *plan, struct why *why)
{
    const struct options *options = &plan->options;
    const struct engine_place *place = &plan->place;

    plan_directory(plan);
    plan->hub.port = port_of(plan);
    (void)snprintf(plan->hub.host, sizeof plan->hub.host, "%s",
                   options->given.listen && !is_anywhere(options->listen.host)
                       ? options->listen.host
                       : place->host);
    plan->keyed = !options->insecure && !endpoint_is_loopback(&plan->hub);
    if (!plan->hub.host[0] && place->rank != 0 && !is_told_by_file(plan))
        return because(why, STATUS_CONFIG,
                       "%s does not say on which host rank 0 is: give "
                       "--listen HOST[:PORT], the same to all",
                       place->engine);
    return STATUS_OK;
}

static enum status read_words(struct auto_plan *plan, int count, char **words,
                              struct why *why)
{
    int end = 1;

    while (end < count && strcmp(words[end], "--") != 0)
        end++;
    if (end + 1 >= count)
        return because(why, STATUS_USAGE,
                       "expected -- and the command that nodes run, such as "
                       "-- python train.py; --help says more");
    plan->command = words + end + 1;
    plan->hub_words = words + 1;
    plan->hub_count = end - 1;
    if (plan->hub_count > 0 && strcmp(plan->hub_words[0], "--dry-run") == 0) {
        plan->dry_run = true;
        plan->hub_words++;
        plan->hub_count--;
    }
    if (plan->hub_count > WORDS_MOST)
        return because(why, STATUS_USAGE, "there are too many options");
    /* In place of its first word the command line has the program's name. */
    return settings_read(&plan->options, PROGRAM_HUB, plan->hub_count + 1,
                         plan->hub_words - 1, why);
}

static enum status make_plan(struct auto_plan *plan, int count, char **words,
                             struct why *why)
{
    const char *hub = getenv("STARSWITCH_HUB");
    enum status status = read_words(plan, count, words, why);

    if (status != STATUS_OK)
        return status;
    if (hub && hub[0]) {
        plan->place.engine = "STARSWITCH_HUB";
        return STATUS_OK;
    }
    status = engine_find(&plan->place, why);
    if (status == STATUS_OK && !plan->place.engine)
        return because(why, STATUS_CONFIG,
                       "no engine has started this process: none of its "
                       "variables is set. With a hub that runs, set "
                       "STARSWITCH_HUB; for nodes on this PC there is "
                       "starswitch launch --local 4");
    if (status == STATUS_OK && plan->place.size == 1)
        return because(why, STATUS_CONFIG,
                       "%s has started one process, which is the hub, and no "
                       "node: start two or more",
                       plan->place.engine);
    return status == STATUS_OK ? plan_hub(plan, why) : status;
}

static void say(const struct auto_plan *plan, const char *as)
{
    const struct engine_place *place = &plan->place;
    char bytes[TEXT_BYTES];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    text_add(&text, "starswitch-node auto: %s", place->engine);
    if (place->variable)
        text_add(&text, ", %s %u", place->variable, place->rank);
    if (place->size)
        text_add(&text, " of %u", place->size);
    text_add(&text, ": %s", as);
    (void)fprintf(stderr, "%s\n", bytes);
}

/* ---- the hub ---- */

static enum status tell_host(const struct auto_plan *plan, struct why *why)
{
    char folder[FILE_PATH_BYTES], path[FILE_PATH_BYTES], line[TEXT_BYTES],
        host[ENDPOINT_HOST_BYTES] = "";
    struct part part = {line, 0};

    if (!is_told_by_file(plan) || plan->dry_run)
        return STATUS_OK;
    folder_of_nodes(plan, folder);
    path_join(path, folder, "host");
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    part.size =
        (size_t)snprintf(line, sizeof line, "%s %s", plan->place.start, host);
    (void)mkdir(folder, 0700);
    return file_replace_lightly(path, &part, 1, why);
}

struct words {
    char *list[WORDS_MOST + 16];
    int count;
};

static void add(struct words *words, char *word)
{
    words->list[words->count++] = word;
}

static void add_listen(const struct auto_plan *plan, struct words *words)
{
    static char address[ENDPOINT_HOST_BYTES + 16], listen[] = "--listen";
    struct endpoint at = plan->hub;
    struct text text;

    if (plan->options.given.listen)
        return;
    if (!endpoint_is_loopback(&at))
        memcpy(at.host, "0.0.0.0", sizeof "0.0.0.0");
    text_init(&text, address, sizeof address);
    endpoint_print(&at, &text);
    add(words, listen);
    add(words, address);
}

/* Those that were given, and what they leave open. */
static void hub_words(struct auto_plan *plan, struct words *words)
{
    static char lan[] = "--lan", no_beacon[] = "--no-beacon",
                directory[] = "--directory", idle[] = "--idle", time[] = "60s";
    const struct options *options = &plan->options;

    for (int i = 0; i < plan->hub_count; i++)
        add(words, plan->hub_words[i]);
    add_listen(plan, words);
    if (plan->keyed && !options->lan && !options->given.keys)
        add(words, lan);
    if (plan->keyed && !options->no_beacon)
        add(words, no_beacon);
    if (!options->given.directory) {
        add(words, directory);
        add(words, plan->directory);
    }
    if (!options->given.idle) {
        add(words, idle);
        add(words, time);
    }
}

static void print_words(char *const *words)
{
    for (int i = 0; words[i]; i++)
        (void)printf("%s%s", words[i], words[i + 1] ? " " : "\n");
}

static int become_hub(struct auto_plan *plan)
{
    static char path[PROGRAM_PATH_BYTES];
    static struct words words;
    struct why why;
    enum status status = tell_host(plan, &why);

    if (status != STATUS_OK)
        return complain(status, &why);
    program_beside("starswitch-hub", path);
    add(&words, path);
    hub_words(plan, &words);
    say(plan, "the hub");
    if (plan->dry_run) {
        print_words(words.list);
        return 0;
    }
    (void)execvp(path, words.list);
    explain(&why, "%s cannot be started: %s", path, strerror(errno));
    return complain(STATUS_UNAVAILABLE, &why);
}

/* ---- a node ---- */

static void set(const struct auto_plan *plan, const char *name,
                const char *value)
{
    if (plan->dry_run)
        (void)printf("%s=%s ", name, value);
    (void)setenv(name, value, 1);
}

/* What the process of rank 0 writes, perhaps on another host. */
struct awaited {
    const char *path, *else_give;
    const char *start; /* its first word; NULL: any */
    char *rest;        /* of the line behind that, of ENDPOINT_HOST_BYTES */
};

static bool is_here(const struct awaited *awaited)
{
    char *text = NULL;
    size_t size, length = awaited->start ? strlen(awaited->start) : 0;
    struct why why;
    bool here;

    if (!awaited->start)
        return access(awaited->path, R_OK) == 0;
    here =
        file_read(awaited->path, TEXT_BYTES, &text, &size, &why) == STATUS_OK &&
        strncmp(text, awaited->start, length) == 0 && text[length] == ' ';
    if (here)
        (void)snprintf(awaited->rest, ENDPOINT_HOST_BYTES, "%s",
                       text + length + 1);
    free(text);
    return here;
}

static void wait_for(const struct awaited *awaited)
{
    const struct timespec moment = {0, LOOK_EVERY * 1000000L};
    nanos told = net_now() - AGAIN_EVERY;

    while (!is_here(awaited)) {
        if (net_now() - told >= AGAIN_EVERY) {
            told = net_now();
            (void)fprintf(stderr,
                          "starswitch-node auto: waits for %s, which rank 0 "
                          "writes; where hosts share no directory, give all "
                          "%s\n",
                          awaited->path, awaited->else_give);
        }
        (void)nanosleep(&moment, NULL);
    }
}

/* Rank 0's host, as it is written in one go. */
static void find_host(struct auto_plan *plan)
{
    char folder[FILE_PATH_BYTES], path[FILE_PATH_BYTES];
    const struct awaited host = {.path = path,
                                 .else_give = "--listen HOST",
                                 .start = plan->place.start,
                                 .rest = plan->hub.host};

    if (!is_told_by_file(plan) || plan->dry_run)
        return;
    folder_of_nodes(plan, folder);
    path_join(path, folder, "host");
    wait_for(&host);
}

/* With its key, and one of its own in a folder beside the hub's, as two jobs
 * have nodes of the same name. */
static void find_key(struct auto_plan *plan, const char *name)
{
    char folder[FILE_PATH_BYTES], path[FILE_PATH_BYTES], file[64];
    const struct awaited key = {
        .path = path, .else_give = "STARSWITCH_KEY_FILE or --insecure"};

    if (!plan->keyed || getenv("STARSWITCH_KEY") ||
        getenv("STARSWITCH_KEY_FILE"))
        return;
    if (plan->options.given.keys)
        path_join(path, plan->options.keys, "invitation");
    else
        path_join(path, plan->directory, "keys/invitation");
    if (!plan->dry_run)
        wait_for(&key);
    set(plan, "STARSWITCH_KEY_FILE", path);
    if (getenv("STARSWITCH_IDENTITY"))
        return;
    folder_of_nodes(plan, folder);
    if (!plan->dry_run)
        (void)mkdir(folder, 0700);
    (void)snprintf(file, sizeof file, "%s.key_secret", name);
    path_join(path, folder, file);
    set(plan, "STARSWITCH_IDENTITY", path);
}

/* Each command is a node by itself. What torchrun says counts the hub as one
 * of the ranks, and makes a script take itself for one process of several that
 * train one model. */
static void hide_ranks(void)
{
    static const char *const names[] = {"RANK", "LOCAL_RANK", "WORLD_SIZE",
                                        "LOCAL_WORLD_SIZE"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unsetenv(names[i]);
}

static void set_environment(struct auto_plan *plan)
{
    char bytes[TEXT_BYTES], name[24];
    struct text text;

    hide_ranks();
    if (!plan->place.variable) /* who set STARSWITCH_HUB says the rest */
        return;
    find_host(plan);
    text_init(&text, bytes, sizeof bytes);
    endpoint_print(&plan->hub, &text);
    set(plan, "STARSWITCH_HUB", bytes);
    (void)snprintf(name, sizeof name, "n%u", plan->place.rank);
    if (!getenv("STARSWITCH_NAME"))
        set(plan, "STARSWITCH_NAME", name);
    find_key(plan, name);
    (void)snprintf(name, sizeof name, "%u", plan->place.rank - 1);
    set(plan, "STARSWITCH_NODE", name);
}

/* Engines send their signals to a whole group, and some to each process: the
 * command has a group of its own, and hears of them from here. */
static pid_t start(char **command, const sigset_t *before)
{
    pid_t parent = getpid(), child = fork();

    if (child != 0)
        return child;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)sigprocmask(SIG_SETMASK, before, NULL);
    (void)signal(SIGINT, SIG_DFL); /* which shells leave ignored, behind & */
    (void)signal(SIGUSR1, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    if (getppid() != parent)
        _exit(status_exit_code(STATUS_UNAVAILABLE));
    (void)execvp(command[0], command);
    (void)fprintf(stderr, "starswitch-node auto: %s cannot be started: %s\n",
                  command[0], strerror(errno));
    _exit(status_exit_code(STATUS_UNAVAILABLE));
}

/* A command, which may be a script that starts others. */
struct followed {
    pid_t child;
    int status; /* the child's */
    bool over;  /* it has ended */
    int asked;  /* the first signal that it was to end by; 0: none */
};

/* The child's group is asked as a terminal asks it at Ctrl-C, then by
 * SIGTERM. */
static void ask(struct followed *followed, int number)
{
    (void)kill(-followed->child, followed->asked ? SIGTERM : SIGINT);
    followed->asked = followed->asked ? followed->asked : number;
}

/* Whether all of the group have ended; what they leave comes here. */
static bool all_over(struct followed *followed)
{
    int status;
    pid_t one;

    while ((one = waitpid(-1, &status, WNOHANG)) > 0)
        if (one == followed->child) {
            followed->status = status;
            followed->over = true;
        }
    return followed->over && kill(-followed->child, 0) != 0;
}

/* Of what it was asked to end by, if it ended by that: engines take 0 for work
 * that is done, and start nothing again. */
static int code_of(const struct followed *followed)
{
    int status = followed->status;
    int code = WIFSIGNALED(status) ? SIGNAL_EXIT + WTERMSIG(status)
                                   : WEXITSTATUS(status);

    if (followed->asked && (code == 0 || code == SIGNAL_EXIT + SIGINT ||
                            code == SIGNAL_EXIT + SIGTERM))
        return SIGNAL_EXIT + followed->asked;
    return code;
}

/* What it has started may take a while longer than itself for a last offer. */
static void linger(struct followed *followed, const sigset_t *signals)
{
    const struct timespec moment = {0, LOOK_EVERY * 1000000L};
    nanos until = net_now() + LINGER;

    while (!all_over(followed) && net_now() < until) {
        int number = sigtimedwait(signals, NULL, &moment);

        if (number > 0 && number != SIGCHLD)
            ask(followed, number);
    }
    (void)kill(-followed->child, SIGKILL);
}

/* Passes on what asks the child to end; its exit code. */
static int follow(pid_t child, const sigset_t *signals)
{
    struct followed followed = {.child = child};
    int number;

    (void)setpgid(child, child);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    while (!followed.over) {
        if (sigwait(signals, &number) != 0)
            continue;
        if (number != SIGCHLD)
            ask(&followed, number);
        (void)all_over(&followed);
    }
    if (followed.asked)
        linger(&followed, signals);
    return code_of(&followed);
}

static int run_node(struct auto_plan *plan)
{
    static const int numbers[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1};
    char bytes[TEXT_BYTES];
    struct text text;
    sigset_t signals, before;
    struct why why;
    pid_t child;

    set_environment(plan);
    text_init(&text, bytes, sizeof bytes);
    text_add(&text, "a node of %s", getenv("STARSWITCH_HUB"));
    say(plan, bytes);
    if (plan->dry_run) {
        print_words(plan->command);
        return 0;
    }
    (void)sigemptyset(&signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)sigaddset(&signals, numbers[i]);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    child = start(plan->command, &before);
    if (child < 0) {
        explain(&why, "no process can be made: %s", strerror(errno));
        return complain(STATUS_UNAVAILABLE, &why);
    }
    return follow(child, &signals);
}

int auto_run(int count, char **words)
{
    static struct auto_plan plan;
    struct why why;
    enum status status;

    if (count > 1 &&
        (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0)) {
        (void)fputs(usage, stdout);
        return 0;
    }
    status = make_plan(&plan, count, words, &why);
    if (status != STATUS_OK)
        return complain(status, &why);
    return plan.place.variable && plan.place.rank == 0 ? become_hub(&plan)
                                                       : run_node(&plan);
}
