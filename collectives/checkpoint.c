/* Checkpoints of a patient group: who must come to one, who has the model, and
 * how a member that was lost gets it. */
#include <stdio.h>

#include "collectives/inside.h"

/* Whether it has the model of this version, or has nothing to have. */
static bool holds(const struct coordinator *coordinator,
                  const struct member *member)
{
    bool loading =
        member->calling && member->request.collective == COLLECTIVE_LOAD;

    return member->present && member->version == coordinator->version &&
           !(loading && coordinator->version);
}

/* One that is away may still be at work on this version. One that has come
 * back without it does not belong to it, and loads what follows. */
bool checkpoint_all_here(const struct coordinator *coordinator,
                         const struct call *call)
{
    bool somebody = false;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        const struct member *member = &coordinator->members[i];

        if (!member->listed)
            continue;
        if (!member->present ||
            (holds(coordinator, member) && member->call != call))
            return false;
        somebody |= member->call == call;
    }
    return somebody;
}

bool checkpoint_choose_source(struct coordinator *coordinator,
                              struct call *call)
{
    if (call->ready == call->count)
        return false;
    if (call->source >= 0) {
        int place = call->participants[call->source].member;

        if (place >= 0 && coordinator->members[place].call == call)
            return true;
    }
    for (unsigned i = 0; i < call->size; i++) {
        struct participant *participant = &call->participants[i];

        if (participant->member < 0 ||
            coordinator->members[participant->member].call != call)
            continue;
        call->source = (int)i;
        participant_open(coordinator,
                         &coordinator->members[participant->member], call,
                         participant);
        break;
    }
    return true;
}

/* ---- keeping ---- */

static void forget_fetching(struct coordinator *coordinator)
{
    if (coordinator->fetch)
        coordinator->fetch->retired = true;
    coordinator->fetch = NULL;
    coordinator->holder = -1;
}

static bool is_loading(const struct member *member)
{
    return member->calling && !member->call &&
           member->request.collective == COLLECTIVE_LOAD;
}

static void serve_all(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (is_loading(&coordinator->members[i]))
            checkpoint_load(coordinator, &coordinator->members[i]);
}

void checkpoint_commit(struct coordinator *coordinator, struct call *call)
{
    coordinator->version++;
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].call == call)
            coordinator->members[i].version = coordinator->version;
    forget_fetching(coordinator);
    for (struct call *old = coordinator->calls; old; old = old->next)
        old->retired = true;
    coordinator->checkpoint =
        call->spec.collective == COLLECTIVE_LAZY ? NULL : call;
    serve_all(coordinator);
}

/* ---- fetching what the members keep ---- */

static bool somebody_loads(const struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (is_loading(&coordinator->members[i]))
            return true;
    return false;
}

static void nobody_has_it(struct coordinator *coordinator)
{
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text,
                   "version %llu was kept by its members only, and they are "
                   "all lost",
                   (unsigned long long)coordinator->version);
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (is_loading(&coordinator->members[i]))
            member_told(coordinator, &coordinator->members[i], ENDING_ABORT,
                        text);
}

void checkpoint_look(struct coordinator *coordinator)
{
    struct msg msg = {.kind = MSG_SERVE};

    if (coordinator->holder >= 0 &&
        !holds(coordinator, &coordinator->members[coordinator->holder]))
        forget_fetching(coordinator);
    if (coordinator->manner != MANNER_PATIENT || coordinator->checkpoint ||
        !coordinator->version || coordinator->holder >= 0 ||
        !somebody_loads(coordinator))
        return;
    for (unsigned i = 0; i < coordinator->size && coordinator->holder < 0; i++)
        if (holds(coordinator, &coordinator->members[coordinator->roster[i]]))
            coordinator->holder = coordinator->roster[i];
    if (coordinator->holder < 0) {
        nobody_has_it(coordinator);
        return;
    }
    msg.serve.version = coordinator->version;
    effects_send(coordinator->out,
                 coordinator->members[coordinator->holder].control, &msg, NULL);
}

void checkpoint_load(struct coordinator *coordinator, struct member *member)
{
    if (!coordinator->version) {
        member_told(coordinator, member, ENDING_SUCCESS, "");
    } else if (coordinator->checkpoint) {
        member->takes = true;
        member->version = coordinator->version;
        call_attend(coordinator, member, coordinator->checkpoint);
    } else {
        checkpoint_look(coordinator);
    }
}

void checkpoint_on_model(struct coordinator *coordinator, struct member *member,
                         const struct msg_call *spec)
{
    int place = (int)(member - coordinator->members);
    struct participant *participant;

    if (place != coordinator->holder || coordinator->fetch ||
        spec->era != coordinator->version || !spec->bytes)
        return;
    if (!coordinator_has_room(coordinator, spec->bytes)) {
        for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
            if (is_loading(&coordinator->members[i]))
                member_told(coordinator, &coordinator->members[i], ENDING_ABORT,
                            "the model is more than the hub keeps");
        return;
    }
    coordinator->fetch = call_new(coordinator, spec, member->name);
    coordinator->fetch_number = spec->number;
    coordinator->fetch->source = (int)member_rank(coordinator, member);
    participant = &coordinator->fetch->participants[coordinator->fetch->source];
    (void)participant_fill(coordinator, coordinator->fetch, participant, spec);
    results_lay(coordinator, coordinator->fetch);
    participant_open(coordinator, member, coordinator->fetch, participant);
}

void checkpoint_fetched(struct coordinator *coordinator, struct call *call)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = coordinator->fetch_number;
    msg.outcome.version = coordinator->version;
    msg.outcome.size = coordinator->size;
    effects_send(coordinator->out,
                 coordinator->members[coordinator->holder].control, &msg, NULL);
    coordinator->checkpoint = call;
    coordinator->fetch = NULL;
    coordinator->holder = -1;
    serve_all(coordinator);
}
