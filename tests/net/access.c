/* Who comes in where there are keys, and what becomes of the others. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "net/bans.h"
#include "tests/check.h"
#include "tests/net/strangers.h"

static struct net_refusals refusals;
static struct net_trouble trouble;

static void read_refusals(struct fake_machine *hub)
{
    refusals = *net_refusals(hub->net);
}

/* Waits until so many have been refused for this reason. */
static bool refused(struct fake_machine *hub, enum net_refusal why,
                    uint64_t at_least)
{
    for (int i = 0; i < 300; i++) {
        fake_at_tick(hub, read_refusals);
        if (refusals.count[why] >= at_least)
            return true;
    }
    return false;
}

static uint64_t key_of_join(struct fake_machine *hub, enum channel channel)
{
    uint64_t key = 0;

    (void)pthread_mutex_lock(&hub->lock);
    for (unsigned i = 0; i < hub->logged && !key; i++)
        if (hub->log[i].kind == EVENT_JOIN && hub->log[i].channel == channel)
            key = hub->log[i].number;
    (void)pthread_mutex_unlock(&hub->lock);
    return key;
}

/* Says something on both channels; after that, pings. */
static void say_both(struct fake_machine *fake, const struct event *event,
                     struct effects *out)
{
    struct msg attach = {.kind = MSG_ATTACH};

    if (event->kind == EVENT_JOIN && event->channel == CHANNEL_BULK)
        effects_send(out, event->peer, &attach, NULL);
    ping_on(fake, event, out);
}

static struct fake_machine *keyed_node(const struct fake_machine *hub,
                                       const struct key_pair *own)
{
    struct fake_machine *node = fake_node(hub);

    node->config.keys =
        (struct net_keys){true, *own, hub->config.keys.own.shown};
    node->react = say_both;
    node->wake_every = 10 * MILLISECOND;
    return node;
}

static struct fake_machine *keyed_hub(void)
{
    struct fake_machine *hub = fake_new(true);

    hub->config.keys.on = true;
    CHECK_OK(key_pair_make(&hub->config.keys.own, NULL));
    hub->react = fake_echo;
    return hub;
}

static void a_key_that_is_known_comes_in_and_the_machine_knows_whose_it_is(void)
{
    struct fake_machine *hub = keyed_hub(), *node;
    struct key_pair own;

    CHECK_OK(key_pair_make(&own, NULL));
    hub->allowed[hub->allowed_count++] = own.shown;
    fake_start(hub);
    node = keyed_node(hub, &own);
    fake_start(node);
    CHECK(fake_wait_event(hub, EVENT_JOIN, CHANNEL_CONTROL, 1));
    CHECK(fake_wait_event(hub, EVENT_JOIN, CHANNEL_BULK, 1));
    CHECK(fake_wait_number(node, &node->received, 3));
    fake_destroy(&node);
    fake_stop(hub);
    CHECK_EQUAL(key_hash(&own.shown), key_of_join(hub, CHANNEL_CONTROL));
    CHECK_EQUAL(key_hash(&own.shown), key_of_join(hub, CHANNEL_BULK));
    CHECK_EQUAL(0, hub->notes);
    fake_destroy(&hub);
}

static void without_keys_the_machine_is_told_of_none(void)
{
    struct pair pair;

    open_pair(&pair);
    CHECK_EQUAL(KEY_NONE, key_of_join(pair.hub, CHANNEL_CONTROL));
    close_pair(&pair);
}

static void the_key_that_enrols_comes_in_as_such(void)
{
    struct fake_machine *hub = keyed_hub(), *node;
    struct key_pair own, other;

    CHECK_OK(key_pair_make(&own, NULL));
    CHECK_OK(key_pair_make(&other, NULL));
    hub->allowed[hub->allowed_count++] = other.shown;
    hub->enrolment = own.shown;
    hub->enrols = true;
    fake_start(hub);
    node = keyed_node(hub, &own);
    fake_start(node);
    CHECK(fake_wait_event(hub, EVENT_JOIN, CHANNEL_CONTROL, 1));
    fake_destroy(&node);
    fake_stop(hub);
    CHECK_EQUAL(KEY_ENROLS, key_of_join(hub, CHANNEL_CONTROL));
    fake_destroy(&hub);
}

static bool was_sent_away(const struct fake_machine *node)
{
    static const enum event_kind kinds[] = {EVENT_JOIN, EVENT_MESSAGE,
                                            EVENT_LEAVE};

    for (unsigned i = 0; i < 3; i++)
        if (i >= node->logged || node->log[i].kind != kinds[i] ||
            node->log[i].peer != PEER_CONTROL)
            return false;
    return node->log[1].msg == MSG_BYE;
}

static void a_node_whose_key_is_refused_is_sent_away_once(void)
{
    struct fake_machine *hub = keyed_hub(), *node;
    struct key_pair own;

    CHECK_OK(key_pair_make(&own, NULL));
    fake_start(hub);
    node = keyed_node(hub, &own);
    fake_start(node);
    CHECK(fake_wait(node, &node->counts[EVENT_LEAVE], 1));
    CHECK(refused(hub, REFUSAL_KEY, 5));
    fake_stop(node);
    CHECK(was_sent_away(node));
    CHECK_EQUAL(1, node->counts[EVENT_JOIN]);
    fake_destroy(&node);
    fake_stop(hub);
    CHECK_EQUAL(0, hub->counts[EVENT_JOIN]);
    CHECK_EQUAL(1, hub->notes);
    CHECK_CONTAINS("has a key that is not known here", hub->note);
    fake_destroy(&hub);
}

static void admit_second(struct fake_machine *hub)
{
    hub->allowed_count = 2;
    net_allow(hub->net, hub->allowed, 2, NULL);
}

static void a_key_that_is_added_comes_in_without_a_restart(void)
{
    struct pair pair;
    struct key_pair own;
    struct fake_machine *node;

    open_keyed_pair(&pair);
    CHECK_OK(key_pair_make(&own, NULL));
    pair.hub->allowed[1] = own.shown;
    node = keyed_node(pair.hub, &own);
    fake_start(node);
    CHECK(refused(pair.hub, REFUSAL_KEY, 1));
    fake_at_tick(pair.hub, admit_second);
    CHECK(fake_wait_number(node, &node->received, 1));
    fake_destroy(&node);
    close_pair(&pair);
}

static void revoke_second(struct fake_machine *hub)
{
    net_allow(hub->net, hub->allowed, 1, NULL);
}

static void a_key_that_is_revoked_is_cut_at_once_and_stays_out(void)
{
    struct pair pair;
    struct key_pair own;
    struct fake_machine *node;

    open_keyed_pair(&pair);
    CHECK_OK(key_pair_make(&own, NULL));
    pair.hub->allowed[1] = own.shown;
    fake_at_tick(pair.hub, admit_second);
    node = keyed_node(pair.hub, &own);
    fake_start(node);
    CHECK(fake_wait_event(pair.hub, EVENT_JOIN, CHANNEL_CONTROL, 2));
    CHECK(fake_wait_event(pair.hub, EVENT_JOIN, CHANNEL_BULK, 1));
    fake_at_tick(pair.hub, revoke_second);
    CHECK(fake_wait_event(pair.hub, EVENT_LEAVE, CHANNEL_CONTROL, 1));
    CHECK(fake_wait_event(pair.hub, EVENT_LEAVE, CHANNEL_BULK, 1));
    CHECK(refused(pair.hub, REFUSAL_KEY, 1));
    CHECK_EQUAL(2, fake_count(pair.hub, EVENT_JOIN, CHANNEL_CONTROL));
    fake_destroy(&node);
    close_pair(&pair);
}

/* What a peer without keys says first; `minor` and `mechanism` as it likes. */
static int greet(const struct pair *pair, unsigned char major)
{
    unsigned char greeting[64] = {0xff, 0,    0,     0, 0,   0,   0,   0,
                                  1,    0x7f, major, 0, 'N', 'U', 'L', 'L'};
    int fd = plain_connection(pair->hub->config.port);
    char byte;

    (void)send(fd, greeting, major < 3 ? 12 : sizeof greeting, MSG_NOSIGNAL);
    while (recv(fd, &byte, 1, 0) > 0)
        continue;
    return fd;
}

static void who_has_no_key_is_refused_whatever_it_speaks(void)
{
    struct pair pair;
    struct stranger stranger;

    open_keyed_pair(&pair);
    (void)close(greet(&pair, 3)); /* ends when the hub has cut it */
    CHECK(refused(pair.hub, REFUSAL_MECHANISM, 1));
    for (unsigned char major = 0; major < 3; major++)
        (void)close(greet(&pair, major));
    CHECK(refused(pair.hub, REFUSAL_MALFORMED, 1));
    meet(&stranger, pair.hub, CHANNEL_CONTROL, NULL);
    CHECK(is_cut(&stranger));
    part(&stranger);
    CHECK_EQUAL(1, fake_count(pair.hub, EVENT_JOIN, CHANNEL_CONTROL));
    close_pair(&pair);
}

static void a_node_without_a_key_is_told_that_one_is_needed(void)
{
    struct fake_machine *hub = keyed_hub(), *node;

    fake_start(hub);
    node = fake_node(hub);
    fake_start(node);
    CHECK(fake_wait(node, &node->counts[EVENT_LEAVE], 1));
    fake_stop(node);
    CHECK(was_sent_away(node));
    fake_destroy(&node);
    fake_destroy(&hub);
}

static void read_trouble(struct fake_machine *node)
{
    trouble = *net_trouble(node->net);
}

static bool is_told(struct fake_machine *node, const char *words)
{
    char text[NOTE_BYTES];

    for (int i = 0; i < 500; i++) {
        fake_at_tick(node, read_trouble);
        net_trouble_print(&trouble, true, text, sizeof text);
        if (net_trouble_is_sure(&trouble) && strstr(text, words))
            return true;
    }
    return false;
}

static void a_hub_that_does_not_prove_its_key_gets_no_node(void)
{
    struct fake_machine *hub = keyed_hub(), *node;
    struct key_pair own, other;

    CHECK_OK(key_pair_make(&own, NULL));
    CHECK_OK(key_pair_make(&other, NULL));
    hub->allowed[hub->allowed_count++] = own.shown;
    fake_start(hub);
    node = keyed_node(hub, &own);
    node->config.keys.hub = other.shown;
    fake_start(node);
    CHECK(is_told(node, "has other keys than this node's key is for"));
    fake_stop(node);
    CHECK_EQUAL(0, node->counts[EVENT_JOIN]);
    CHECK_EQUAL(0, hub->counts[EVENT_JOIN]);
    fake_destroy(&node);
    fake_destroy(&hub);
}

static void a_hub_without_keys_gets_no_node_that_wants_one(void)
{
    struct fake_machine *hub = fake_new(true), *node;
    struct key_pair own;

    CHECK_OK(key_pair_make(&own, NULL));
    fake_start(hub);
    node = keyed_node(hub, &own);
    fake_start(node);
    CHECK(is_told(node, "has no key, and this node wants one"));
    fake_stop(node);
    CHECK_EQUAL(0, node->counts[EVENT_JOIN]);
    CHECK_EQUAL(0, hub->counts[EVENT_JOIN]);
    fake_destroy(&node);
    fake_destroy(&hub);
}

static void three_offences_ban_the_key_and_nobody_else(void)
{
    struct pair pair;
    struct key_pair own;
    struct stranger stranger;

    open_keyed_pair(&pair);
    CHECK_OK(key_pair_make(&own, NULL));
    pair.hub->allowed[1] = own.shown;
    fake_at_tick(pair.hub, admit_second);
    for (int i = 0; i < BAN_SCORE_LIMIT; i++) {
        meet_as(&stranger, pair.hub, CHANNEL_CONTROL, &own);
        (void)zmq_send(stranger.socket, "nonsense", 8, 0);
        CHECK(is_cut(&stranger));
        part(&stranger);
    }
    meet_as(&stranger, pair.hub, CHANNEL_BULK, &own);
    CHECK(is_cut(&stranger)); /* libzmq says why only if it has read that */
    part(&stranger);
    CHECK(refused(pair.hub, REFUSAL_BANNED, 1));
    CHECK_EQUAL(0, refusals.count[REFUSAL_KEY]);
    close_pair(&pair);
}

/* As machines do: a note, and then it is dropped. */
static void call_it_an_offence(struct fake_machine *fake,
                               const struct event *event, struct effects *out)
{
    if (event->kind == EVENT_MESSAGE && event->channel == CHANNEL_BULK) {
        effects_note(out, NOTE_OFFENCE, "n1", "makes no sense here");
        effects_drop(out, event->peer);
        return;
    }
    fake_echo(fake, event, out);
}

static void an_offence_that_the_machine_sees_counts_as_well(void)
{
    struct pair pair;
    struct key_pair own;
    struct fake_machine *node;

    open_keyed_pair(&pair);
    (void)pthread_mutex_lock(&pair.hub->lock);
    pair.hub->react = call_it_an_offence;
    (void)pthread_mutex_unlock(&pair.hub->lock);
    CHECK_OK(key_pair_make(&own, NULL));
    pair.hub->allowed[1] = own.shown;
    fake_at_tick(pair.hub, admit_second);
    node = keyed_node(pair.hub, &own);
    fake_start(node);
    CHECK(refused(pair.hub, REFUSAL_BANNED, 1));
    CHECK_EQUAL(3, fake_count(pair.hub, EVENT_JOIN, CHANNEL_BULK));
    fake_destroy(&node);
    close_pair(&pair);
}

void add_net_access_tests(CU_pSuite suite)
{
    TEST(a_key_that_is_known_comes_in_and_the_machine_knows_whose_it_is);
    TEST(without_keys_the_machine_is_told_of_none);
    TEST(the_key_that_enrols_comes_in_as_such);
    TEST(a_node_whose_key_is_refused_is_sent_away_once);
    TEST(a_key_that_is_added_comes_in_without_a_restart);
    TEST(a_key_that_is_revoked_is_cut_at_once_and_stays_out);
    TEST(who_has_no_key_is_refused_whatever_it_speaks);
    TEST(a_node_without_a_key_is_told_that_one_is_needed);
    TEST(a_hub_that_does_not_prove_its_key_gets_no_node);
    TEST(a_hub_without_keys_gets_no_node_that_wants_one);
    TEST(three_offences_ban_the_key_and_nobody_else);
    TEST(an_offence_that_the_machine_sees_counts_as_well);
}
