/* starswitch-hub keygen, enroll and revoke: the keys of a hub, which may run or
 * not. */
#include <stdio.h>
#include <string.h>

#include "hub/program/command_line.h"
#include "hub/program/commands.h"
#include "hub/program/ctl.h"
#include "hub/program/keys.h"
#include "keys/invitation.h"
#include "program/service.h"

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
    static const char *const taken[] = {"directory", "keys", "listen", "once",
                                        "for",       "most", "rotate", NULL};
    int plain;
    enum status status =
        command_read(count, words, taken, &out->options, &plain, why);

    if (status != STATUS_OK || out->options.help)
        return status;
    if (plain - 1 < least || plain - 1 > most)
        return because(why, STATUS_USAGE, "%s: say %s; --help says more",
                       words[0],
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
        return because(why, status,
                       "%s, but a hub that runs keeps its old "
                       "list: %.220s",
                       done, reason.text);
    (void)printf("%s; %s\n", done,
                 runs ? "the hub that runs there has read it"
                      : "it counts once a hub starts there; one that runs "
                        "reads it at SIGHUP");
    return STATUS_OK;
}

/* What a new key for nodes is good for. */
static struct ring_line line_of(const struct options *options)
{
    return (struct ring_line){
        .seconds = (options->line_time + SECOND - 1) / SECOND,
        .nodes = options->line_once ? 1 : options->line_nodes};
}

static bool wants_another(const struct options *options)
{
    return options->rotate || options->line_once || options->given.line_time ||
           options->given.line_nodes;
}

enum { PLACE_BYTES = FILE_PATH_BYTES + 600 };

/* The words that tell keygen of the same hub. */
static void print_place(const struct request *request, char out[PLACE_BYTES])
{
    struct text text;

    text_init(&text, out, PLACE_BYTES);
    hub_keys_place(&request->options, request->directory, &text);
}

/* The key alone goes to standard output, to be kept in a file. */
static void print_key(const struct request *request, const struct ring *ring)
{
    const struct endpoint *listen = &request->options.listen;
    struct invitation invitation = ring_invitation(ring);
    char word[INVITATION_BYTES], place[PLACE_BYTES], terms[PLACE_BYTES + 200];
    char line[2 * VALUE_TEXT_BYTES + 512];
    struct lan lan = {.host = "HOST"};
    struct text text;
    struct why why;

    if (request->options.given.listen)
        memcpy(lan.host, listen->host, sizeof lan.host);
    else
        (void)!lan_find(&lan, &why);
    print_place(request, place);
    text_init(&text, terms, sizeof terms);
    hub_keys_terms(ring, place, &text);
    text_init(&text, line, sizeof line);
    hub_keys_line(&request->options, lan.host, listen->port, &text);
    (void)fprintf(stderr,
                  "the key for nodes is %s/invitation; %s.\n"
                  "%s\n  %s\n",
                  request->folder, terms,
                  hub_keys_where(endpoint_is_loopback(listen) &&
                                 request->options.given.listen),
                  line);
    if (!request->options.given.listen)
        (void)fprintf(stderr,
                      "If the hub is started with --listen, give "
                      "keygen the same --listen: its address is then in that "
                      "line.\n");
    (void)fprintf(stderr, "The key itself, for --key-file - or a file of mode "
                          "0600:\n");
    invitation_print(&invitation, word);
    (void)printf("%s\n", word);
    explicit_bzero(word, sizeof word);
    invitation_wipe(&invitation);
}

/* A new key for nodes, which a hub that runs is told of. */
static enum status renew(const struct request *request, struct ring *ring,
                         struct why *why)
{
    struct ring_line line = line_of(&request->options);
    bool runs;
    enum status status = ring_renew(request->folder, &line, why);

    if (status == STATUS_OK)
        status = ring_reload(ring, why);
    if (status == STATUS_OK)
        status = ctl_tell(request->directory,
                          command_words[COMMAND_RELOAD].text, &runs, why);
    return status;
}

int command_keygen(int count, char **words)
{
    static struct request request;
    struct ring ring = {.enrols = false};
    struct why why = {""};
    bool made = false;
    enum status status = read_request(count, words, 0, 1, &request, &why);

    if (status == STATUS_OK && request.options.help)
        return 0;
    service_hide();
    if (status == STATUS_OK)
        status = ring_make(request.folder, &made, &why);
    if (made)
        (void)fprintf(stderr,
                      "made new keys in %s: a hub takes them when it "
                      "starts\n",
                      request.folder);
    if (status == STATUS_OK)
        status = ring_open(request.folder, &ring, &why);
    if (status == STATUS_OK &&
        (wants_another(&request.options) || !ring_line_serves(&ring)))
        status = renew(&request, &ring, &why);
    if (status == STATUS_OK)
        print_key(&request, &ring);
    ring_close(&ring);
    return command_end(status, &why);
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
    char done[80], place[PLACE_BYTES];
    struct why why = {""};
    enum status status = read_request(count, words, 2, 2, &request, &why);

    if (status == STATUS_OK && request.options.help)
        return 0;
    service_hide();
    if (status == STATUS_OK)
        status = ring_revoke(request.folder, words[2], &why);
    if (status == STATUS_OK && request.options.rotate) {
        struct ring_line line = line_of(&request.options);

        status = ring_renew(request.folder, &line, &why);
    }
    (void)snprintf(done, sizeof done, "%.40s is off the list", words[2]);
    if (status == STATUS_OK)
        status = pass_on(&request, done, &why);
    if (status == STATUS_OK && request.options.rotate)
        (void)printf("%s/invitation is a new key for nodes; the old one lets "
                     "in nobody any more\n",
                     request.folder);
    else if (status == STATUS_OK) {
        print_place(&request, place);
        (void)printf("whoever has the key for nodes may enrol again under a "
                     "new key: starswitch-hub keygen %s --rotate makes "
                     "another one\n",
                     place);
    }
    return command_end(status, &why);
}
