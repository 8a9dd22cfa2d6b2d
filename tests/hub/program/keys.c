/* The keys of a hub that runs, on a real driver: what its machine is told. */
#include <stdio.h>
#include <string.h>

#include "hub/program/keys.h"
#include "tests/check.h"
#include "tests/keys/keyring.h"
#include "tests/net/fake_machine.h"

enum { REVOKED = 3, ENROLLING = 5 };

static struct hub_keys keys;
static struct why why;

/* A list with some who are revoked, and nobody else. */
static void open_keys(const struct folder *folder)
{
    bool made;

    memset(&keys, 0, sizeof keys);
    CHECK_OK(ring_make(folder->path, &made, &why));
    CHECK_OK(ring_open(folder->path, &keys.ring, &why));
    for (int i = 0; i < REVOKED; i++) {
        struct key key = some_key();

        CHECK_OK(ring_admit(&keys.ring, "pc1", &key, &why));
        CHECK_OK(ring_revoke(folder->path, "pc1", &why));
        CHECK_OK(ring_reload(&keys.ring, &why));
    }
    CHECK_EQUAL(REVOKED, keys.ring.revoked.count);
    CHECK_OK(clerk_open(folder->path, &keys.clerk, &why));
    keys.on = true;
}

static void apply(struct fake_machine *hub)
{
    hub_keys_apply(&keys, hub->net);
}

static void admit_some(struct fake_machine *hub)
{
    for (unsigned i = 0; i < ENROLLING; i++) {
        struct msg_local_enrol admit = {.ticket = i + 1, .key0 = i + 1};

        (void)snprintf(admit.name, sizeof admit.name, "new-%u", i);
        hub_keys_admit(&keys, hub->net, (nanos)i + 1, &admit);
    }
}

static void write_down(struct fake_machine *hub)
{
    hub_keys_tick(&keys, hub->net);
}

static unsigned heard(const struct fake_machine *hub, enum msg_kind kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < hub->logged; i++)
        count += hub->log[i].kind == EVENT_MESSAGE && hub->log[i].msg == kind;
    return count;
}

static void who_is_revoked_is_told_when_the_list_is_read_and_no_more(void)
{
    struct folder folder;
    struct fake_machine *hub = fake_new(true);

    if (!CHECK(folder_new(&folder)))
        return;
    open_keys(&folder);
    hub->config.keys = (struct net_keys){.on = true, .own = keys.ring.hub};
    fake_start(hub);
    fake_at_tick(hub, apply);
    fake_at_tick(hub, admit_some);
    for (unsigned i = 0; i < 100 && keys.ring.writing; i++)
        fake_at_tick(hub, write_down);
    /* ADMITTED and KNOWN of each. */
    CHECK(fake_wait(hub, &hub->counts[EVENT_MESSAGE], REVOKED + 2 * ENROLLING));
    fake_stop(hub);
    CHECK_EQUAL(ENROLLING, heard(hub, MSG_LOCAL_ENROLLED));
    CHECK_EQUAL(ENROLLING, heard(hub, MSG_KNOWN));
    CHECK_EQUAL(REVOKED, heard(hub, MSG_REVOKED));
    CHECK_EQUAL(ENROLLING, keys.ring.allowed.count);
    fake_destroy(&hub);
    hub_keys_close(&keys);
    folder_remove(&folder);
}

void add_hub_program_keys_tests(CU_pSuite suite)
{
    TEST(who_is_revoked_is_told_when_the_list_is_read_and_no_more);
}
