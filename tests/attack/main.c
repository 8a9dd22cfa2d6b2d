/* star-attack: attacks a running hub with frames, handshakes and cuts, or nodes
 * as a hostile hub would, and says what became of the victim.
 *
 * It delivers `--frames` frames in `--seconds`, evenly, and ends with 1 when
 * the victim is gone, or above what `--rss-mib` and `--descriptors` say, or
 * when an honest handshake fails twice in a row. `frames` of its line are all
 * that it has made up, `delivered` those that the victim's system has taken
 * whole: what is cut first is in the first alone.
 *
 * With `--claims` it claims so many names of connections instead, and holds
 * `--hold` of them. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/kit/kit.h"
#include "keys/certificate.h"
#include "tests/attack/attack.h"

enum { PORTS = 2, LOOK_EVERY = 1 /* second */ };

struct options {
    unsigned port, frames, seconds, seed, pid, rss, descriptors, hold, claims;
    const char *address, *hub, *own;
    bool as_hub, trusted;
};

struct course {
    struct attack attack;
    struct victim victim, first;
    uint64_t most_rss, most_descriptors;
    int worst_ms;
    unsigned looks, missed, missed_in_a_row;
    const char *verdict; /* what is wrong, or NULL */
    double begun, next_look;
};

static const char question[] =
    "Does a hub, or a node, outlive what strangers send?";

static void read_options(int argc, char **argv, struct options *out)
{
    const struct setting settings[] = {
        {"port", SETTING_COUNT, &out->port, "of control"},
        {"address", SETTING_TEXT, &out->address, "of the hub (127.0.0.1)"},
        {"frames", SETTING_COUNT, &out->frames, "to be sent (100000)"},
        {"seconds", SETTING_COUNT, &out->seconds, "that it takes (10)"},
        {"seed", SETTING_COUNT, &out->seed, "of what is sent (1)"},
        {"claims", SETTING_COUNT, &out->claims, "names claimed (0)"},
        {"hold", SETTING_COUNT, &out->hold, "connections held (100)"},
        {"pid", SETTING_COUNT, &out->pid, "the victim's process"},
        {"rss-mib", SETTING_COUNT, &out->rss, "it may have (1024)"},
        {"descriptors", SETTING_COUNT, &out->descriptors,
         "it may have (10000)"},
        {"hub", SETTING_TEXT, &out->hub, "file of the hub's public key"},
        {"own", SETTING_TEXT, &out->own, "file of the secret key to use"},
        {"trusted", SETTING_FLAG, &out->trusted, "the hub knows that key"},
        {"as-hub", SETTING_FLAG, &out->as_hub, "attacks nodes that connect"},
    };

    (void)settings_read(argc, argv, question, settings,
                        sizeof settings / sizeof *settings);
    if (!out->port)
        give_up("--port says whom to attack");
}

static void read_key(const char *path, bool secret, struct attack *attack)
{
    struct certificate certificate;
    struct why why = {""};

    if (certificate_read(path, &certificate, &why) != STATUS_OK)
        give_up("%s", why.text);
    if (!secret) {
        memcpy(attack->keys.server, certificate.pair.shown.bytes, KEY_BYTES);
        return;
    }
    memcpy(attack->keys.shown, certificate.pair.shown.bytes, KEY_BYTES);
    memcpy(attack->keys.secret, certificate.pair.secret.bytes, KEY_BYTES);
}

static void set_up(const struct options *options, struct course *course)
{
    struct attack *attack = &course->attack;
    struct rlimit limit;

    memset(course, 0, sizeof *course);
    prng_seed(&attack->prng, options->seed);
    attack->place = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)options->port)};
    if (inet_pton(AF_INET, options->address, &attack->place.sin_addr) != 1)
        give_up("%s is no IPv4 address", options->address);
    attack->local = ntohl(attack->place.sin_addr.s_addr) >> 24 == 127;
    attack->role = options->as_hub ? "ROUTER" : "DEALER";
    attack->hold =
        options->hold < HELD_MAX ? options->hold : (unsigned)HELD_MAX;
    attack->claims = options->claims;
    attack->keyed = options->own != NULL;
    attack->trusted = options->trusted;
    if (options->own)
        read_key(options->own, true, attack);
    if (options->hub)
        read_key(options->hub, false, attack);
    course->victim.pid = options->pid;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (!look_at(&course->victim))
        give_up("process %u is not there", options->pid);
    course->first = course->victim;
    course->begun = course->next_look = seconds();
}

static void knock(struct course *course)
{
    int took = shake_well(&course->attack);

    course->looks++;
    if (took < 0) {
        course->missed++;
        if (++course->missed_in_a_row > 1)
            course->verdict = "an honest handshake has failed twice";
        return;
    }
    course->missed_in_a_row = 0;
    if (took > course->worst_ms)
        course->worst_ms = took;
}

static void look(const struct options *options, struct course *course)
{
    const struct victim *victim = &course->victim;

    if (seconds() < course->next_look)
        return;
    course->next_look += LOOK_EVERY;
    if (!look_at(&course->victim)) {
        course->verdict = "the victim is gone";
        return;
    }
    if (victim->rss > course->most_rss)
        course->most_rss = victim->rss;
    if (victim->descriptors > course->most_descriptors)
        course->most_descriptors = victim->descriptors;
    if (victim->rss > (uint64_t)options->rss << 20)
        course->verdict = "the victim takes too much memory";
    if (victim->descriptors > options->descriptors)
        course->verdict = "the victim has too many descriptors";
    if (!options->as_hub && !course->verdict)
        knock(course);
}

/* How many frames there may be by now. */
static double due(const struct options *options, const struct course *course)
{
    return 5000 + (double)options->frames * (seconds() - course->begun) /
                      options->seconds;
}

/* Ahead of its time; much of what is made up is never delivered. */
static bool is_ahead(const struct options *options, const struct course *course)
{
    const struct attack *attack = &course->attack;
    const unsigned lost = 4;

    return (double)attack->delivered > due(options, course) ||
           (double)attack->frames > lost * due(options, course);
}

/* Whether it is to go on; waits while it is ahead. */
static bool goes_on(const struct options *options, struct course *course)
{
    look(options, course);
    if (course->verdict || seconds() - course->begun > options->seconds ||
        (course->attack.delivered >= options->frames && !options->claims))
        return false;
    if (is_ahead(options, course))
        (void)usleep(2000);
    return true;
}

static void attack_hub(const struct options *options, struct course *course)
{
    struct attack *attack = &course->attack;

    while (goes_on(options, course)) {
        bool claims = attack->claimed < attack->claims;
        int fd;

        if (!claims && (options->claims || is_ahead(options, course))) {
            (void)usleep(1000);
            continue;
        }
        fd = reach(attack);
        if (fd < 0)
            (void)usleep(1000);
        else if (claims)
            claim_next(attack, fd);
        else
            shoot(attack, fd);
    }
}

static int listen_on(const struct sockaddr_in *place, unsigned offset)
{
    struct sockaddr_in address = *place;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    address.sin_port = htons((uint16_t)(ntohs(place->sin_port) + offset));
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 100) != 0)
        give_up("cannot listen on port %u: %s", ntohs(address.sin_port),
                strerror(errno));
    return fd;
}

static void attack_nodes(const struct options *options, struct course *course)
{
    struct pollfd doors[PORTS];

    for (unsigned i = 0; i < PORTS; i++)
        doors[i] =
            (struct pollfd){listen_on(&course->attack.place, i), POLLIN, 0};
    while (goes_on(options, course)) {
        if (poll(doors, PORTS, 100) <= 0)
            continue;
        for (unsigned i = 0; i < PORTS; i++) {
            int fd = doors[i].revents ? accept(doors[i].fd, NULL, NULL) : -1;

            if (fd < 0)
                continue;
            course->attack.connections++;
            shoot(&course->attack, fd);
        }
    }
    for (unsigned i = 0; i < PORTS; i++)
        (void)close(doors[i].fd);
}

static void report(const struct course *course)
{
    const struct attack *attack = &course->attack;
    double took = seconds() - course->begun;

    (void)printf("{\"frames\":%llu,\"delivered\":%llu,\"claims\":%u,"
                 "\"connections\":%llu,\"shaken\":%llu,"
                 "\"seconds\":%.1f,\"rss_mib\":%llu,\"most_rss_mib\":%llu,"
                 "\"most_descriptors\":%llu,\"processor\":%.3f,"
                 "\"honest\":%u,\"missed\":%u,\"worst_ms\":%d,"
                 "\"verdict\":\"%s\"}\n",
                 (unsigned long long)attack->frames,
                 (unsigned long long)attack->delivered, attack->claimed,
                 (unsigned long long)attack->connections,
                 (unsigned long long)attack->shaken, took,
                 (unsigned long long)(course->victim.rss >> 20),
                 (unsigned long long)(course->most_rss >> 20),
                 (unsigned long long)course->most_descriptors,
                 (course->victim.processor - course->first.processor) / took,
                 course->looks, course->missed, course->worst_ms,
                 course->verdict ? course->verdict : "alive");
}

int main(int argc, char **argv)
{
    struct options options = {.frames = 100000,
                              .seconds = 10,
                              .seed = 1,
                              .rss = 1024,
                              .descriptors = 10000,
                              .hold = 100,
                              .address = "127.0.0.1"};
    static struct course course;

    read_options(argc, argv, &options);
    set_up(&options, &course);
    if (options.as_hub)
        attack_nodes(&options, &course);
    else
        attack_hub(&options, &course);
    let_go(&course.attack);
    course.next_look = 0;
    look(&options, &course);
    report(&course);
    return course.verdict ? 1 : 0;
}
