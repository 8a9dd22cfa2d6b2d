/* What is secret in the option table is shown nowhere. */
#include <stdio.h>
#include <string.h>

#include "core/options.h"
#include "tests/check.h"

static const char secret[] = "Esecret-of-the-run";

static void set_key(struct options *options)
{
    struct why why;

    options_defaults(options);
    CHECK_OK(options_set(options, PROGRAM_NODE, "key", secret, OPTION_ARGUMENT,
                         &why));
    CHECK_TEXT(secret, options->key);
}

static void a_secret_is_in_no_page(void)
{
    static char page[OPTIONS_PAGE_BYTES];
    static struct options options;
    struct text out;

    set_key(&options);
    text_init(&out, page, sizeof page);
    options_print_config(&options, PROGRAM_NODE, &out);
    CHECK(!strstr(page, secret));
    CHECK_CONTAINS("\n# key =\n", page);
}

static void an_error_does_not_repeat_a_secret(void)
{
    static struct options options;
    char text[] = "Esecret\nof-the-run";
    struct why why = {""};

    options_defaults(&options);
    CHECK_EQUAL(STATUS_USAGE, options_set(&options, PROGRAM_NODE, "key", text,
                                          OPTION_ARGUMENT, &why));
    CHECK_CONTAINS("--key: expected", why.text);
    CHECK(!strstr(why.text, "Esecret"));
}

static void a_command_line_loses_its_secrets_once_it_is_read(void)
{
    char program[] = "starswitch-node", key[] = "--key", value[] = "Eabc",
         other[] = "--key=Edef", name[] = "--name", pc[] = "pc1";
    char *const words[] = {program, key, value, other, name, pc};

    options_hide_secrets(PROGRAM_NODE, 6, words);
    CHECK_TEXT("", value);
    CHECK_TEXT("--key=", other);
    CHECK_TEXT("--key", key);
    CHECK_TEXT("pc1", pc);
}

void add_core_option_secrets_tests(CU_pSuite suite)
{
    TEST(a_secret_is_in_no_page);
    TEST(an_error_does_not_repeat_a_secret);
    TEST(a_command_line_loses_its_secrets_once_it_is_read);
}
