#include "tests/sim/study/plans.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

struct soak_plan *plan_of(const char *text)
{
    struct soak_plan *plan = NULL;
    struct why why = {""};

    CHECK_OK(soak_plan_parse(text, strlen(text), &plan, &why));
    CHECK_TEXT("", why.text);
    return plan;
}

char *plan_text(const struct soak_plan *plan)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);

    if (!out)
        abort();
    soak_plan_print(plan, out);
    (void)fclose(out);
    return bytes;
}
