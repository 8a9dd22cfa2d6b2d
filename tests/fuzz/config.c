/* Any bytes as a config file: what is accepted must come back from the file
 * that the settings are printed as. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const struct options *options, enum program program,
                  char bytes[OPTIONS_PAGE_BYTES])
{
    struct text text;

    text_init(&text, bytes, OPTIONS_PAGE_BYTES);
    options_print_config(options, program, &text);
    assert(!text.cut);
}

static void read_and_read_again(enum program program, const char *config,
                                size_t size)
{
    static char once[OPTIONS_PAGE_BYTES], twice[OPTIONS_PAGE_BYTES];
    struct options options;
    enum status status;
    struct why why = {""};

    options_defaults(&options);
    status = options_parse_config_text(&options, program, config, size, &why);
    assert(status == STATUS_OK || (status == STATUS_CONFIG && *why.text));
    if (status != STATUS_OK)
        return;
    print(&options, program, once);
    options_defaults(&options);
    status =
        options_parse_config_text(&options, program, once, strlen(once), &why);
    assert(status == STATUS_OK);
    print(&options, program, twice);
    assert(strcmp(once, twice) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (enum program program = 0; program < PROGRAMS; program++)
        read_and_read_again(program, (const char *)data, size);
    return 0;
}
