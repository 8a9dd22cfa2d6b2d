#include "node/program/find.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keys/invitation.h"
#include "net/beacon/beacon.h"

/* Milliseconds. A hub announces itself twice a second. */
enum { PATIENCE = 2400, FURTHER = 700, LISTED = 3 };

enum { ADDRESS = ENDPOINT_HOST_BYTES + 16 };

/* Whether somebody listens on this PC's default port. Nobody is bothered for
 * that: an address cannot be bound while it is listened on. */
static bool is_here(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(DEFAULT_PORT),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool taken;

    if (file < 0)
        return true;
    (void)setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    taken = bind(file, (struct sockaddr *)&address, sizeof address) != 0;
    (void)close(file);
    return taken;
}

/* Its address, as --hub takes it. */
static const char *address(const struct beacon_hub *hub, char bytes[ADDRESS])
{
    struct text text;

    text_init(&text, bytes, ADDRESS);
    endpoint_print(&hub->at, &text);
    return bytes;
}

/* Keeps those whose key is the one that this node has been given. */
static enum status keep_known(const struct options *options,
                              struct beacon_hub *hubs, unsigned *count,
                              struct why *why)
{
    uint8_t fingerprint[BEACON_FINGERPRINT_BYTES];
    struct invitation invitation;
    unsigned kept = 0;
    char at[ADDRESS];
    enum status status;

    if (!options->key[0])
        return STATUS_OK;
    status = invitation_read(options->key, &invitation, why);
    if (status != STATUS_OK)
        return status;
    beacon_fingerprint(&invitation.hub, fingerprint);
    invitation_wipe(&invitation);
    for (unsigned i = 0; i < *count; i++)
        if (hubs[i].keyed &&
            memcmp(hubs[i].fingerprint, fingerprint, sizeof fingerprint) == 0)
            hubs[kept++] = hubs[i];
    if (!kept && *count)
        return because(why, STATUS_CONFIG,
                       "a hub announces itself at %.70s, and the key is "
                       "not that hub's: take the key that starswitch-hub "
                       "keygen prints there, or say where the hub is, --hub",
                       address(&hubs[0], at));
    *count = kept;
    return STATUS_OK;
}

static enum status several(const struct beacon_hub *hubs, unsigned count,
                           struct why *why)
{
    char list[LISTED * 64], at[ADDRESS];
    struct text text;

    text_init(&text, list, sizeof list);
    for (unsigned i = 0; i < count && i < LISTED; i++)
        text_add(&text, "%s%.40s", i ? ", " : "", address(&hubs[i], at));
    return because(why, STATUS_CONFIG,
                   "%u hubs announce themselves on this network: %s%s; choose "
                   "one with --hub",
                   count, list, count > LISTED ? " and more" : "");
}

enum status main_find_hub(struct options *options, struct why *why)
{
    struct beacon_hub hubs[BEACON_MOST];
    char at[ADDRESS];
    enum status status;
    unsigned count;

    if (options->given.hubs || is_here())
        return STATUS_OK;
    count = beacon_find(hubs, PATIENCE, FURTHER);
    status = keep_known(options, hubs, &count, why);
    if (status != STATUS_OK)
        return status;
    if (count > 1)
        return several(hubs, count, why);
    if (count) {
        options->hubs.list[0] = hubs[0].at;
        options->hubs.count = 1;
        (void)fprintf(stderr, "found the hub of run %016llx at %s\n",
                      (unsigned long long)hubs[0].run, address(&hubs[0], at));
    } else {
        (void)fprintf(stderr,
                      "no hub listens on this PC or announces itself "
                      "on its network: say where it is with --hub HOST; until "
                      "then this node trains alone, and looks for it here\n");
    }
    return STATUS_OK;
}
