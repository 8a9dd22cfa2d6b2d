/* What is said of a hub that cannot be reached, and how often. */
#include "keys/entry.h"

#include <string.h>
#include <time.h>

#include "tests/check.h"

static void count(void *context, enum star_level level, const char *event,
                  const char *text)
{
    unsigned *told = context;

    (void)level;
    (void)text;
    *told += strcmp(event, "hub_unreached") == 0;
}

static void what_is_not_mended_is_told_again_later_and_later(void)
{
    static const unsigned seconds[] = {69, 71, 190, 202, 400, 460};
    static const unsigned times[] = {1, 2, 2, 3, 3, 4};
    unsigned told = 0;
    struct why why = {""};
    struct entry entry = {.log = count, .context = &told};
    struct enrol_plan plan = {.name = "n"};
    nanos start = net_now();

    /* Nothing listens there. */
    CHECK_OK(endpoints_parse("127.0.0.1:1", &plan.hubs, &why));
    CHECK_OK(enrol_open(&plan, &entry.own.enrol, &why));
    for (unsigned i = 0; i < 1000 && !told; i++) {
        (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
        (void)entry_tick(&entry, NULL, start, &why);
    }
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        (void)entry_tick(&entry, NULL, start + seconds[i] * SECOND, &why);
        CHECK_EQUAL(times[i], told);
    }
    credentials_close(&entry.own);
}

void add_keys_entry_tests(CU_pSuite suite)
{
    TEST(what_is_not_mended_is_told_again_later_and_later);
}
