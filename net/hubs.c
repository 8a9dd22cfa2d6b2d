#include "net/hubs.h"

#include <stdio.h>
#include <string.h>

static enum status add(struct hubs *hubs, const struct endpoint *endpoint,
                       struct why *why)
{
    enum status status =
        address_to_reach(endpoint->host, endpoint->port,
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

static unsigned refusals(const struct lane *control)
{
    return control->ends[SIGHT_REFUSED] +
           (control->plan.keys ? 0 : control->ends[SIGHT_MISMATCH]);
}

bool hubs_move_on(struct hubs *hubs, nanos now, const struct lane *control)
{
    if (lane_is_connected(control)) {
        hubs->lost_at = NEVER;
        hubs->before = 0;
        return false;
    }
    if (hubs->lost_at == NEVER)
        hubs->lost_at = now;
    if (hubs->count < 2 || now - hubs->lost_at < HUB_PATIENCE)
        return false;
    hubs->lost_at = now;
    hubs->before += refusals(control);
    hubs->at = (hubs->at + 1) % hubs->count;
    return true;
}

const char *hubs_refuse(struct hubs *hubs, const struct lane *control)
{
    if (hubs->refused || lane_is_connected(control) ||
        hubs->before + refusals(control) < REFUSALS_BELIEVED * hubs->count)
        return NULL;
    hubs->refused = true;
    return control->plan.keys
               ? "the hub refuses this node's key: enrol it with the line "
                 "that the hub prints"
               : "the hub lets in keys only, and this node has none: enrol it "
                 "with the line that the hub prints";
}

bool hubs_note(struct hubs *hubs, const struct lane *control,
               struct note *out)
{
    const struct address *address = hubs_address(hubs);
    unsigned failures =
        control->ends[SIGHT_BROKEN] + control->ends[SIGHT_MISMATCH];

    if (!control->plan.keys || failures < REFUSALS_BELIEVED ||
        hubs->told[hubs->at])
        return false;
    hubs->told[hubs->at] = true;
    memset(out, 0, sizeof *out);
    out->kind = NOTE_UNPROVED;
    (void)snprintf(out->text, sizeof out->text,
                   "the hub at %.80s:%u does not prove the key that --key "
                   "names: is it the right one, and was it started with keys?",
                   address->host, address->port);
    return true;
}
