/* Who may come in. */
#include "net/allowed_keys.h"

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
    struct allowed_keys allowed;

    allowed_keys_init(&allowed);
    CHECK_EQUAL(KEY_ROLE_NONE, allowed_keys_admit(&allowed, &key));
    CHECK_EQUAL(KEY_ROLE_NONE, allowed_keys_role(&allowed, 0));
    allowed_keys_free(&allowed);
}

static void one_of_many_keys_is_found_and_no_other(void)
{
    struct key keys[MANY], other = key_of(MANY);
    struct allowed_keys allowed;

    allowed_keys_init(&allowed);
    for (unsigned i = 0; i < MANY; i++)
        keys[i] = key_of(i);
    allowed_keys_set(&allowed, keys, MANY, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        CHECK_EQUAL(KEY_ROLE_NODE, allowed_keys_admit(&allowed, &keys[i]));
        CHECK_EQUAL(KEY_ROLE_NODE,
                    allowed_keys_role(&allowed, key_hash(&keys[i])));
    }
    CHECK_EQUAL(KEY_ROLE_NONE, allowed_keys_admit(&allowed, &other));
    allowed_keys_free(&allowed);
}

static void the_key_that_enrols_is_no_nodes_and_a_new_list_is_the_whole(void)
{
    struct key keys[2] = {key_of(1), key_of(2)}, enrols = key_of(3);
    struct allowed_keys allowed;

    allowed_keys_init(&allowed);
    allowed_keys_set(&allowed, keys, 2, &enrols);
    CHECK_EQUAL(KEY_ROLE_ENROLS, allowed_keys_admit(&allowed, &enrols));
    allowed_keys_set(&allowed, keys, 1, NULL);
    CHECK_EQUAL(KEY_ROLE_NODE, allowed_keys_admit(&allowed, &keys[0]));
    CHECK_EQUAL(KEY_ROLE_NONE, allowed_keys_admit(&allowed, &keys[1]));
    CHECK_EQUAL(KEY_ROLE_NONE, allowed_keys_admit(&allowed, &enrols));
    allowed_keys_free(&allowed);
}

/* A hash is eight bytes: whoever finds a key of the same one is nobody. */
static void a_key_is_compared_and_not_its_hash_alone(void)
{
    struct key keys[1] = {key_of(1)}, other = key_of(2);
    struct allowed_keys allowed;

    allowed_keys_init(&allowed);
    allowed_keys_set(&allowed, keys, 1, NULL);
    allowed.rows[0].hash = key_hash(&other);
    CHECK_EQUAL(KEY_ROLE_NONE, allowed_keys_admit(&allowed, &other));
    allowed_keys_free(&allowed);
}

void add_net_allowed_keys_tests(CU_pSuite suite)
{
    TEST(at_first_nobody_is_known);
    TEST(one_of_many_keys_is_found_and_no_other);
    TEST(the_key_that_enrols_is_no_nodes_and_a_new_list_is_the_whole);
    TEST(a_key_is_compared_and_not_its_hash_alone);
}
