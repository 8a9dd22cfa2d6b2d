/* libstarswitch's groups: building, looking, Rabit's arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/library/group.h"

/* Whether `name` is one of these, or NULL. */
static bool is_known(const char *name, const char *const *known)
{
    for (; name && *known; known++)
        if (strcmp(name, *known) == 0)
            return true;
    return !name;
}

enum star_group_status star_group_build(struct star_group *group)
{
    const struct msg_ask ask = {.ask = ASK_BUILD};

    return group_ask(group, &ask, NULL);
}

enum star_rebuild_status star_group_init(struct star_group *group,
                                         const char *consensus,
                                         const char *library)
{
    static const char *const consensuses[] = {"hub", "shared_storage", "gossip",
                                              NULL};
    static const char *const libraries[] = {"hub", "NCCL", "dummy_NCCL",
                                            "pytorch", NULL};
    bool known = is_known(consensus, consensuses);

    if (!known || !is_known(library, libraries)) {
        (void)pthread_mutex_lock(&group->shell.lock);
        (void)snprintf(group->told.text, sizeof group->told.text,
                       "there is no %s %.60s", known ? "library" : "consensus",
                       known ? library : consensus);
        (void)pthread_mutex_unlock(&group->shell.lock);
        return STAR_REBUILD_ABORT;
    }
    return (enum star_rebuild_status)star_group_build(group);
}

static int is_yes(struct star_group *group, enum ask what)
{
    const struct msg_ask ask = {.ask = what};

    return group_ask(group, &ask, NULL) == STAR_GROUP_SUCCESS &&
           group->told.yes;
}

int star_group_initialized(struct star_group *group)
{
    return is_yes(group, ASK_INITIALIZED);
}

int star_group_skip_allreduce(struct star_group *group)
{
    return is_yes(group, ASK_SKIP);
}

int star_group_wait_joined(struct star_group *group, double seconds)
{
    const struct msg_ask ask = {
        .ask = ASK_ATTACH, .limit = shell_span(seconds > 0 ? seconds : 15.0)};

    return group_ask(group, &ask, NULL) == STAR_GROUP_SUCCESS;
}

int star_group_manual_join(struct star_group *group, double seconds)
{
    return star_group_wait_joined(group, seconds);
}

int star_group_consensus_joined(struct star_group *group)
{
    const struct msg_ask ask = {.ask = ASK_ATTACH, .limit = 1};

    return group_ask(group, &ask, NULL) == STAR_GROUP_SUCCESS;
}

enum star_group_status star_group_execute(struct star_group *group,
                                          int (*act)(void *argument),
                                          void *argument, int *result)
{
    const struct msg_ask forget = {.ask = ASK_FORGET};
    bool alone = star_group_skip_allreduce(group);
    enum star_rebuild_status built = STAR_REBUILD_SUCCESS;

    if (!alone && !star_group_initialized(group))
        built = star_group_init(group, NULL, NULL);
    if (built == STAR_REBUILD_FAIL || built == STAR_REBUILD_ABORT)
        return STAR_GROUP_ABORT;
    *result = act(argument);
    if (*result == 0)
        return STAR_GROUP_SUCCESS;
    (void)group_ask(group, &forget, NULL);
    return STAR_GROUP_FAIL;
}

static struct star_group_state state_of(struct star_group *group)
{
    struct star_group_state state = {.members = 1};
    const struct msg_told *told;

    if (!group)
        return state;
    told = &group->told;
    (void)pthread_mutex_lock(&group->shell.lock);
    state.rank = told->rank;
    state.members = told->size ? told->size : 1;
    state.epoch = told->epoch;
    state.averages = told->averages;
    state.version = told->version;
    state.joined = told->joined != 0;
    state.exit_code = (int)told->exit;
    (void)snprintf(state.text, sizeof state.text, "%s", told->text);
    (void)pthread_mutex_unlock(&group->shell.lock);
    return state;
}

enum star_status star_group_look(struct star_group *group,
                                 struct star_group_state *out)
{
    struct star_group_state state = state_of(group);

    return !out || sized_write(out, &state, sizeof state) == STATUS_OK
               ? STAR_OK
               : STAR_BAD_ARGUMENT;
}

unsigned star_group_rank(struct star_group *group)
{
    return state_of(group).rank;
}

unsigned star_group_size(struct star_group *group)
{
    return state_of(group).members;
}

uint64_t star_group_version_number(struct star_group *group)
{
    return state_of(group).version;
}

int star_group_is_distributed(struct star_group *group)
{
    return star_group_size(group) > 1;
}

const char *star_group_processor_name(struct star_group *group)
{
    return group->shell.identity.name;
}

void star_group_tracker_print(struct star_group *group, const char *text)
{
    struct msg msg = {.kind = MSG_SAY};

    (void)snprintf(msg.say.text, sizeof msg.say.text, "%s", text);
    shell_post(&group->shell, &msg, NULL);
}

/* The value of argument `name`, NULL: it is not given. */
static const char *argument_of(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return argv[i] + length + 1;
    return NULL;
}

enum star_status star_group_join_arguments(int argc, char **argv,
                                           struct star_group **group,
                                           char *error, size_t error_size)
{
    struct star_group_options options = {.size = sizeof options,
                                         .manner = STAR_PATIENT};
    const char *host = argument_of(argc, argv, "rabit_tracker_uri");
    const char *port = argument_of(argc, argv, "rabit_tracker_port");
    const char *size = argument_of(argc, argv, "rabit_world_size");
    const char *patience = argument_of(argc, argv, "rabit_timeout_sec");
    char hub[300] = "";

    if (host)
        (void)snprintf(hub, sizeof hub, "%.255s%s%.8s", host, port ? ":" : "",
                       port ? port : "");
    if (size)
        options.members = (unsigned)strtoul(size, NULL, 10);
    if (patience)
        options.patience = strtod(patience, NULL);
    return star_group_join(host ? hub : NULL,
                           argument_of(argc, argv, "rabit_task_id"), &options,
                           group, error, error_size);
}
