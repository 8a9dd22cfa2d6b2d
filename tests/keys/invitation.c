/* Keys as words that people copy. */
#include <string.h>

#include "keys/invitation.h"
#include "tests/check.h"

static struct invitation make(bool enrols)
{
    struct invitation made = {.enrols = enrols};
    struct key_pair pair;
    struct why why;

    CHECK_OK(key_pair_make(&pair, &why));
    made.hub = pair.shown;
    if (enrols)
        CHECK_OK(key_pair_make(&made.enrolment, &why));
    return made;
}

static void an_invitation_is_read_as_it_was_printed(void)
{
    char text[INVITATION_BYTES];
    struct why why;

    for (int i = 0; i < 64; i++) {
        struct invitation made = make(i % 2), read;

        invitation_print(&made, text);
        CHECK_EQUAL(i % 2 ? 87 : 44, strlen(text));
        CHECK_OK(invitation_read(text, &read, &why));
        CHECK_EQUAL(made.enrols, read.enrols);
        CHECK(keys_equal(&made.hub, &read.hub));
        CHECK(keys_equal(&made.enrolment.secret, &read.enrolment.secret));
        CHECK(keys_equal(&made.enrolment.shown, &read.enrolment.shown));
    }
}

static void no_character_of_a_word_means_something_to_a_shell(void)
{
    char text[INVITATION_BYTES];

    for (int i = 0; i < 64; i++) {
        struct invitation made = make(true);

        invitation_print(&made, text);
        CHECK_EQUAL(strlen(text),
                    strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
                                 "abcdefghijklmnopqrstuvwxyz"));
        CHECK(text[0] == 'E');
    }
}

static void refused(const char *text, const char *words)
{
    struct invitation read;
    struct why why = {""};

    CHECK_EQUAL(STATUS_CONFIG, invitation_read(text, &read, &why));
    CHECK_CONTAINS(words, why.text);
    CHECK(strlen(text) < 8 || !strstr(why.text, text));
}

static void what_is_no_invitation_is_refused_and_not_repeated(void)
{
    char text[INVITATION_BYTES], cut[INVITATION_BYTES];
    struct invitation made = make(true);
    char node[NODE_KEY_BYTES];

    invitation_print(&made, text);
    for (size_t length = 0; length + 1 < sizeof text; length++) {
        memcpy(cut, text, length);
        cut[length] = '\0';
        refused(cut, "copy all of what starswitch-hub keygen prints");
    }
    memcpy(cut, text, sizeof cut);
    cut[40] = '$';
    refused(cut, "copy all of what starswitch-hub keygen prints");
    memcpy(cut, text, sizeof cut);
    cut[86] ^= 1; /* bits behind the last byte */
    refused(cut, "copy all of what starswitch-hub keygen prints");
    node_key_print(&made.hub, node);
    refused(node, "a node's own key");
}

static void a_nodes_key_is_read_as_it_was_printed(void)
{
    char text[NODE_KEY_BYTES];
    struct invitation made = make(false);
    struct key read;
    struct why why = {""};

    node_key_print(&made.hub, text);
    CHECK_EQUAL(44, strlen(text));
    CHECK_OK(node_key_read(text, &read, &why));
    CHECK(keys_equal(&made.hub, &read));
    text[0] = 'H';
    CHECK_EQUAL(STATUS_USAGE, node_key_read(text, &read, &why));
    CHECK_CONTAINS("begins with N", why.text);
}

void add_keys_invitation_tests(CU_pSuite suite)
{
    TEST(an_invitation_is_read_as_it_was_printed);
    TEST(no_character_of_a_word_means_something_to_a_shell);
    TEST(what_is_no_invitation_is_refused_and_not_repeated);
    TEST(a_nodes_key_is_read_as_it_was_printed);
}
