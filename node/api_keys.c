#include "node/api_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keys/invitation.h"

static const char *or_environment(const char *value, const char *name)
{
    return value && value[0] ? value : getenv(name);
}

/* The name that its file has, and that it is enrolled under. */
static void file_name(const char *name, char out[KEY_NAME_BYTES])
{
    (void)snprintf(out, KEY_NAME_BYTES, "%.*s", KEY_NAME_BYTES - 1, name);
    for (char *c = out; *c; c++)
        if (*c == '/' || (unsigned char)*c <= ' ' || *c == 0x7f)
            *c = '_';
    if (out[0] == '.')
        out[0] = '_';
}

static enum status default_path(const char *name, char path[FILE_PATH_BYTES],
                                struct why *why)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool is_set = config && config[0] == '/';
    int length;

    if (!is_set && (!home || !home[0]))
        return because(why, STATUS_CONFIG,
                       "there is no home directory for this node's key: name "
                       "a file for it with --identity");
    length = snprintf(path, FILE_PATH_BYTES, "%s%s/starswitch/%s.key_secret",
                      is_set ? config : home, is_set ? "" : "/.config", name);
    if (length < FILE_PATH_BYTES)
        return STATUS_OK;
    return because(why, STATUS_CONFIG, "the name of the home directory is too "
                   "long: name a file with --identity");
}

static enum status begin_to_enrol(struct link_keys *keys,
                                  const struct invitation *invitation,
                                  const struct net_config *config,
                                  struct why *why)
{
    struct enrol_plan plan = {.hubs = config->hubs,
                              .hub = invitation->hub,
                              .enrolment = invitation->enrolment,
                              .node = keys->own.pair.shown,
                              .name = keys->own.name};
    enum status status = enrol_open(&plan, &keys->enrol, why);

    explicit_bzero(&plan, sizeof plan);
    return status;
}

static bool is_enrolled(const struct certificate *own, const struct key *hub)
{
    return own->enrolled && keys_equal(&own->hub, hub);
}

static enum status open_own(struct link_keys *keys, const char *identity,
                            const char *name, struct why *why)
{
    char host[KEY_NAME_BYTES] = "node", own[KEY_NAME_BYTES];
    enum status status = STATUS_OK;

    (void)gethostname(host, sizeof host - 1);
    file_name(name && name[0] ? name : host, own);
    if (identity && identity[0])
        (void)snprintf(keys->path, sizeof keys->path, "%s", identity);
    else
        status = default_path(own, keys->path, why);
    return status == STATUS_OK
               ? certificate_own(keys->path, own, &keys->own, NULL, why)
               : status;
}

enum status link_keys_open(struct link_keys *keys, const char *key,
                           const char *identity, const char *name,
                           struct net_config *config, struct why *why)
{
    const char *text = or_environment(key, "STARSWITCH_KEY");
    struct invitation invitation;
    enum status status;

    if (!text || !text[0])
        return STATUS_OK;
    status = invitation_read(text, &invitation, why);
    if (status != STATUS_OK)
        return status;
    status = open_own(keys, or_environment(identity, "STARSWITCH_IDENTITY"),
                      name, why);
    if (status == STATUS_OK) {
        config->keys.on = true;
        config->keys.own = keys->own.pair;
        config->keys.hub = invitation.hub;
        config->held = invitation.enrols &&
                       !is_enrolled(&keys->own, &invitation.hub);
        keys->own.hub = invitation.hub;
    }
    if (status == STATUS_OK && config->held)
        status = begin_to_enrol(keys, &invitation, config, why);
    invitation_wipe(&invitation);
    return status;
}

enum enrol_state link_keys_step(struct link_keys *keys, nanos now,
                                struct why *why)
{
    enum enrol_state state = enrol_step(keys->enrol, now, why);
    struct why ignored;

    if (state == ENROL_WAITS)
        return state;
    enrol_close(&keys->enrol);
    keys->own.enrolled = state == ENROL_DONE;
    /* Where it cannot be noted, the node enrols anew next time: no harm. */
    if (state == ENROL_DONE)
        (void)!certificate_write(keys->path, &keys->own, &ignored);
    return state;
}

void link_keys_close(struct link_keys *keys)
{
    enrol_close(&keys->enrol);
    certificate_wipe(&keys->own);
}
