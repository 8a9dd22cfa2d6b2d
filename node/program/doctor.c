#include "node/program/doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/quote.h"
#include "keys/credentials.h"
#include "keys/invitation.h"
#include "keys/key.h"
#include "keys/places.h"
#include "node/program/find.h"
#include "node/program/key.h"
#include "node/program/link_test.h"
#include "node/program/sniff.h"
#include "node/program/this_pc.h"
#include "program/output.h"
#include "train/trainer.h"

enum { NAME_COLUMN = 6, TEXT_COLUMN = 19, WIDTH = 80, LINE_BYTES = 1024 };

/* ---- keys: what there is, and nothing is made ---- */

static bool read_own(const struct options *options, struct certificate *own)
{
    char folder[FILE_PATH_BYTES], path[FILE_PATH_BYTES],
        host[HOST_NAME_MAX + 1], name[KEY_NAME_BYTES];
    const char *identity = options->identity[0] ? options->identity
                                                : getenv("STARSWITCH_IDENTITY");
    struct why why;

    if (identity && identity[0])
        return certificate_read(identity, own, &why) == STATUS_OK &&
               own->has_secret;
    if (gethostname(host, sizeof host) != 0)
        host[0] = '\0';
    host[sizeof host - 1] = '\0';
    place_name(options->name[0] ? options->name : host, name);
    return place_of_config(folder, &why) == STATUS_OK &&
           snprintf(path, sizeof path, "%s/%s.key_secret", folder, name) <
               (int)sizeof path &&
           certificate_read(path, own, &why) == STATUS_OK && own->has_secret;
}

/* Whether the hub should know the key. */
static bool is_known(const struct certificate *own,
                     const struct invitation *invitation)
{
    return !invitation->enrols ||
           (own->enrolled && keys_equal(&own->hub, &invitation->hub));
}

static enum status choose_keys(const struct options *options,
                               struct net_keys *keys, enum doctor_key *kind,
                               struct why *why)
{
    struct certificate own = {.has_secret = false};
    struct invitation invitation;
    enum status status;

    *kind = DOCTOR_KEYLESS;
    if (!options->key[0])
        return STATUS_OK;
    status = invitation_read(options->key, &invitation, why);
    if (status != STATUS_OK)
        return status;
    keys->on = true;
    keys->hub = invitation.hub;
    if (read_own(options, &own) && is_known(&own, &invitation)) {
        *kind = DOCTOR_OWN_KEY;
        keys->own = own.pair;
    } else if (invitation.enrols) {
        *kind = DOCTOR_ENROLMENT;
        keys->own = invitation.enrolment;
    } else { /* the hub's key can still be tested */
        *kind = DOCTOR_NO_KEY;
        status = key_pair_make(&keys->own, why);
    }
    certificate_wipe(&own);
    invitation_wipe(&invitation);
    return status;
}

/* ---- the model ---- */

static enum status find_model(const struct options *options,
                              struct doctor_facts *facts, struct why *why)
{
    struct trainer_choice choice = trainer_choose(options);
    struct trainer *trainer = NULL;
    enum status status;

    if (options->node_params) {
        facts->elements = options->node_params;
        facts->elements_of_run = false;
    }
    if (options->node_params || (!choice.model && !choice.plugin))
        return STATUS_OK;
    status = trainer_open(&choice, &trainer, why);
    if (status != STATUS_OK)
        return status;
    facts->elements = trainer->model.elements;
    facts->elements_of_run = false;
    trainer_close(&trainer);
    return STATUS_OK;
}

/* ---- printing ---- */

static void print_words(const struct finding *finding)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, "%s", doctor_level_name(finding->level));
    text_pad(&line, NAME_COLUMN);
    text_add(&line, "%s", doctor_check_name(finding->check));
    text_pad(&line, TEXT_COLUMN);
    text_wrap(&line, finding->text, TEXT_COLUMN, WIDTH);
    if (finding->advice[0]) {
        text_add(&line, "\n");
        text_pad(&line, TEXT_COLUMN);
        text_add(&line, "-> ");
        text_wrap(&line, finding->advice, TEXT_COLUMN + 3, WIDTH);
    }
    (void)puts(bytes);
}

static void print_json(const struct finding *finding)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, "{\"check\":\"%s\",\"level\":\"%s\",\"text\":",
             doctor_check_name(finding->check),
             doctor_level_name(finding->level));
    quote_json(&line, finding->text);
    text_add(&line, ",\"advice\":");
    quote_json(&line, finding->advice);
    text_add(&line, ",\"code\":%d}", status_exit_code(finding->status));
    (void)puts(bytes);
}

static int print(const struct doctor_report *report, bool json)
{
    unsigned levels[] = {0, 0, 0};
    int code = status_exit_code(doctor_status(report));

    for (unsigned i = 0; i < report->count; i++) {
        const struct finding *finding = &report->list[i];

        levels[finding->level]++;
        if (json)
            print_json(finding);
        else
            print_words(finding);
    }
    if (json)
        (void)printf("{\"ok\":%u,\"warn\":%u,\"bad\":%u,\"code\":%d}\n",
                     levels[DOCTOR_OK], levels[DOCTOR_WARN], levels[DOCTOR_BAD],
                     code);
    else
        (void)printf("%u ok, %u to look at, %u bad\n", levels[DOCTOR_OK],
                     levels[DOCTOR_WARN], levels[DOCTOR_BAD]);
    return code;
}

/* ---- all of it ---- */

static bool is_sniffed(enum net_hindrance hindrance)
{
    return hindrance == HINDRANCE_NO_HUB || hindrance == HINDRANCE_SILENT ||
           hindrance == HINDRANCE_HUNG_UP;
}

static void sniff_there(const struct endpoint *hub, struct doctor_facts *facts)
{
    struct endpoint at = *hub;

    (void)snprintf(at.host, sizeof at.host, "%s", facts->place);
    sniff(&at, facts->looks_like);
}

int doctor_run(const struct options *options)
{
    static struct doctor_facts facts;
    static struct doctor_report report;
    const struct endpoint *hub = &options->hubs.list[0];
    struct net_keys keys = {.on = false};
    struct why why = {""};
    enum status status = choose_keys(options, &keys, &facts.key, &why);

    if (status != STATUS_OK)
        return output_fail("starswitch-node", status, &why);
    (void)snprintf(facts.host, sizeof facts.host, "%s", hub->host);
    facts.port = hub->port;
    link_test(hub, &keys, &facts);
    explicit_bzero(&keys, sizeof keys);
    if (is_sniffed(facts.trouble.hindrance))
        sniff_there(hub, &facts);
    this_pc(options->save_file, &facts);
    status = find_model(options, &facts, &why);
    if (status != STATUS_OK)
        return output_fail("starswitch-node", status, &why);
    doctor_judge(&facts, &report);
    return print(&report, options->json);
}
