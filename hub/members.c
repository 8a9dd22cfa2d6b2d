/* Who is here: connections, ATTACH, BYE and the view. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"
#include "policies/pace.h"

/* Who is about to attach trains with the others. At the end of the run those
 * that have made their last offer still count: else the last of all would move
 * the centre as far as all the others together. Who is new and brings nothing
 * to the round of all does not: that would cost the others half of what they
 * bring. */
unsigned members_counted(const struct hub *hub)
{
    unsigned count = 0;

    if (!run_is_ending(hub))
        return members_live(hub) + (unsigned)hub->roll.tally.attaching;
    EACH_MEMBER(hub, member) {
        count +=
            (member_is_here(member) && member->finished) ||
            (member_live(member) && (member->in_rounds || !gate_gathers(hub) ||
                                     !patience_is_shared(hub, member)));
    }
    return count;
}

static void view_tell(struct hub *hub)
{
    struct msg view = {.kind = MSG_VIEW};
    uint32_t shard = 0;

    hub->roll.view_due = false;
    hub->roll.epoch++;
    view.view.epoch = hub->roll.epoch;
    view.view.members = (uint32_t)hub->roll.tally.present;
    view.view.shards = view.view.members;
    EACH_HERE(hub, member) {
        view.view.shard = shard++;
        member_send(hub, member, &view);
    }
}

void view_tick(struct hub *hub)
{
    if (hub->roll.view_due)
        view_tell(hub);
}

static void peer_free(struct hub *hub, peer_id id)
{
    struct peer *peer = peer_find(hub, id);

    if (peer)
        peer_remove(hub, peer);
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

void member_gone(struct hub *hub, struct member *member, const char *why,
                 bool clean)
{
    bool silent =
        member->state == MEMBER_SILENT && hub->now - member->heard >= LAST_CALL;

    if (!member_is_here(member))
        return;
    member->left = clean;
    member->lost = clean || silent ? 0 : hub->now;
    member->state = MEMBER_AWAY;
    member_cut(hub, member);
    member_recount(hub, member);
    effects_note(hub->out, clean ? NOTE_LEFT : NOTE_LOST, member->name,
                 "%s after %llu iteration%s", why,
                 (unsigned long long)member->iteration,
                 plural(member->iteration));
    member_changes(hub, member, CHANGE_LOST);
    if (clean)
        member_changes(hub, member, CHANGE_LEFT);
}

void member_offends(struct hub *hub, struct member *member, const char *format,
                    ...)
{
    char what[MSG_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    effects_note(hub->out, NOTE_OFFENCE, member->name, "%s", what);
    member_changes(hub, member, CHANGE_LEFT);
    member_gone(hub, member, "cut for an offence", false);
    member->lost = 0;
    member_recount(hub, member);
}

/* The speed that others are measured by; 0: it is not wanted. */
static double reference_of(const struct hub *hub)
{
    return hub->config.dylu && !tournament_goes_on(hub) ? reference_speed(hub)
                                                        : 0;
}

/* k and d of a node: by its share of that speed. */
static void member_paces(const struct hub *hub, struct member *member,
                         double share)
{
    member->every = tournament_goes_on(hub)
                        ? tournament_every(hub)
                        : pace_steps(share, hub->adapt.every);
    member->delay = pace_delay(share, hub->adapt.delay);
}

static void member_tune(struct hub *hub, struct member *member, double share)
{
    struct msg msg = {.kind = MSG_TUNE};

    member_paces(hub, member, share);
    msg.tune.every = member->every;
    msg.tune.delay = member->delay;
    msg.tune.exchange = hub->policy->exchange;
    msg.tune.fragments = offers_fragments(hub);
    member_send(hub, member, &msg);
}

void members_tune(struct hub *hub)
{
    double reference = reference_of(hub);

    EACH_MEMBER(hub, member)
        member_tune(hub, member, pace_share(member_speed(member), reference));
}

void members_pace(struct hub *hub)
{
    double reference = reference_of(hub);

    for (int i = 0; reference > 0 && i < hub->roll.count; i++) {
        struct member *member = hub->roll.members[i];
        double share = pace_share(member_speed(member), reference);

        if (member_is_here(member) && member->start == START_GO &&
            pace_differs(share, hub->adapt.every, member->every))
            member_tune(hub, member, share);
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
        member->base_version = hub->centre.version;
    }
    member->run = member->start == START_GO ? run : 0;
    if (member->start == START_TAKE)
        member->lineage = 0;
}

void member_welcome(struct hub *hub, struct member *member)
{
    const struct hub_config *config = &hub->config;
    struct msg msg = {.kind = MSG_WELCOME};

    member_follows(hub, member);
    msg.welcome.protocol = member->protocol;
    msg.welcome.run = config->run;
    msg.welcome.epoch = hub->roll.epoch;
    msg.welcome.session = member->session;
    msg.welcome.lineage = hub->centre.lineage;
    msg.welcome.version = hub->centre.version;
    msg.welcome.origin = hub->memory.recovery.version;
    msg.welcome.merged = member->merged;
    msg.welcome.start = member->start;
#define TELL_HUB(name)
#define TELL_CONFIG(name) msg.welcome.name = config->name;
#define SETTING(type, name, limit, source, change, reader, doc)                \
    TELL_##source(name)
#include "codec/settings.def"
#undef SETTING
#undef TELL_HUB
#undef TELL_CONFIG
    msg.welcome.exchange = hub->policy->exchange;
    member_paces(hub, member,
                 pace_share(member_speed(member), reference_of(hub)));
    msg.welcome.every = member->every;
    msg.welcome.delay = member->delay;
    msg.welcome.chunk_elements = config->chunk_elements;
    msg.welcome.window = flow_most(hub);
    msg.welcome.fragments = offers_fragments(hub);
    msg.welcome.codec = config->codec_up;
    msg.welcome.codec_down = config->codec_down;
    msg.welcome.anchor = hub->policy->numbers.anchor;
    member_send(hub, member, &msg);
}

void member_start(struct hub *hub, struct member *member, enum start start)
{
    assert(member->state != MEMBER_NOBODY);
    member->start = start;
    member_recount(hub, member);
    member_welcome(hub, member);
    if (start != START_TAKE)
        return;
    member->takes = true;
    member->taken = hub->centre.version;
    member_changes(hub, member, CHANGE_TAKES);
}
