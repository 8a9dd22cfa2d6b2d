/* libstarswitch's groups: coming and going. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/net.h"
#include "node/library/group.h"

/* What was sent last gets out meanwhile. */
#define CLOSING (3 * SECOND)
#define DEFAULT_TIMEOUT 60.0
#define DEFAULT_PATIENCE 1800.0

static void make_client(struct star_group *group)
{
    const struct star_group_options *options = &group->options;
    double patience =
        options->patience > 0 ? options->patience : DEFAULT_PATIENCE;
    bool patient = options->manner == STAR_PATIENT;
    double timeout = options->timeout > 0 ? options->timeout
                     : patient            ? DEFAULT_TIMEOUT + patience
                                          : DEFAULT_TIMEOUT;
    struct client_config config = {
        .name = group->shell.identity.name,
        .high = group->shell.identity.high,
        .low = group->shell.identity.low,
        .manner = patient ? MANNER_PATIENT : MANNER_ELASTIC,
        .active = options->mode == STAR_ACTIVE,
        .size = options->members ? options->members : 1,
        .patience = shell_span(patience)};

    config.incarnation = (uint64_t)net_wall();
    group->timeout = shell_span(timeout);
    group->client = client_new(&config, group->shell.pool);
}

/* ---- the network's thread ---- */

static void say_note(void *self, nanos now, const struct note *note)
{
    const struct star_group *group = self;

    (void)now;
    entry_note(&group->shell.entry, note);
}

/* All that is asked of the group gets this answer. */
static void refused(struct star_group *group, enum farewell farewell,
                    const struct why *why)
{
    struct msg bye = {.kind = MSG_BYE, .bye.farewell = farewell};

    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%.*s",
                   (int)sizeof bye.bye.text - 1, why->text);
    shell_post(&group->shell, &bye, NULL);
}

static bool tick(void *self, nanos now)
{
    struct star_group *group = self;
    struct why why = {""};
    enum enrol_state state =
        entry_tick(&group->shell.entry, group->shell.net, now, &why);

    if (state == ENROL_REFUSED)
        refused(group, FAREWELL_KEY, &why);
    else if (state == ENROL_MISLED)
        refused(group, FAREWELL_PORT, &why);
    return true;
}

/* ---- joining ---- */

static void group_free(void *self)
{
    struct star_group *group = self;

    shell_free(&group->shell);
    client_destroy(&group->client);
    mail_free(group);
    gains_drop(group);
    free(group->gains);
    free(group->loaded);
    pool_destroy(&group->shell.pool);
    free(group);
}

static enum status open_shell(struct star_group *group, const char *hub,
                              struct why *why)
{
    const struct star_group_options *options = &group->options;
    const struct shell_plan plan = {.hub = hub,
                                    .key = options->key,
                                    .identity = options->identity,
                                    .log = options->log,
                                    .context = options->context,
                                    .quiet = options->quiet != 0,
                                    .release = group_free,
                                    .of = group};
    const struct net_owner owner = {
        .self = group, .local = group_local, .note = say_note, .tick = tick};
    enum status status = shell_open(&group->shell, &plan,
                                    client_machine(group->client), &owner, why);

    group->options.key = NULL; /* the caller's, who may wipe it */
    return status;
}

static enum status prepare(struct star_group *group, const char *hub,
                           const char *name,
                           const struct star_group_options *options,
                           struct why *why)
{
    enum status status =
        options ? sized_read(&group->options, sizeof group->options, options,
                             "star_group_options", why)
                : STATUS_OK;

    if (status == STATUS_OK)
        status = shell_init(&group->shell, "member", name, why);
    if (status != STATUS_OK)
        return status;
    make_client(group);
    if (!group->client)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    status = open_shell(group, hub, why);
    return status == STATUS_OK ? shell_start(&group->shell, why) : status;
}

enum star_status star_group_join(const char *hub, const char *name,
                                 const struct star_group_options *options,
                                 struct star_group **out, char *error,
                                 size_t error_size)
{
    struct star_group *group = calloc(1, sizeof *group);
    struct why why = {""};
    enum status status;

    if (out)
        *out = NULL;
    if (!group || !out) {
        free(group);
        return shell_failure(
            error, error_size, out ? STATUS_NO_MEMORY : STATUS_USAGE,
            out ? "not enough memory" : "there is no place for the group");
    }
    shell_ready(&group->shell);
    status = prepare(group, hub, name, options, &why);
    if (status != STATUS_OK) {
        group_free(group);
        return shell_failure(error, error_size, status, why.text);
    }
    *out = group;
    return STAR_OK;
}

int star_group_poll(struct star_group *group, struct star_event *event)
{
    return group && event && shell_poll(&group->shell, event);
}

/* Somebody who was lost may still need the model that only we have. */
static void wait_for_the_others(struct star_group *group)
{
    const struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                                .collective = COLLECTIVE_BARRIER};

    if (group->lazy.bytes)
        (void)group_ask(group, &ask, NULL);
}

void star_group_leave(struct star_group **reference)
{
    const struct msg_ask ask = {.ask = ASK_LEAVE, .limit = SECOND};
    struct star_group *group = reference ? *reference : NULL;

    if (!group)
        return;
    *reference = NULL;
    wait_for_the_others(group);
    (void)group_ask(group, &ask, NULL);
    shell_stop(&group->shell, net_now() + CLOSING);
}
