#include "report/names.h"

#include <stdio.h>

#include "codec/pages.h"
#include "core/options.h"
#include "policies/pages.h"

void names_print(void)
{
    static char bytes[OPTIONS_PAGE_BYTES];
    struct text page;

    text_init(&page, bytes, sizeof bytes);
    codecs_print_help(&page);
    policies_print_help(&page);
    (void)fputs(bytes, stdout);
}
