/* Who is here: connections, ATTACH, BYE and the view. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "hub/state.h"
#include "policies/pace.h"

unsigned members_live(const struct hub *hub)
{
    return (unsigned)hub->tally.live;
}

/* Who is about to attach trains with the others. At the end of the run those
 * that have made their last offer still count: else the last of all would move
 * the centre as far as all the others together. Who is new and brings nothing
 * to the round of all does not: that would cost the others half of what they
 * bring. */
unsigned members_counted(const struct hub *hub)
{
    unsigned count = 0;

    if (!hub->ending)
        return members_live(hub) + (unsigned)hub->tally.attaching;
    for (int i = 0; i < hub->member_count; i++) {
        const struct member *member = hub->members[i];

        count += (member->present && member->finished) ||
                 (member_live(member) &&
                  (member->open || !gate_gathers(hub) ||
                   !patience_is_shared(hub, member)));
    }
    return count;
}

bool members_return(const struct hub *hub)
{
    for (int i = 0; i < hub->member_count; i++) {
        const struct member *member = hub->members[i];

        if (member->lost && !member->present && !member->finished &&
            !quarantine_holds(member) && member->start == START_GO &&
            hub->now - member->lost < LAST_CALL)
            return true;
    }
    return false;
}

uint64_t members_lag(const struct hub *hub, uint64_t base)
{
    uint64_t behind = hub->version > base ? hub->version - base : 0;
    unsigned live = members_live(hub);

    if (base < hub->back.turned)
        return UINT64_MAX;
    return live && !hub->policy->gate->batch ? behind / live : behind;
}

/* Progress that comes later than that is worth less, and is damped: what a node
 * has learnt alone must not be lost. Gradients and whole sets are of use only
 * where they are of now. */
bool members_may_lag(const struct hub *hub, uint64_t base)
{
    uint64_t lag = members_lag(hub, base), bound = hub->config.staleness;

    return lag <= bound || (lag < UINT64_MAX && bound &&
                            hub->config.policy.exchange == EXCHANGE_DELTA);
}

void member_send(struct hub *hub, struct member *member,
                 const struct msg *msg)
{
    if (member->present)
        effects_send(hub->out, member->control, msg, NULL);
}

static void view_tell(struct hub *hub)
{
    struct msg view = {.kind = MSG_VIEW};
    uint32_t shard = 0;

    hub->view_due = false;
    hub->epoch++;
    view.view.epoch = hub->epoch;
    view.view.members = (uint32_t)hub->tally.present;
    view.view.shards = view.view.members;
    for (int i = 0; i < hub->member_count; i++) {
        if (!hub->members[i]->present)
            continue;
        view.view.shard = shard++;
        member_send(hub, hub->members[i], &view);
    }
}

void view_push(struct hub *hub)
{
    if (hub->tally.present > VIEW_AT_ONCE)
        hub->view_due = true;
    else
        view_tell(hub);
}

void view_tick(struct hub *hub)
{
    if (hub->view_due)
        view_tell(hub);
}

void bye_to(struct hub *hub, peer_id peer, enum farewell farewell,
                   const char *text)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = farewell;
    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%s", text);
    effects_send(hub->out, peer, &bye, NULL);
}

static void peer_free(struct hub *hub, peer_id id)
{
    struct peer *peer = peer_find(hub, id);

    if (peer)
        peer_remove(hub, peer);
}

/* What a former session sent before it knew that it was over. */
void hub_on_stray(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload)
{
    (void)hub;
    (void)peer;
    (void)msg;
    (void)payload;
}

/* Cuts both connections of a member. */
static void member_cut(struct hub *hub, struct member *member)
{
    if (member->control != PEER_NONE)
        effects_drop(hub->out, member->control);
    if (member->bulk != PEER_NONE)
        effects_drop(hub->out, member->bulk);
    peer_free(hub, member->control);
    peer_free(hub, member->bulk);
    member->control = member->bulk = PEER_NONE;
}

void member_forget(struct hub *hub, struct member *member)
{
    delivery_clear(&member->delivery);
    rounds_forget(hub, member->place, VERDICT_LOST, true);
    tasks_lost(hub, member);
    if (hub->founder == member->place)
        hub->founder = -1;
}

void member_gone(struct hub *hub, struct member *member, const char *why,
                 bool clean)
{
    if (!member->present)
        return;
    member->present = false;
    member_cut(hub, member);
    member->lost = clean || member->silent ? 0 : hub->now;
    member_recount(hub, member);
    effects_note(hub->out, clean ? NOTE_LEFT : NOTE_LOST, member->name,
                 "%s after %llu iteration%s", why,
                 (unsigned long long)member->stats.iteration,
                 plural(member->stats.iteration));
    member_forget(hub, member);
    if (clean)
        gift_forget(hub, member);
    view_push(hub);
    gift_choose_founder(hub);
    rounds_advance(hub);
}

void member_offends(struct hub *hub, struct member *member,
                    const char *format, ...)
{
    char what[MSG_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    effects_note(hub->out, NOTE_OFFENCE, member->name, "%s", what);
    gift_forget(hub, member);
    member_gone(hub, member, "cut for an offence", false);
    member->lost = 0;
}

void peer_joins(struct hub *hub, const struct event *event)
{
    bool bulk = event->channel == CHANNEL_BULK;
    struct peer *peer = peer_add(hub, event->peer);

    if (peer) {
        peer->key = event->key;
        peer->state = event->key == KEY_ENROLS ? PEER_ENROLLER
                      : bulk                   ? PEER_STRANGER_BULK
                                               : PEER_STRANGER;
        return;
    }
    effects_note(hub->out, NOTE_REFUSED, "",
                 "too many connections (%u); one was cut", hub->peers.count);
    effects_drop(hub->out, event->peer);
}

/* After the run has ended nodes leave as they should: no news. A lost bulk
 * connection alone may be the first sign of a goodbye, which comes on the
 * other one: it is looked at again after MOURNING. */
void peer_leaves(struct hub *hub, peer_id id)
{
    struct peer *peer = peer_find(hub, id);
    int place;

    enrol_leaves(hub, id);
    if (!peer)
        return;
    place = peer->member;
    peer_remove(hub, peer);
    if (place < 0 || hub->ended)
        return;
    if (peer->state == PEER_MEMBER_BULK) {
        hub->members[place]->bulk = PEER_NONE;
        hub->members[place]->bulk_lost = hub->now;
        member_recount(hub, hub->members[place]);
    } else {
        member_gone(hub, hub->members[place], "connection lost", false);
    }
}

/* The speed that others are measured by; 0: it is not known or not wanted. */
static double reference_of(const struct hub *hub)
{
    double *rates, reference;
    unsigned count = 0;

    if (!hub->config.dylu || hub->contest)
        return 0;
    rates = calloc((size_t)hub->member_count, sizeof *rates);
    if (!rates)
        abort();
    for (int i = 0; i < hub->member_count; i++)
        if (member_live(hub->members[i]))
            rates[count++] = hub->members[i]->stats.rate;
    reference = pace_reference(rates, count);
    free(rates);
    return reference;
}

/* k of a node: by its speed, if the run wants that. */
static uint64_t every_of(const struct hub *hub, const struct member *member,
                         double reference)
{
    if (hub->contest)
        return contest_every(hub);
    return pace_steps(member->stats.rate, reference, hub->config.every);
}

/* A node's speed is never quite the same twice. */
static bool is_other(uint64_t now, uint64_t before)
{
    uint64_t apart = now > before ? now - before : before - now;

    return apart * 10 > before;
}

static void member_tune(struct hub *hub, struct member *member,
                        double reference)
{
    struct msg msg = {.kind = MSG_TUNE};

    member->every = msg.tune.every = every_of(hub, member, reference);
    msg.tune.exchange = hub->policy->exchange;
    msg.tune.fragments = offers_fragments(hub);
    member_send(hub, member, &msg);
}

void members_tune(struct hub *hub)
{
    double reference = reference_of(hub);

    for (int i = 0; i < hub->member_count; i++)
        member_tune(hub, hub->members[i], reference);
}

void members_pace(struct hub *hub)
{
    double reference = reference_of(hub);

    for (int i = 0; hub->config.dylu && i < hub->member_count; i++) {
        struct member *member = hub->members[i];

        if (member_live(member) &&
            is_other(every_of(hub, member, reference), member->every))
            member_tune(hub, member, reference);
    }
}

/* A node does as it is told, and HELLO was before that. Who is to take the
 * centre may or may not have done so: it is as one who has nothing. */
static void member_follows(struct hub *hub, struct member *member)
{
    uint64_t run = hub->config.run;

    if (member->start != START_GO && member->start != START_TAKE)
        return;
    if (member->run != run) {
        member->keeps = 0;
        member->base_version = hub->version;
    }
    member->run = member->start == START_GO ? run : 0;
    member->settled = 1 + member->merged;
    if (member->start == START_TAKE)
        member->lineage = 0;
}

void member_welcome(struct hub *hub, struct member *member)
{
    const struct hub_config *config = &hub->config;
    struct msg msg = {.kind = MSG_WELCOME};

    member_follows(hub, member);
    msg.welcome.protocol = PROTOCOL_MAX;
    msg.welcome.run = config->run;
    msg.welcome.epoch = hub->epoch;
    msg.welcome.session = member->session;
    msg.welcome.lineage = hub->lineage;
    msg.welcome.version = hub->version;
    msg.welcome.origin = hub->recovery.version;
    msg.welcome.merged = member->merged;
    msg.welcome.start = member->start;
    msg.welcome.exchange = hub->policy->exchange;
    member->every = every_of(hub, member, reference_of(hub));
    msg.welcome.every = member->every;
    msg.welcome.delay = config->delay;
    msg.welcome.miss = config->miss;
    msg.welcome.wait = config->wait;
    msg.welcome.chunk_elements = config->chunk_elements;
    msg.welcome.window = flow_most(hub);
    msg.welcome.seed = config->seed;
    msg.welcome.optimizer = config->optimizer;
    msg.welcome.fragments = offers_fragments(hub);
    msg.welcome.codec = hub->config.codec_up;
    msg.welcome.codec_down = hub->config.codec_down;
    msg.welcome.anchor = hub->policy->numbers.anchor;
    member_send(hub, member, &msg);
}

void member_start(struct hub *hub, struct member *member, enum start start)
{
    member->start = start;
    member_recount(hub, member);
    member_welcome(hub, member);
    if (start != START_TAKE)
        return;
    member->takes = true;
    member->taken = hub->version;
    /* It drops what it has offered when it takes the centre. */
    rounds_forget(hub, member->place, VERDICT_SUPERSEDED, true);
}

void hub_on_attach(struct hub *hub, struct peer *peer, const struct msg *msg,
                   struct blob *payload)
{
    struct member *member = member_of_session(hub, msg->attach.session);

    (void)payload;
    if (!member || !member->present || member->bulk != PEER_NONE ||
        !key_attaches(hub, peer, member)) {
        effects_drop(hub->out, peer->id);
        peer_remove(hub, peer);
        return;
    }
    member->bulk = peer->id;
    member->doubt.unattached = false;
    member_recount(hub, member);
    peer->state = PEER_MEMBER_BULK;
    peer->member = member->place;
    delivery_attach(hub, member);
    gift_choose_founder(hub);
    rounds_advance(hub);
}

void hub_on_bye(struct hub *hub, struct peer *peer, const struct msg *msg,
                struct blob *payload)
{
    (void)payload;
    member_gone(hub, hub_member(hub, peer),
                farewell_words[msg->bye.farewell].doc, true);
    finish_judge(hub);
}
