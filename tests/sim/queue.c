#include "sim/queue.h"

#include "core/prng.h"
#include "tests/check.h"

enum { ITEMS = 2000 };

static void items_come_in_the_order_of_time_then_of_putting(void)
{
    static int items[ITEMS];
    struct queue queue = {0};
    struct prng prng;
    nanos last = -1, at = 0;
    int *before = NULL;

    prng_seed(&prng, 1);
    for (int i = 0; i < ITEMS; i++)
        queue_put(&queue, (nanos)prng_below(&prng, 50), &items[i]);
    for (int i = 0; i < ITEMS; i++) {
        nanos next = queue_next(&queue);
        int *item = queue_pop(&queue, &at);

        CHECK(item && at == next && at >= last);
        CHECK(at > last || item > before);
        last = at;
        before = item;
    }
    CHECK(queue_pop(&queue, &at) == NULL);
    CHECK(queue_next(&queue) == NEVER);
    queue_free(&queue);
}

void add_sim_queue_tests(CU_pSuite suite)
{
    TEST(items_come_in_the_order_of_time_then_of_putting);
}
