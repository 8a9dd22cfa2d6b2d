/* starswitch-hub keygen, enroll and revoke: the keys of a hub, which may run or
 * not. */
#include <stdio.h>
#include <string.h>

#include "hub/main_commands.h"
#include "hub/main_ctl.h"
#include "hub/main_keys.h"
#include "keys/invitation.h"
#include "net/service.h"

/* A command with its folder, and the options that say where a hub listens. */
struct request {
    struct options options;
    const char *directory;
    char folder[FILE_PATH_BYTES];
};

/* Reads the command's words, of which there are `least` to `most`, the folder
 * the first of them. */
static enum status read_request(int count, char **words, int least, int most,
                                struct request *out, struct why *why)
{
    static const char *const taken[] = {"directory", "keys", "listen", NULL};
    int plain;
    enum status status =
        command_read(count, words, taken, &out->options, &plain, why);

    if (status != STATUS_OK || out->options.help)
        return status;
    if (plain - 1 < least || plain - 1 > most)
        return because(why, STATUS_USAGE,
                       "%s: say %s; --help says more", words[0],
                       most == 1   ? "at most the hub's directory"
                       : most == 2 ? "the hub's directory and the node's name"
                                   : "the hub's directory, the node's name "
                                     "and its key");
    out->directory = plain > 1 ? words[1] : out->options.directory;
    return hub_keys_folder(&out->options, out->directory, out->folder, why);
}

/* The list has been changed, as `done` says. A hub that runs there reads it at
 * once, else the next one that starts does: unless it cannot be read, for
 * whatever else is in the folder. */
static enum status pass_on(const struct request *request, const char *done,
                           struct why *why)
{
    struct ring ring = {.enrols = false};
    struct why reason = {""};
    bool runs;
    enum status status = ring_open(request->folder, &ring, &reason);

    ring_close(&ring);
    if (status == STATUS_OK)
        status = ctl_tell(request->directory,
                          command_words[COMMAND_RELOAD].text, &runs, &reason);
    if (status != STATUS_OK)
        return because(why, status, "%s, but a hub that runs keeps its old "
                       "list: %.220s", done, reason.text);
    (void)printf("%s; %s\n", done,
                 runs ? "the hub that runs there has read it"
                      : "it counts once a hub starts there; one that runs "
                        "reads it at SIGHUP");
    return STATUS_OK;
}

static void print_line(const struct request *request, const struct ring *ring)
{
    const struct endpoint *listen = &request->options.listen;
    char line[KEYS_LINE_BYTES];
    struct lan lan = {.host = "HOST"};
    struct why why;

    if (request->options.given.listen)
        memcpy(lan.host, listen->host, sizeof lan.host);
    else
        (void)!lan_find(&lan, &why);
    hub_keys_line(ring, lan.host, listen->port, line);
    (void)printf("%s\n", line);
    explicit_bzero(line, sizeof line);
}

int command_keygen(int count, char **words)
{
    static struct request request;
    struct ring ring;
    struct why why = {""};
    bool made = false;
    enum status status = read_request(count, words, 0, 1, &request, &why);

    if (status == STATUS_OK && request.options.help)
        return 0;
    service_hide();
    if (status == STATUS_OK)
        status = ring_make(request.folder, &made, &why);
    if (status == STATUS_OK)
        status = ring_open(request.folder, &ring, &why);
    if (status != STATUS_OK)
        return command_end(status, &why);
    (void)fprintf(stderr, "%s %s; on every other PC:\n",
                  made ? "made keys in" : "the keys are in", request.folder);
    print_line(&request, &ring);
    ring_close(&ring);
    return 0;
}

int command_enroll(int count, char **words)
{
    static struct request request;
    struct ring ring = {.enrols = false};
    struct key key;
    char done[80];
    struct why why = {""};
    enum status status = read_request(count, words, 3, 3, &request, &why);

    if (status == STATUS_OK && request.options.help)
        return 0;
    service_hide();
    if (status == STATUS_OK)
        status = node_key_read(words[3], &key, &why);
    if (status == STATUS_OK)
        status = ring_open(request.folder, &ring, &why);
    if (status == STATUS_OK)
        status = ring_enrol(&ring, words[2], &key, &why);
    ring_close(&ring);
    (void)snprintf(done, sizeof done, "%.40s is on the list", words[2]);
    if (status == STATUS_OK)
        status = pass_on(&request, done, &why);
    return command_end(status, &why);
}

int command_revoke(int count, char **words)
{
    static struct request request;
    char done[80];
    struct why why = {""};
    enum status status = read_request(count, words, 2, 2, &request, &why);

    if (status == STATUS_OK && request.options.help)
        return 0;
    service_hide();
    if (status == STATUS_OK)
        status = ring_revoke(request.folder, words[2], &why);
    (void)snprintf(done, sizeof done, "%.40s is off the list", words[2]);
    if (status == STATUS_OK)
        status = pass_on(&request, done, &why);
    if (status != STATUS_OK)
        return command_end(status, &why);
    (void)printf("who has the line for nodes may enrol again under a new key: "
                 "to change it, remove %s/enrolment.key_secret, say keygen, "
                 "then start the hub again\n", request.folder);
    return 0;
}
