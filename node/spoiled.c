/* The trainer's parameters hold NaN or infinity: nobody gets them. */
#include "node/state.h"

#define ASKS_AGAIN (10 * SECOND)

/* A hub that asks the node to go on, or gives it others that go bad at once, is
 * asked, and the user told, now and then. */
void spoiled_offer(struct node *node)
{
    node->diverged = true;
    if (node->now < node->hello_after)
        return;
    effects_note(node->out, NOTE_DECLINED, node->name,
                 "its parameters hold NaN or infinity; taking the hub's");
    joining_hello(node);
    node->hello_after = node->now + ASKS_AGAIN;
}

/* A run cannot begin with such parameters: somebody else must found it. */
void spoiled_founder(struct node *node)
{
    struct msg bye = {.kind = MSG_BYE};

    if (node->start == START_GIVE) {
        keep_spoiled(node);
        joining_drop(node, "the centre that this node keeps holds NaN or "
                           "infinity");
        return;
    }
    bye.bye.farewell = FAREWELL_LEAVING;
    node_to_hub(node, &bye, NULL);
    if (!node->run) {
        node_end(node, true, FAREWELL_SCHEMA,
                 "the first parameters hold NaN or infinity");
        return;
    }
    node->diverged = true;
    node->hello_after = node->now + ASKS_AGAIN;
    joining_drop(node, "the hub wants this node's parameters, and they hold "
                       "NaN or infinity");
}
