/* net_run: collects events, steps the machine, carries out its effects. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "net/driver.h"

#define TICK_INTERVAL (100 * MILLISECOND)
/* A node says HELLO at once and again after 3 s; a hub answers at once. */
#define MUTE_FOR (5 * SECOND)

/* What is taken per turn, so that control is never long behind the rest. */
enum { CONTROL_BATCH = 64, BULK_BATCH = 16, JOB_BATCH = 64 };

static struct net_channel *channel_of(struct net *net, peer_id peer)
{
    return &net->channels[peer % NET_CHANNELS];
}

/* A machine notes an offence and then drops whose it is: that is held against
 * it, once, as an offence that the driver sees. */
static void count_offence(struct net *net, nanos now)
{
    bool offence = false;

    for (unsigned i = 0; i < net->effects.count; i++) {
        const struct effect *effect = &net->effects.list[i];

        offence |=
            effect->kind == EFFECT_NOTE && effect->note.kind == NOTE_OFFENCE;
        if (offence && effect->kind == EFFECT_DROP &&
            net_channel_add_score(channel_of(net, effect->peer), now,
                                  effect->peer))
            return;
    }
}

static void carry_out(struct net *net, nanos now, struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SEND:
        if (effect->peer != PEER_TRAINER)
            net_channel_send(channel_of(net, effect->peer), effect->peer,
                             &effect->msg, effect->payload);
        else if (net->owner.local)
            net->owner.local(net->owner.self, &effect->msg, effect->payload);
        break;
    case EFFECT_DROP:
        net_channel_drop(channel_of(net, effect->peer), now, effect->peer);
        break;
    case EFFECT_JOB:
        workers_give(net->workers, effect->job);
        effect->job = NULL;
        break;
    case EFFECT_NOTE:
        if (net->owner.note)
            net->owner.note(net->owner.self, now, &effect->note);
        break;
    case EFFECT_KINDS:
        break;
    }
}

/* A hub's notes say whose doing it was. */
static void address_notes(struct net *net, const struct origin *from)
{
    for (unsigned i = 0; from && !net->hubs.count && i < net->effects.count;
         i++)
        if (net->effects.list[i].kind == EFFECT_NOTE)
            origin_print_host(from, net->effects.list[i].note.address);
}

/* Steps the machine by what has come `from` somewhere, or NULL. Effects only
 * change tables: what they lead to, such as the LEAVE of a peer that is gone,
 * is for settle(). */
static void step(struct net *net, struct event *event,
                 const struct origin *from)
{
    event->now = net_now();
    net->machine.step(net->machine.self, event, &net->effects);
    if (net->owner.watch)
        net->owner.watch(net->owner.self, event, &net->effects);
    count_offence(net, event->now);
    address_notes(net, from);
    for (unsigned i = 0; i < net->effects.count; i++)
        carry_out(net, event->now, &net->effects.list[i]);
    effects_clear(&net->effects);
    job_destroy(&event->job);
}

static void settle(struct net *net)
{
    struct event event = {0};

    for (unsigned i = 0; i < NET_CHANNELS; i++)
        while (net_channel_change(&net->channels[i], net_now(), &event))
            step(net, &event, &net->channels[i].changed);
}

static void handle(struct net *net, struct event *event)
{
    step(net, event, NULL);
    settle(net);
}

static void hear(struct net *net, struct net_channel *channel,
                 struct heard *heard)
{
    struct event event = {.kind = EVENT_JOIN,
                          .peer = heard->peer,
                          .channel = channel->plan.channel,
                          .key = heard->key};

    if (heard->joins)
        step(net, &event, &heard->origin);
    event.kind = EVENT_MESSAGE;
    event.key = KEY_NONE;
    event.msg = &heard->msg;
    event.payload = heard->payload;
    /* the machine may have dropped it */
    if (net_channel_hears(channel, heard->peer))
        step(net, &event, &heard->origin);
    blob_unref(&heard->payload);
}

static void read_channel(struct net *net, enum channel which, unsigned batch)
{
    struct net_channel *channel = &net->channels[which];
    enum hearing hearing = HEARD_NOISE;

    for (unsigned i = 0; hearing != HEARD_NOTHING; i++) {
        struct heard heard;

        if (i == batch) {
            bell_ring(&net->bell); /* there may be more */
            return;
        }

        hearing = net_channel_receive(channel, net_now(), &heard);
        if (hearing == HEARD_MESSAGE)
            hear(net, channel, &heard);
        settle(net);
    }
}

static void read_mailbox(struct net *net)
{
    struct letter *letter = mailbox_drain(&net->mailbox);

    while (letter) {
        struct letter *next = letter->next;
        struct event event = {.kind = EVENT_MESSAGE,
                              .peer = PEER_TRAINER,
                              .channel = CHANNEL_LOCAL,
                              .msg = &letter->msg,
                              .payload = letter->payload};

        handle(net, &event);
        letter_destroy(&letter);
        letter = next;
    }
}

static void collect_jobs(struct net *net)
{
    for (unsigned i = 0; i < JOB_BATCH; i++) {
        struct event event = {.kind = EVENT_DONE,
                              .job = workers_pop(net->workers)};

        if (!event.job)
            return;
        handle(net, &event);
    }
    bell_ring(&net->bell); /* there may be more */
}

static void wake(struct net *net)
{
    struct event event = {.kind = EVENT_WAKE};

    if (net->machine.deadline(net->machine.self) <= net_now())
        handle(net, &event);
}

/* Whether there was a signal. */
static bool read_signals(struct net *net)
{
    bool any = false;
    int number;

    while ((number = signals_next(&net->signals)) != 0) {
        any = true;
        if (net->owner.signal)
            net->owner.signal(net->owner.self, number);
    }
    return any;
}

/* Tells the machine that it is sent away, as a hub would that let us in. */
static void send_away(struct net *net, const char *words)
{
    struct msg bye = {.kind = MSG_BYE, .bye.farewell = FAREWELL_KEY};
    struct event event = {
        .kind = EVENT_JOIN, .peer = PEER_CONTROL, .channel = CHANNEL_CONTROL};

    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%s", words);
    step(net, &event, NULL);
    event.kind = EVENT_MESSAGE;
    event.msg = &bye;
    step(net, &event, NULL);
    event.kind = EVENT_LEAVE;
    event.msg = NULL;
    step(net, &event, NULL);
}

/* Whether who takes our handshake has left our HELLO without an answer, as any
 * ROUTER of ZeroMQ would that is no hub. Only time in which we looked counts:
 * this PC may have been busy or asleep. */
static bool is_mute(struct net *net, nanos now)
{
    const struct net_channel *control = &net->channels[CHANNEL_CONTROL];
    nanos span = now - net->looked;

    net->looked = now;
    net->mute += span < 2 * TICK_INTERVAL ? span : 2 * TICK_INTERVAL;
    if (!net_channel_is_connected(control) || net_channel_is_served(control))
        net->mute = 0;
    return net->mute >= MUTE_FOR;
}

/* Whether the hub's first port takes us, and its second one never: then it may
 * be the second that we were given as the first, which says nothing to us. */
static bool is_halved(struct net *net)
{
    const struct net_channel *control = &net->channels[CHANNEL_CONTROL];
    unsigned failed = net->channels[CHANNEL_BULK].trouble.times;

    if (!control->met || control->trouble.hindrance ||
        failed < net->bulk_failed)
        net->bulk_failed = failed;
    return failed >= net->bulk_failed + REFUSALS_BELIEVED;
}

/* What is wrong though the first port takes us. */
static void compare_ports(struct net *net, nanos now)
{
    const struct net_channel *control = &net->channels[CHANNEL_CONTROL];
    bool mute = is_mute(net, now), halved = is_halved(net);

    net->half = (struct net_trouble){.times = REFUSALS_BELIEVED,
                                     .port = control->plan.address.port};
    if (mute)
        net->half.hindrance = HINDRANCE_MUTE;
    else if (halved && net_channel_is_served(control))
        net->half.hindrance = HINDRANCE_NO_BULK;
    (void)snprintf(net->half.host, sizeof net->half.host, "%.255s",
                   control->plan.address.host);
}

/* A node that cannot reach its hub looks for another. */
static void seek(struct net *net, nanos now)
{
    const struct net_channel *control = &net->channels[CHANNEL_CONTROL];
    struct address address;
    const char *refused;

    compare_ports(net, now);
    refused = hubs_refuse(&net->hubs, control);
    if (refused)
        send_away(net, refused);
    if (!hubs_move_on(&net->hubs, now, control))
        return;
    address = *hubs_address(&net->hubs);
    net_channel_move(&net->channels[CHANNEL_CONTROL], now, &address);
    address = address_behind(&address);
    net_channel_move(&net->channels[CHANNEL_BULK], now, &address);
}

/* What a hub does for its safety. */
static void look_after(struct net *net, nanos now)
{
    admission_tell(&net->admission, now);
    if (!net->admission.look_anew)
        return;
    net->admission.look_anew = false;
    for (unsigned i = 0; i < NET_CHANNELS; i++)
        net_channel_sweep(&net->channels[i], now);
}

static void tick(struct net *net, bool at_once)
{
    nanos now = net_now();

    if (!at_once && now < net->next_tick)
        return;
    net->next_tick = now + TICK_INTERVAL;
    if (net->hubs.count)
        seek(net, now);
    else
        look_after(net, now);
    settle(net);
    if (net->owner.tick && !net->owner.tick(net->owner.self, now))
        atomic_store(&net->stopping, true);
}

/* Milliseconds until something is due, at most until the next tick. */
static int patience(const struct net *net)
{
    nanos due =
        time_earlier(net->next_tick, net->machine.deadline(net->machine.self));
    nanos now = net_now();

    for (unsigned i = 0; i < NET_CHANNELS; i++)
        due = time_earlier(due, net_channel_deadline(&net->channels[i]));
    return due <= now ? 0 : (int)((due - now + MILLISECOND - 1) / MILLISECOND);
}

static void wait_for_something(struct net *net)
{
    struct pollfd items[] = {{.fd = net->bell.fd, .events = POLLIN},
                             {.fd = net->signals.fd, .events = POLLIN}};

    (void)poll(items, 2, patience(net)); /* a descriptor of -1 is left out */
    if (items[0].revents)
        bell_hush(&net->bell);
}

static void turn(struct net *net)
{
    bool signalled;

    wait_for_something(net);
    signalled = read_signals(net);
    settle(net);
    read_channel(net, CHANNEL_CONTROL, CONTROL_BATCH);
    collect_jobs(net);
    read_mailbox(net);
    read_channel(net, CHANNEL_BULK, BULK_BATCH);
    wake(net);
    settle(net);
    tick(net, signalled);
}

void net_run(struct net *net)
{
    struct cores before;

    cores_enter(&net->cores, &before);
    cores_prompt();
    if (net->connects)
        net_connect(net);
    while (!atomic_load(&net->stopping))
        turn(net);
    cores_leave(&before);
}
