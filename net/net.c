#include "net/net.h"

#include <stdlib.h>
#include <string.h>

#include "net/driver.h"
#include "net/trouble.h"

static struct net *net_new(struct machine machine, struct pool *pool,
                           const struct net_owner *owner)
{
    struct net *net = calloc(1, sizeof *net);

    if (!net)
        return NULL;
    if (!mailbox_init(&net->mailbox, &net->bell)) {
        mailbox_free(&net->mailbox);
        free(net);
        return NULL;
    }
    net->machine = machine;
    net->pool = pool;
    net->owner = *owner;
    net->signals.fd = net->bell.fd = -1;
    atomic_init(&net->stopping, false);
    admission_init(&net->admission, &net->owner);
    return net;
}

void net_close(struct net **reference)
{
    struct net *net = *reference;

    *reference = NULL;
    if (!net)
        return;
    workers_destroy(&net->workers);
    for (unsigned i = 0; i < NET_CHANNELS; i++)
        net_channel_stop(&net->channels[i]);
    for (unsigned i = 0; i < NET_CHANNELS; i++)
        net_channel_close(&net->channels[i]);
    admission_free(&net->admission);
    explicit_bzero(&net->keys, sizeof net->keys);
    mailbox_free(&net->mailbox);
    effects_free(&net->effects);
    signals_close(&net->signals);
    bell_free(&net->bell);
    free(net);
}

static enum status open_channels(struct net *net,
                                 const struct net_config *config, bool binds,
                                 struct why *why)
{
    struct address control;
    enum status status;

    if (binds)
        status = address_to_bind(config->host, config->port, &control, why);
    else
        status = hubs_open(&net->hubs, config, net_now(), why);
    net->admission.keyed = binds && net->keys.on;
    if (!binds)
        control = *hubs_address(&net->hubs);
    for (unsigned i = 0; i < NET_CHANNELS && status == STATUS_OK; i++) {
        struct channel_plan plan =
            channel_plan(config, (enum channel)i, binds, &control,
                         net->keys.on ? &net->keys : NULL);

        status = net_channel_open(&net->channels[i], &plan, net->pool,
                                  &net->admission, &net->bell, why);
    }
    if (status == STATUS_OK && !binds)
        trouble_look_up(&net->channels[CHANNEL_CONTROL].trouble, &control);
    return status;
}

static enum status open_parts(struct net *net, const struct net_config *config,
                              bool binds, struct why *why)
{
    enum status status = bell_init(&net->bell, why);

    if (status == STATUS_OK)
        status = signals_open(&net->signals, &config->signals, why);
    if (status != STATUS_OK)
        return status;
    status = open_channels(net, config, binds, why);
    if (status == STATUS_OK)
        status = workers_new(config->workers, &net->bell, &net->workers, why);
    return status;
}

static enum status net_open(const struct net_config *config, bool binds,
                            struct net *net, struct net **out, struct why *why)
{
    enum status status;
    struct cores before;

    if (!net)
        return because(why, STATUS_NO_MEMORY, "no memory for a network loop");
    net->cores = config->cores;
    net->connects = !binds && !config->held;
    net->keys = config->keys;
    cores_enter(&net->cores, &before);
    status = open_parts(net, config, binds, why);
    cores_leave(&before);
    if (status == STATUS_OK)
        *out = net;
    else
        net_close(&net);
    return status;
}

enum status net_open_hub(const struct net_config *config,
                         struct machine machine, struct pool *pool,
                         const struct net_owner *owner, struct net **net,
                         struct why *why)
{
    return net_open(config, true, net_new(machine, pool, owner), net, why);
}

enum status net_open_node(const struct net_config *config,
                          struct machine machine, struct pool *pool,
                          const struct net_owner *owner, struct net **net,
                          struct why *why)
{
    return net_open(config, false, net_new(machine, pool, owner), net, why);
}

const char *net_refusal_name(enum net_refusal refusal)
{
    static const char *const names[] = {
#define REFUSAL(NAME, name, words) name,
#include "net/refusals.def"
#undef REFUSAL
    };

    return names[refusal];
}

const struct net_trouble *net_trouble(const struct net *net)
{
    return net->half.hindrance ? &net->half
                               : &net->channels[CHANNEL_CONTROL].trouble;
}

void net_connect(struct net *net)
{
    for (unsigned i = 0; i < NET_CHANNELS; i++) {
        struct net_channel *channel = &net->channels[i];

        if (channel->plan.held)
            station_connect(channel->station, &channel->plan.address);
        channel->plan.held = false;
    }
    net->hubs.lost_at = net_now();
}

void net_limit(struct net *net, size_t chunk_bytes)
{
    net_channel_limit(&net->channels[CHANNEL_BULK],
                      plan_bulk_bytes(chunk_bytes));
}

void net_allow(struct net *net, const struct key *keys, unsigned count,
               const struct key *enrolment)
{
    if (!net->admission.keyed)
        return;
    allowed_keys_set(&net->admission.allowed, keys, count, enrolment);
    for (unsigned i = 0; i < NET_CHANNELS; i++)
        net_channel_sweep(&net->channels[i], net_now());
}

const struct net_refusals *net_refusals(const struct net *net)
{
    return &net->admission.refusals;
}

void net_stop(struct net *net)
{
    atomic_store(&net->stopping, true);
    bell_ring(&net->bell);
}

nanos net_stalled(const struct net *net, nanos now)
{
    return workers_stalled(net->workers, now);
}

bool net_post(struct net *net, const struct msg *msg, struct blob *payload)
{
    return mailbox_post(&net->mailbox, msg, payload);
}
