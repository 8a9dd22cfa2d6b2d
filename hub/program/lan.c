#include "hub/program/lan.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* The device that the kernel sends to when it knows no better: destination and
 * mask are 0. */
static bool default_device(char device[LAN_DEVICE_BYTES])
{
    /* A service may see no more of /proc than what is of processes. */
    FILE *table = fopen("/proc/self/net/route", "re");
    char line[256], destination[16];
    bool found = false;

    if (!table)
        return false;
    while (!found && fgets(line, sizeof line, table))
        found = sscanf(line, "%15s %15s", device, destination) == 2 &&
                strcmp(destination, "00000000") == 0;
    (void)fclose(table);
    return found;
}

static bool is_candidate(const struct ifaddrs *each)
{
    return each->ifa_addr && each->ifa_addr->sa_family == AF_INET &&
           (each->ifa_flags & IFF_UP) && !(each->ifa_flags & IFF_LOOPBACK);
}

static void take(const struct ifaddrs *each, struct lan *out)
{
    struct sockaddr_in address;

    memcpy(&address, each->ifa_addr, sizeof address);
    (void)inet_ntop(AF_INET, &address.sin_addr, out->host, sizeof out->host);
    (void)snprintf(out->device, sizeof out->device, "%s", each->ifa_name);
}

enum status lan_find(struct lan *out, struct why *why)
{
    char device[LAN_DEVICE_BYTES] = "", bytes[200];
    bool routed = default_device(device);
    struct ifaddrs *all = NULL;
    unsigned count = 0, chosen = 0;
    struct lan each;
    struct text names;

    text_init(&names, bytes, sizeof bytes);
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        if (!is_candidate(one))
            continue;
        take(one, &each);
        text_add(&names, "%s%s (%s)", count++ ? ", " : "", each.host,
                 each.device);
        if (!chosen || (routed && strcmp(each.device, device) == 0))
            *out = each;
        chosen = 1;
    }
    freeifaddrs(all);
    if (count == 1 || (count && routed && strcmp(out->device, device) == 0))
        return STATUS_OK;
    if (!count)
        return because(why, STATUS_CONFIG,
                       "this machine is on no network: without --lan the hub "
                       "listens to nodes on this machine");
    return because(why, STATUS_CONFIG,
                   "this machine has several addresses, %s: choose one with "
                   "--listen, beside --lan",
                   bytes);
}

unsigned lan_list(struct lan out[LAN_MOST])
{
    struct ifaddrs *all = NULL;
    unsigned count = 0;

    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *one = all; one && count < LAN_MOST;
         one = one->ifa_next)
        if (is_candidate(one))
            take(one, &out[count++]);
    freeifaddrs(all);
    return count;
}
