/* A node that offers what another one has learnt is told of. */
#include "policies/copies.h"
#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

enum { NODES = 4 };

struct school {
    struct hub_fixture *f;
    struct fake_node node[NODES];
    uint64_t exchange;
};

static struct school school_of(const char *policy)
{
    static const char *const names[NODES] = {"a", "b", "c", "d"};
    struct school school = {.f = hub_fixture_new()};

    school.f->config.policy = preset_find(policy)->policy;
    hub_fixture_open(school.f);
    for (unsigned i = 0; i < NODES; i++)
        school.node[i] = fake_node_comes(school.f, names[i]);
    fake_node_founds(school.f, &school.node[0], 1);
    return school;
}

/* A round in which the first three go ways of their own, and a part of it
 * together, and the last one goes the way of `like`, three times as far. */
static void goes(struct school *school, unsigned like)
{
    uint64_t exchange = ++school->exchange;

    for (unsigned i = 0; i < NODES; i++) {
        struct fake_node *node = &school->node[i];
        unsigned way = i < FIXTURE_CHUNKS ? i : like;

        fake_node_offers(school->f, node, exchange);
        for (uint32_t chunk = 0; chunk < FIXTURE_CHUNKS; chunk++)
            fake_node_delivers(school->f, node, exchange, chunk,
                               (i < FIXTURE_CHUNKS ? 1 : 3) *
                                   (chunk == way ? 0.4 : 0.1));
    }
    for (unsigned i = 0; i < NODES; i++)
        fake_node_returns(school->f, &school->node[i], exchange);
}

static void who_copies_for_eight_rounds_is_told_of_once(void)
{
    struct school school = school_of("mean");
    const struct note *note;

    for (unsigned i = 1; i < COPY_ROUNDS; i++) {
        goes(&school, 1);
        CHECK(!hand_note(&school.f->hand, NOTE_ALIKE));
    }
    goes(&school, 2); /* whom does not matter */
    note = hand_note(&school.f->hand, NOTE_ALIKE);
    if (CHECK(note != NULL)) {
        CHECK_TEXT("d", note->subject);
        CHECK_CONTAINS("offers what c does", note->text);
    }
    hand_forget(&school.f->hand);
    goes(&school, 2);
    CHECK(!hand_note(&school.f->hand, NOTE_ALIKE));
    hub_fixture_destroy(&school.f);
}

/* Fewer in a row are chance. */
static void who_does_so_now_and_then_is_not(void)
{
    struct school school = school_of("mean");

    for (unsigned i = 0; i < 2 * COPY_ROUNDS; i++) {
        goes(&school, i % COPY_ROUNDS == 2 ? NODES : 1);
        CHECK(!hand_note(&school.f->hand, NOTE_ALIKE));
    }
    hub_fixture_destroy(&school.f);
}

void add_hub_copies_tests(CU_pSuite suite)
{
    TEST(who_copies_for_eight_rounds_is_told_of_once);
    TEST(who_does_so_now_and_then_is_not);
}
