#include "net/hubs.h"

#include <string.h>

static enum status add(struct hubs *hubs, const struct endpoint *endpoint,
                       struct why *why)
{
    enum status status = address_to_reach(endpoint->host, endpoint->port,
                                          &hubs->list[hubs->count], why);

    hubs->count += status == STATUS_OK;
    return status;
}

enum status hubs_open(struct hubs *hubs, const struct net_config *config,
                      nanos now, struct why *why)
{
    const struct endpoints *all = &config->hubs;
    enum status status = STATUS_OK;

    memset(hubs, 0, sizeof *hubs);
    hubs->lost_at = now;
    if (!all->count) {
        struct endpoint only = {.port = config->port};

        memcpy(only.host, config->host, sizeof only.host);
        return add(hubs, &only, why);
    }
    for (unsigned i = 0; i < all->count; i++) {
        enum status each = add(hubs, &all->list[i], why);

        status = each == STATUS_OK ? status : each;
    }
    return hubs->count ? STATUS_OK : status;
}

const struct address *hubs_address(const struct hubs *hubs)
{
    return &hubs->list[hubs->at];
}

/* A hub that wants keys will not change its mind. */
static unsigned refusals(const struct net_channel *control)
{
    return control->hindered[HINDRANCE_REFUSES_KEY] +
           (control->hindered[HINDRANCE_WANTS_KEY] ? (unsigned)REFUSALS_BELIEVED
                                                   : 0);
}

bool hubs_move_on(struct hubs *hubs, nanos now,
                  const struct net_channel *control)
{
    nanos patience = HUB_PATIENCE;

    if (net_channel_is_served(control)) {
        hubs->lost_at = NEVER;
        memset(hubs->refused, 0, sizeof hubs->refused);
    }
    if (net_channel_is_connected(control))
        return false;
    if (hubs->lost_at == NEVER)
        hubs->lost_at = now;
    /* One that refuses is asked until that is sure. */
    if ((refusals(control) + control->hindered[HINDRANCE_UNPROVED]) %
        REFUSALS_BELIEVED)
        patience *= 2;
    if (hubs->count < 2 || now - hubs->lost_at < patience)
        return false;
    hubs->lost_at = now;
    hubs->at = (hubs->at + 1) % hubs->count;
    return true;
}

bool hubs_all_refuse(const struct hubs *hubs)
{
    for (unsigned i = 0; i < hubs->count; i++)
        if (hubs->refused[i] < REFUSALS_BELIEVED)
            return false;
    return true;
}

const char *hubs_refuse(struct hubs *hubs, const struct net_channel *control)
{
    if (hubs->ended || net_channel_is_connected(control) ||
        (control->met && !control->plan.keys))
        return NULL;
    hubs->refused[hubs->at] = refusals(control);
    if (!hubs_all_refuse(hubs))
        return NULL;
    hubs->ended = true;
    return control->plan.keys
               ? "the hub does not let in this node's key: it is revoked, or "
                 "its key for nodes has been replaced; who runs it can "
                 "enroll this node"
               : "the hub lets in keys only, and this node has none: give it "
                 "--key-file; starswitch-hub keygen makes that file";
}
