/* Who a node is that nobody has named. */
#include "keys/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"
#include "tests/check.h"
#include "tests/store/folder.h"

static char host[KEY_NAME_BYTES];

static bool begin(struct folder *folder)
{
    (void)gethostname(host, sizeof host - 8);
    return CHECK(folder_new(folder)) &&
           CHECK_EQUAL(0, setenv("XDG_STATE_HOME", folder->path, 1));
}

static void end(struct folder *folder)
{
    CHECK_EQUAL(0, unsetenv("XDG_STATE_HOME"));
    folder_remove(folder);
}

static bool same(const struct identity *one, const struct identity *other)
{
    return one->high == other->high && one->low == other->low;
}

static void a_node_without_a_name_is_the_same_whenever_it_starts(void)
{
    struct identity first, again;
    struct folder folder;

    if (!begin(&folder))
        return;
    identity_open(NULL, "node", &first);
    identity_close(&first);
    identity_open("", "node", &again);
    CHECK_TEXT(host, again.name);
    CHECK(same(&first, &again));
    CHECK_TEXT("", again.doubt.text);
    identity_close(&again);
    end(&folder);
}

static void two_on_one_pc_are_two_and_stay_so(void)
{
    struct identity one, two, three, again;
    struct folder folder;
    char second[KEY_NAME_BYTES + 2];

    if (!begin(&folder))
        return;
    (void)snprintf(second, sizeof second, "%s-2", host);
    identity_open(NULL, "node", &one);
    identity_open(NULL, "node", &two);
    identity_open(NULL, "member", &three);
    CHECK_TEXT(host, one.name);
    CHECK_TEXT(second, two.name);
    CHECK_TEXT(host, three.name);
    CHECK(!same(&one, &two));
    CHECK(!same(&one, &three));
    identity_close(&one);
    identity_close(&two);
    identity_open(NULL, "node", &again);
    CHECK(same(&one, &again));
    identity_close(&again);
    identity_close(&three);
    end(&folder);
}

/* Whatever their hosts are called. */
static void two_pcs_are_two(void)
{
    struct identity one, other;
    struct folder folder, elsewhere;

    if (!begin(&folder))
        return;
    identity_open(NULL, "node", &one);
    identity_close(&one);
    end(&folder);
    if (!begin(&elsewhere))
        return;
    identity_open(NULL, "node", &other);
    CHECK_TEXT(one.name, other.name);
    CHECK(!same(&one, &other));
    identity_close(&other);
    end(&elsewhere);
}

static void a_name_is_one_node_on_whatever_pc(void)
{
    struct identity one, other;

    identity_open("pc1", "node", &one);
    identity_open("pc1", "node", &other);
    CHECK(same(&one, &other));
    CHECK_TEXT("pc1", one.name);
    identity_open("pc2", "node", &other);
    CHECK(!same(&one, &other));
}

/* The PC went down while it was written. */
static void a_name_is_whole_and_shows(void)
{
    char longest[KEY_NAME_BYTES + 1];
    struct why why = {""};

    memset(longest, 'n', sizeof longest);
    longest[KEY_NAME_BYTES - 1] = 0;
    CHECK_OK(identity_check(NULL, &why));
    CHECK_OK(identity_check("", &why));
    CHECK_OK(identity_check("b\xc3\xbcro <2>", &why));
    CHECK_OK(identity_check(longest, &why));
    longest[KEY_NAME_BYTES - 1] = 'n';
    longest[KEY_NAME_BYTES] = 0;
    CHECK_STATUS(STATUS_USAGE, identity_check(longest, &why));
    CHECK_CONTAINS("has 40 bytes: 39 at most", why.text);
    CHECK_STATUS(STATUS_USAGE, identity_check("pc\n1", &why));
    CHECK_CONTAINS("\"pc\" goes on with a control", why.text);
}

static void a_file_that_was_cut_off_is_written_anew(void)
{
    struct identity one, again;
    struct folder folder;
    char path[FILE_PATH_BYTES];

    if (!begin(&folder))
        return;
    (void)snprintf(path, sizeof path, "%s/starswitch/%s.node", folder.path,
                   host);
    identity_open(NULL, "node", &one);
    identity_close(&one);
    CHECK(file_fill(path, "12", 2));
    identity_open(NULL, "node", &one);
    identity_close(&one);
    identity_open(NULL, "node", &again);
    CHECK(same(&one, &again));
    identity_close(&again);
    end(&folder);
}

static void where_nothing_can_be_kept_that_is_said(void)
{
    struct identity one;

    CHECK_EQUAL(0, setenv("XDG_STATE_HOME", "/proc/nowhere", 1));
    identity_open(NULL, "node", &one);
    CHECK_EQUAL(0, unsetenv("XDG_STATE_HOME"));
    CHECK_CONTAINS(host, one.name);
    CHECK_CONTAINS("give it a --name", one.doubt.text);
    CHECK(one.high || one.low);
    identity_close(&one);
}

void add_keys_identity_tests(CU_pSuite suite)
{
    TEST(a_node_without_a_name_is_the_same_whenever_it_starts);
    TEST(two_on_one_pc_are_two_and_stay_so);
    TEST(two_pcs_are_two);
    TEST(a_name_is_one_node_on_whatever_pc);
    TEST(a_name_is_whole_and_shows);
    TEST(a_file_that_was_cut_off_is_written_anew);
    TEST(where_nothing_can_be_kept_that_is_said);
}
