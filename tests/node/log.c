#include "tests/check.h"
#include "tests/node/node_fixture.h"

static void a_hub_of_the_former_protocol_is_told_what_it_knows(void)
{
    for (uint32_t protocol = PROTOCOL_MIN; protocol <= PROTOCOL_TOLD;
         protocol++) {
        struct node_fixture *f = node_fixture_new();
        struct msg progress = {.kind = MSG_LOCAL_PING},
                   line = {.kind = MSG_LOCAL_LOG};
        bool told = protocol == PROTOCOL_TOLD;

        f->welcome.protocol = protocol;
        node_fixture_ready(f, 1);
        progress.local_ping.idle = 7;
        hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
        hand_say(&f->hand, PEER_TRAINER, &line, NULL);
        hand_wait(&f->hand, SECOND);
        CHECK_EQUAL(told ? 7 : 0, node_fixture_sent(f, MSG_PING)->ping.idle);
        CHECK_EQUAL(told, node_fixture_sent(f, MSG_LOG) != NULL);
        node_fixture_destroy(&f);
    }
}

void add_node_log_tests(CU_pSuite suite)
{
    TEST(a_hub_of_the_former_protocol_is_told_what_it_knows);
}
