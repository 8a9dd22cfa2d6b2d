#include "hub/program/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sodium/crypto_generichash.h>

#include "program/service.h"
#include "store/seal.h"

enum status hub_keys_folder(const struct options *options,
                            const char *directory, char out[FILE_PATH_BYTES],
                            struct why *why)
{
    int length = options->keys[0]
                     ? snprintf(out, FILE_PATH_BYTES, "%s", options->keys)
                     : snprintf(out, FILE_PATH_BYTES, "%s/keys", directory);

    if (length < FILE_PATH_BYTES)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--directory %.60s...: the name is too "
                   "long",
                   directory);
}

enum status hub_keys_seal(const struct hub_keys *keys, const char *directory,
                          struct hub_seal *out, struct why *why)
{
    static const char purpose[] = "starswitch: what nodes keep";

    out->keyless = !keys->on;
    if (!keys->on)
        return seal_open(directory, out->key, why);
    (void)crypto_generichash(out->key, sizeof out->key,
                             (const unsigned char *)purpose, sizeof purpose,
                             keys->ring.hub.secret.bytes,
                             sizeof keys->ring.hub.secret.bytes);
    return STATUS_OK;
}

/* ---- beginning ---- */

static enum status check_open(const struct options *options, bool has_keys,
                              struct why *why)
{
    if (options->lan && options->insecure)
        return because(why, STATUS_CONFIG,
                       "--lan is with keys and --insecure is without: leave "
                       "one of them out");
    if (endpoint_is_loopback(&options->listen) || options->insecure ||
        options->lan || has_keys)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--listen %s is open to the network and there are no keys: "
                   "say --lan, which makes some, or --insecure if everybody "
                   "on that network may join",
                   options->listen.host);
}

enum status hub_keys_plan(struct hub_keys *keys, struct options *options,
                          struct why *why)
{
    char folder[FILE_PATH_BYTES];
    enum status status =
        hub_keys_folder(options, options->directory, folder, why);
    bool local;

    if (status == STATUS_OK && options->lan && !options->given.listen) {
        status = lan_find(&keys->lan, why);
        if (status == STATUS_OK)
            memcpy(options->listen.host, keys->lan.host,
                   sizeof options->listen.host);
    }
    if (status != STATUS_OK)
        return status;
    local = endpoint_is_loopback(&options->listen);
    keys->on = !options->insecure && (options->lan || options->keys[0] ||
                                      (!local && ring_is_there(folder)));
    return check_open(options, keys->on, why);
}

enum status hub_keys_open(struct hub_keys *keys, const struct options *options,
                          struct why *why)
{
    char folder[FILE_PATH_BYTES];
    bool made = false;
    enum status status;

    if (!keys->on)
        return STATUS_OK;
    service_hide();
    status = hub_keys_folder(options, options->directory, folder, why);
    if (status == STATUS_OK && !ring_is_there(folder)) {
        status = ring_make(folder, &made, why);
        if (made)
            (void)fprintf(stderr, "made new keys in %s\n", folder);
    }
    if (status == STATUS_OK)
        status = ring_open(folder, &keys->ring, why);
    /* Somebody is there to bring another one to new nodes. */
    if (status == STATUS_OK && options->lan && isatty(STDERR_FILENO) &&
        keys->ring.enrols && !ring_line_serves(&keys->ring)) {
        status = ring_renew(folder, NULL, why);
        if (status == STATUS_OK)
            status = ring_reload(&keys->ring, why);
    }
    return status == STATUS_OK ? clerk_open(folder, &keys->clerk, why) : status;
}

void hub_keys_close(struct hub_keys *keys)
{
    clerk_close(&keys->clerk);
    ring_close(&keys->ring);
}

/* Words that stand for what the hub does not know are in capitals. */
static void add_choice(const char *option, const char *value,
                       const char *unknown, struct text *out)
{
    text_add(out, " --%s ", option);
    if (*value)
        options_print_word(value, out);
    else
        text_add(out, "%s", unknown);
}

void hub_keys_line(const struct options *options, const char *host,
                   uint16_t port, struct text *out)
{
    struct endpoint endpoint = {.port = port};

    (void)snprintf(endpoint.host, sizeof endpoint.host, "%s", host);
    text_add(out, "starswitch-node --hub ");
    endpoint_print(&endpoint, out);
    text_add(out, " --key-file invitation");
    if (options->trainer[0])
        add_choice("trainer", options->trainer, "", out);
    if (options->model[0] || !options->trainer[0])
        add_choice("model", options->model, "MODEL", out);
    add_choice("data", options->data, "DATA", out);
}

const char *hub_keys_where(bool here)
{
    return here ? "On this PC, where that file is:"
                : "On every other PC, where that file is:";
}

void hub_keys_place(const struct options *options, const char *directory,
                    struct text *out)
{
    options_print_word(directory, out);
    if (options->keys[0]) {
        text_add(out, " --keys ");
        options_print_word(options->keys, out);
    }
    if (options->given.listen) {
        text_add(out, " --listen ");
        endpoint_print(&options->listen, out);
    }
}

void hub_keys_terms(const struct ring *ring, const char *keygen,
                    struct text *out)
{
    time_t until = (time_t)ring->until;
    char bytes[40] = "";
    struct tm parts;

    if (!ring->enrols || !ring_line_serves(ring)) {
        text_add(out,
                 "it lets in nobody any more: starswitch-hub keygen %s "
                 "makes another one",
                 keygen);
        return;
    }
    if (ring->until && gmtime_r(&until, &parts))
        (void)strftime(bytes, sizeof bytes, " until %Y-%m-%d %H:%M UTC",
                       &parts);
    if (ring->most)
        text_add(out, "it lets in %llu more node%s%s",
                 (unsigned long long)(ring->most - ring->used),
                 ring->most - ring->used == 1 ? "" : "s", bytes);
    else
        text_add(out, "it lets in any node%s", bytes);
}

/* A hub that listens everywhere has a line for each network, another one says
 * how the other networks are served. */
static void say_lines(const struct hub_keys *keys,
                      const struct options *options)
{
    const struct endpoint *listen = &options->listen;
    bool everywhere = strcmp(listen->host, "0.0.0.0") == 0;
    struct lan lans[LAN_MOST];
    unsigned count = lan_list(lans);
    char bytes[2 * VALUE_TEXT_BYTES + 512];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    if (!everywhere)
        hub_keys_line(options, listen->host, listen->port, &line);
    if (!everywhere)
        (void)fprintf(stderr, "  %s\n", bytes);
    for (unsigned i = 0; i < count; i++) {
        text_init(&line, bytes, sizeof bytes);
        hub_keys_line(options, lans[i].host, listen->port, &line);
        if (everywhere)
            (void)fprintf(stderr, "  on %s:  %s\n", lans[i].device, bytes);
        else if (keys->lan.host[0] && strcmp(lans[i].host, listen->host) != 0)
            (void)fprintf(stderr,
                          "This PC is also %s on %s: for PCs there "
                          "say --listen %s beside --lan, for all networks "
                          "--listen 0.0.0.0\n",
                          lans[i].host, lans[i].device, lans[i].host);
    }
}

/* The key, and the command that prints it and where this hub is. */
static void say_key(const struct hub_keys *keys, const struct options *options)
{
    char bytes[FILE_PATH_BYTES + 800], command[FILE_PATH_BYTES + 600];
    struct text terms, place;

    text_init(&place, command, sizeof command);
    hub_keys_place(options, options->directory, &place);
    text_init(&terms, bytes, sizeof bytes);
    hub_keys_terms(&keys->ring, command, &terms);
    (void)fprintf(stderr,
                  "The key for nodes is %s/invitation (starswitch-hub "
                  "keygen %s prints it); %s.\n",
                  keys->ring.folder, command, bytes);
}

void hub_keys_say(const struct hub_keys *keys, const struct options *options)
{
    const struct endpoint *listen = &options->listen;
    bool local = endpoint_is_loopback(listen);

    if (!keys->on && local)
        return;
    (void)fprintf(stderr, "listening tcp://%s%s%s:%u%s%s%s, %s\n",
                  endpoint_opens(listen->host), listen->host,
                  endpoint_closes(listen->host), listen->port,
                  keys->lan.host[0] ? " (" : "", keys->lan.device,
                  keys->lan.host[0] ? ")" : "",
                  keys->on ? "encrypted: nodes need a key"
                           : "NOT encrypted, and whoever reaches it may join");
    if (!keys->on)
        return;
    say_key(keys, options);
    if (local)
        (void)fprintf(stderr, "Only this PC reaches this hub: --lan, or "
                              "--listen ADDRESS, lets others in.\n");
    (void)fprintf(stderr, "%s\n", hub_keys_where(local));
    say_lines(keys, options);
}

/* ---- while it runs ---- */

/* So many a second keep neither the disk nor the list busy. */
enum { ENROLMENTS_A_SECOND = 50 };

static void allow(const struct hub_keys *keys, struct net *net)
{
    const struct ring *ring = &keys->ring;
    struct key *list = calloc(ring->allowed.count + 1u, sizeof *list);

    if (!list)
        return; /* those who were let in before still are */
    for (unsigned i = 0; i < ring->allowed.count; i++)
        list[i] = ring->allowed.entries[i].key;
    /* Whether the key for nodes still serves is said to who enrols by it. */
    net_allow(net, list, ring->allowed.count,
              ring->enrols ? &ring->enrolment.shown : NULL);
    free(list);
}

static void tell_name(const struct list_entry *entry, struct net *net)
{
    struct msg msg = {.kind = MSG_KNOWN};

    msg.known.key = key_hash(&entry->key);
    (void)snprintf(msg.known.name, sizeof msg.known.name, "%s", entry->name);
    net_post(net, &msg, NULL);
}

void hub_keys_apply(struct hub_keys *keys, struct net *net)
{
    const struct ring *ring = &keys->ring;

    if (!keys->on)
        return;
    for (unsigned i = 0; i < ring->revoked.count; i++) {
        struct msg msg = {.kind = MSG_REVOKED};

        msg.revoked.key = key_hash(&ring->revoked.entries[i].key);
        net_post(net, &msg, NULL);
    }
    for (unsigned i = 0; i < ring->allowed.count; i++)
        tell_name(&ring->allowed.entries[i], net);
    allow(keys, net);
}

enum status hub_keys_reload(struct hub_keys *keys, struct net *net,
                            struct why *why)
{
    enum status status = keys->on ? ring_reload(&keys->ring, why) : STATUS_OK;

    if (status == STATUS_OK)
        hub_keys_apply(keys, net);
    return status;
}

static void put_word(uint64_t value, unsigned word, struct key *out)
{
    for (unsigned i = 0; i < 8; i++)
        out->bytes[8 * word + i] = (uint8_t)(value >> (8 * i));
}

static void answer(struct net *net, uint64_t ticket, enum status status,
                   const struct why *why)
{
    struct msg msg = {.kind = MSG_LOCAL_ENROLLED};

    msg.local_enrolled.ticket = ticket;
    msg.local_enrolled.status = status;
    (void)snprintf(msg.local_enrolled.text, sizeof msg.local_enrolled.text,
                   "%.*s", (int)sizeof msg.local_enrolled.text - 1, why->text);
    net_post(net, &msg, NULL);
}

static bool are_too_many(struct hub_keys *keys, nanos now)
{
    if (!keys->second || now - keys->second >= SECOND) {
        keys->second = now;
        keys->enrolments = 0;
    }
    return keys->enrolments++ >= ENROLMENTS_A_SECOND;
}

void hub_keys_admit(struct hub_keys *keys, struct net *net, nanos now,
                    const struct msg_local_enrol *admit)
{
    struct clerk_task task = {.ticket = admit->ticket};
    struct why why = {"many nodes enrol at this moment: try again"};
    enum status status = STATUS_AGAIN;
    struct key key;

    put_word(admit->key0, 0, &key);
    put_word(admit->key1, 1, &key);
    put_word(admit->key2, 2, &key);
    put_word(admit->key3, 3, &key);
    if (!are_too_many(keys, now))
        status = ring_ask(&keys->ring, admit->name, &key, &task.entry, &why);
    if (status == STATUS_OK && task.entry.name[0]) {
        if (clerk_give(keys->clerk, &task))
            return;
        (void)!ring_written(&keys->ring, &task.entry, false, &why);
        status = STATUS_AGAIN;
    }
    answer(net, admit->ticket, status, &why);
}

void hub_keys_tick(struct hub_keys *keys, struct net *net)
{
    struct clerk_task task;
    bool changed = false;

    if (!keys->on)
        return;
    while (clerk_pop(keys->clerk, &task)) {
        enum status status = ring_written(&keys->ring, &task.entry,
                                          task.status == STATUS_OK, &task.why);

        if (task.status == STATUS_OK)
            task.status = status;
        if (task.status == STATUS_OK)
            tell_name(&task.entry, net);
        answer(net, task.ticket, task.status, &task.why);
        changed = true;
    }
    if (changed)
        allow(keys, net);
}
