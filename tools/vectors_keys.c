#include "tools/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys/certificate.h"
#include "keys/invitation.h"

static void put_key(const char *name, const struct key *key)
{
    char z85[KEY_TEXT_BYTES];

    key_print(key, z85);
    printf("\"%s\": {", name);
    put_hex("bytes", key->bytes, KEY_BYTES);
    printf(", ");
    put_text("z85", z85);
    printf("}");
}

static struct key key_from(unsigned char first)
{
    struct key key;

    for (unsigned i = 0; i < KEY_BYTES; i++)
        key.bytes[i] = (unsigned char)(first + 5 * i);
    return key;
}

/* A word with a secret tells its public half when it is read. */
static struct invitation invitation_of(const struct key *hub,
                                       unsigned char first)
{
    struct invitation made = {.hub = *hub, .enrols = true}, read;
    char word[INVITATION_BYTES];

    made.enrolment.secret = key_from(first);
    invitation_print(&made, word);
    if (invitation_read(word, &read, NULL) != STATUS_OK)
        failed("a key line cannot be read");
    return read;
}

static void put_certificate(const struct key_pair *pair, const struct key *hub)
{
    struct certificate certificate = {.pair = *pair,
                                      .has_secret = true,
                                      .name = "pc1",
                                      .time = "2026-01-31T12:00:00Z",
                                      .enrolled = true,
                                      .hub = *hub};
    char folder[] = "/tmp/star-vectors-XXXXXX", path[64], text[TEXT_ROOM];
    FILE *file;
    size_t size;

    if (!mkdtemp(folder))
        failed("there is no room in /tmp");
    (void)snprintf(path, sizeof path, "%s/pc1.key_secret", folder);
    if (certificate_write(path, &certificate, NULL) != STATUS_OK ||
        !(file = fopen(path, "r")))
        failed("a certificate cannot be written");
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    (void)remove(path);
    (void)remove(folder);
    put_text("certificate", text);
}

void put_keys(void)
{
    struct key nobody = key_from(0);
    struct key_pair hub = invitation_of(&nobody, 1).enrolment;
    struct key_pair node = invitation_of(&nobody, 2).enrolment;
    struct invitation line = invitation_of(&hub.shown, 3), known = line;
    char word[INVITATION_BYTES];

    printf("\"keys\": {\n  ");
    put_key("hub_public", &hub.shown);
    printf(",\n  ");
    put_key("enrolment_public", &line.enrolment.shown);
    printf(",\n  ");
    put_key("enrolment_secret", &line.enrolment.secret);
    printf(",\n  ");
    put_key("node_public", &node.shown);
    printf(",\n  ");
    put_key("node_secret", &node.secret);
    printf(",\n  ");
    invitation_print(&line, word);
    put_text("line_that_enrols", word);
    known.enrols = false;
    printf(",\n  ");
    invitation_print(&known, word);
    put_text("line", word);
    printf(",\n  ");
    node_key_print(&node.shown, word);
    put_text("node_word", word);
    printf(",\n  ");
    put_certificate(&node, &hub.shown);
    printf("}");
}
