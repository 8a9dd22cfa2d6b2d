#include "node/program/this_pc.h"

#include <glob.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LINE = 256, PATH = 128 };

/* The first line of a file; "" if there is none. */
static const char *first_line(const char *path, char line[LINE])
{
    FILE *file = fopen(path, "re");

    line[0] = '\0';
    if (!file)
        return line;
    if (!fgets(line, LINE, file))
        line[0] = '\0';
    (void)fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* ---- the card ---- */

static bool has_address(const struct ifaddrs *device, const char *wanted)
{
    char address[FACTS_ADDRESS_BYTES];
    socklen_t size;

    if (!device->ifa_addr || (device->ifa_addr->sa_family != AF_INET &&
                              device->ifa_addr->sa_family != AF_INET6))
        return false;
    size = device->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                                  : sizeof(struct sockaddr_in6);
    return getnameinfo(device->ifa_addr, size, address, sizeof address, NULL, 0,
                       NI_NUMERICHOST) == 0 &&
           strcmp(address, wanted) == 0;
}

static void find_card(struct doctor_facts *facts)
{
    struct ifaddrs *all = NULL;

    if (!facts->tcp.local[0] || getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *each = all; each; each = each->ifa_next)
        if (has_address(each, facts->tcp.local))
            (void)snprintf(facts->card, sizeof facts->card, "%.19s",
                           each->ifa_name);
    freeifaddrs(all);
}

static void look_at_card(struct doctor_facts *facts)
{
    char path[PATH], line[LINE];

    find_card(facts);
    facts->loopback = strcmp(facts->card, "lo") == 0;
    if (!facts->card[0] || facts->loopback)
        return;
    (void)snprintf(path, sizeof path, "/sys/class/net/%s/speed", facts->card);
    facts->card_rate = strtod(first_line(path, line), NULL) * 1e6 / 8;
    if (facts->card_rate < 0)
        facts->card_rate = 0; /* -1: not known */
    (void)snprintf(path, sizeof path, "/sys/class/net/%s/duplex", facts->card);
    facts->half_duplex = strcmp(first_line(path, line), "half") == 0;
    (void)snprintf(path, sizeof path, "/sys/class/net/%s/wireless",
                   facts->card);
    facts->wireless = access(path, F_OK) == 0;
}

/* ---- the processor ---- */

/* Under a driver that chooses clocks itself powersave is the usual one. */
static void look_at_governor(const char *path, struct doctor_facts *facts)
{
    char governor[LINE], driver[LINE], beside[PATH];
    int folder = (int)(strrchr(path, '/') - path);

    facts->governed++;
    (void)first_line(path, governor);
    (void)snprintf(beside, sizeof beside, "%.*s/scaling_driver", folder, path);
    (void)first_line(beside, driver);
    facts->saving += strcmp(governor, "conservative") == 0 ||
                     (strcmp(governor, "powersave") == 0 &&
                      strncmp(driver, "intel_pstate", 12) != 0 &&
                      strncmp(driver, "amd-pstate-epp", 14) != 0);
}

static void look_at_power(struct doctor_facts *facts)
{
    char line[LINE];
    glob_t found;

    if (glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor", 0,
             NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            look_at_governor(found.gl_pathv[i], facts);
        globfree(&found);
    }
    if (glob("/sys/class/power_supply/*/online", 0, NULL, &found) == 0) {
        facts->on_battery = true;
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (strcmp(first_line(found.gl_pathv[i], line), "0") != 0)
                facts->on_battery = false;
        globfree(&found);
    }
}

static void look_at_cores(struct doctor_facts *facts)
{
    cpu_set_t set;

    facts->cores = sched_getaffinity(0, sizeof set, &set) == 0
                       ? (unsigned)CPU_COUNT(&set)
                       : 1;
    if (getloadavg(&facts->load, 1) != 1)
        facts->load = 0;
}

/* ---- memory and disk ---- */

static uint64_t available(void)
{
    char line[LINE];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "MemAvailable:", 13) == 0)
            kib = strtoull(line + 13, NULL, 10);
    if (file)
        (void)fclose(file);
    return (uint64_t)kib * 1024;
}

/* What the process's group (cgroup 2) leaves it; UINT64_MAX: no limit. */
static uint64_t group_leaves(void)
{
    char line[LINE], path[LINE + PATH], number[LINE];
    unsigned long long most, used;

    (void)first_line("/proc/self/cgroup", line);
    if (strncmp(line, "0::", 3) != 0)
        return UINT64_MAX;
    (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
    most = strtoull(first_line(path, number), NULL, 10);
    if (!most)
        return UINT64_MAX; /* "max", or no such file */
    (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current",
                   line + 3);
    used = strtoull(first_line(path, number), NULL, 10);
    return most > used ? most - used : 0;
}

static void look_at_memory(struct doctor_facts *facts)
{
    uint64_t left = group_leaves();

    facts->memory = available();
    facts->memory_limited = left < facts->memory;
    if (facts->memory_limited)
        facts->memory = left;
}

static void look_at_disk(const char *save, struct doctor_facts *facts)
{
    const char *slash = strrchr(save, '/');
    struct statvfs disk;

    (void)snprintf(facts->folder, sizeof facts->folder, "%.*s",
                   slash ? (int)(slash - save) + (slash == save) : 1,
                   slash ? save : ".");
    if (statvfs(facts->folder, &disk) != 0)
        facts->folder[0] = '\0';
    else
        facts->disk = (uint64_t)disk.f_bavail * disk.f_frsize;
}

void this_pc(const char *save, struct doctor_facts *facts)
{
    look_at_card(facts);
    look_at_power(facts);
    look_at_cores(facts);
    look_at_memory(facts);
    look_at_disk(save, facts);
}
