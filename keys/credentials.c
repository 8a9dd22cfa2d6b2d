#include "keys/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys/invitation.h"
#include "keys/places.h"

static const char *or_environment(const char *value, const char *name)
{
    return value && value[0] ? value : getenv(name);
}

static enum status default_path(const char *name, char path[FILE_PATH_BYTES],
                                struct why *why)
{
    char folder[FILE_PATH_BYTES];
    struct why reason;

    if (place_of_config(folder, &reason) != STATUS_OK)
        return because(why, STATUS_CONFIG,
                       "%.160s; or name a file for this node's key with "
                       "--identity",
                       reason.text);
    if (snprintf(path, FILE_PATH_BYTES, "%s/%s.key_secret", folder, name) <
        FILE_PATH_BYTES)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "the name of the home directory is too "
                   "long: name a file with --identity");
}

static enum status begin_to_enrol(struct credentials *own,
                                  const struct invitation *invitation,
                                  const struct net_config *config,
                                  struct why *why)
{
    struct enrol_plan plan = {.hubs = config->hubs,
                              .hub = invitation->hub,
                              .enrolment = invitation->enrolment,
                              .node = own->certificate.pair.shown,
                              .name = own->certificate.name};
    enum status status = enrol_open(&plan, &own->enrol, why);

    explicit_bzero(&plan, sizeof plan);
    return status;
}

static bool is_enrolled(const struct certificate *own, const struct key *hub)
{
    return own->enrolled && keys_equal(&own->hub, hub);
}

static enum status open_own(struct credentials *own, const char *identity,
                            const char *name, struct why *why)
{
    char file[KEY_NAME_BYTES];
    enum status status = STATUS_OK;

    place_name(name, file);
    if (identity && identity[0])
        (void)snprintf(own->path, sizeof own->path, "%s", identity);
    else
        status = default_path(file, own->path, why);
    return status == STATUS_OK
               ? certificate_own(own->path, file, &own->certificate, NULL, why)
               : status;
}

static enum status read_key(const char *key, struct invitation *out,
                            bool *given, struct why *why)
{
    const char *text = or_environment(key, "STARSWITCH_KEY");
    const char *file = getenv("STARSWITCH_KEY_FILE");
    char word[INVITATION_BYTES] = "";
    enum status status = STATUS_OK;

    if ((!text || !text[0]) && file && file[0]) {
        status = invitation_file(file, word, why);
        text = word;
    }
    *given = text && text[0];
    if (status == STATUS_OK && *given)
        status = invitation_read(text, out, why);
    explicit_bzero(word, sizeof word);
    return status;
}

enum status credentials_open(struct credentials *own, const char *key,
                             const char *identity, const char *name,
                             struct net_config *config, struct why *why)
{
    struct invitation invitation;
    bool given;
    enum status status = read_key(key, &invitation, &given, why);

    if (status != STATUS_OK || !given)
        return status;
    status = open_own(own, or_environment(identity, "STARSWITCH_IDENTITY"),
                      name, why);
    if (status == STATUS_OK) {
        config->keys.on = true;
        config->keys.own = own->certificate.pair;
        config->keys.hub = invitation.hub;
        config->held = invitation.enrols &&
                       !is_enrolled(&own->certificate, &invitation.hub);
        own->certificate.hub = invitation.hub;
    }
    if (status == STATUS_OK && config->held)
        status = begin_to_enrol(own, &invitation, config, why);
    invitation_wipe(&invitation);
    return status;
}

enum enrol_state credentials_step(struct credentials *own, nanos now,
                                  struct why *why)
{
    enum enrol_state state = enrol_step(own->enrol, now, why);

    if (state == ENROL_WAITS)
        return state;
    enrol_close(&own->enrol);
    own->certificate.enrolled = state == ENROL_DONE;
    if (state == ENROL_DONE &&
        certificate_write(own->path, &own->certificate, why) == STATUS_OK)
        why->text[0] = '\0';
    return state;
}

void credentials_close(struct credentials *own)
{
    enrol_close(&own->enrol);
    certificate_wipe(&own->certificate);
}

void credentials_say(const struct credentials *own, char text[NOTE_BYTES])
{
    char key[NODE_KEY_BYTES];

    node_key_print(&own->certificate.pair.shown, key);
    (void)snprintf(text, NOTE_BYTES,
                   "to let this node in, on the hub's PC (DIR: the hub's "
                   "--directory): starswitch-hub enroll DIR %s %s",
                   own->certificate.name, key);
}
