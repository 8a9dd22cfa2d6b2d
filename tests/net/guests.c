/* Who may come in. */
#include "net/guests.h"

#include "tests/check.h"

enum { MANY = 200 };

static struct key key_of(unsigned number)
{
    struct key key = {{0}};

    key.bytes[0] = (uint8_t)number;
    key.bytes[1] = (uint8_t)(number >> 8);
    return key;
}

static void at_first_nobody_is_known(void)
{
    struct key key = key_of(1);
    struct guests guests;

    guests_init(&guests);
    CHECK_EQUAL(GUEST_NOBODY, guests_admit(&guests, &key));
    CHECK_EQUAL(GUEST_NOBODY, guests_role(&guests, 0));
    guests_free(&guests);
}

static void one_of_many_keys_is_found_and_no_other(void)
{
    struct key keys[MANY], other = key_of(MANY);
    struct guests guests;

    guests_init(&guests);
    for (unsigned i = 0; i < MANY; i++)
        keys[i] = key_of(i);
    guests_allow(&guests, keys, MANY, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        CHECK_EQUAL(GUEST_NODE, guests_admit(&guests, &keys[i]));
        CHECK_EQUAL(GUEST_NODE, guests_role(&guests, key_hash(&keys[i])));
    }
    CHECK_EQUAL(GUEST_NOBODY, guests_admit(&guests, &other));
    guests_free(&guests);
}

static void the_key_that_enrols_is_no_nodes_and_a_new_list_is_the_whole(void)
{
    struct key keys[2] = {key_of(1), key_of(2)}, enrols = key_of(3);
    struct guests guests;

    guests_init(&guests);
    guests_allow(&guests, keys, 2, &enrols);
    CHECK_EQUAL(GUEST_ENROLS, guests_admit(&guests, &enrols));
    guests_allow(&guests, keys, 1, NULL);
    CHECK_EQUAL(GUEST_NODE, guests_admit(&guests, &keys[0]));
    CHECK_EQUAL(GUEST_NOBODY, guests_admit(&guests, &keys[1]));
    CHECK_EQUAL(GUEST_NOBODY, guests_admit(&guests, &enrols));
    guests_free(&guests);
}

/* A hash is eight bytes: whoever finds a key of the same one is nobody. */
static void a_key_is_compared_and_not_its_hash_alone(void)
{
    struct key keys[1] = {key_of(1)}, other = key_of(2);
    struct guests guests;

    guests_init(&guests);
    guests_allow(&guests, keys, 1, NULL);
    guests.rows[0].hash = key_hash(&other);
    CHECK_EQUAL(GUEST_NOBODY, guests_admit(&guests, &other));
    guests_free(&guests);
}

void add_net_guests_tests(CU_pSuite suite)
{
    TEST(at_first_nobody_is_known);
    TEST(one_of_many_keys_is_found_and_no_other);
    TEST(the_key_that_enrols_is_no_nodes_and_a_new_list_is_the_whole);
    TEST(a_key_is_compared_and_not_its_hash_alone);
}
