/* A way with faults: bytes go in, in pieces of any size, and come out. */
#include "sim/shim/fault.h"

#include <string.h>

#include "core/time.h"
#include "tests/check.h"

enum { GREETING = 64, MOST = 4096 };

struct rig {
    struct shim_faults faults;
    struct shim_fault_figures figures;
    struct shim_fault *fault;
    nanos now;
    unsigned char out[MOST];
    size_t size; /* of out, without the greeting */
};

static void drain(struct rig *rig)
{
    const void *bytes;
    size_t size;

    while ((size = shim_fault_ready(rig->fault, rig->now, &bytes)) > 0) {
        memcpy(rig->out + rig->size, bytes, size);
        rig->size += size;
        shim_fault_consume(rig->fault, size);
    }
}

static void put(struct rig *rig, const void *bytes, size_t size, size_t piece)
{
    for (size_t done = 0; done < size; done += piece) {
        size_t next = size - done < piece ? size - done : piece;

        CHECK(shim_fault_put(rig->fault, rig->now,
                             (const unsigned char *)bytes + done, next));
        drain(rig);
    }
}

/* The greeting goes through, in pieces as sides send it. */
static void begin(struct rig *rig, bool bulk, const char *mechanism)
{
    unsigned char greeting[GREETING] = {0xff};

    memcpy(greeting + 12, mechanism, strlen(mechanism));
    rig->fault = shim_fault_new(&rig->faults, bulk, 1, &rig->figures);
    put(rig, greeting, sizeof greeting, 11);
    CHECK_EQUAL(GREETING, rig->size);
    CHECK(memcmp(rig->out, greeting, sizeof greeting) == 0);
    rig->size = 0;
}

static void end(struct rig *rig)
{
    shim_fault_destroy(&rig->fault);
}

/* A command, and two messages of a header and 6 bytes, a and b. */
static const unsigned char command[] = {4, 3, 'c', 'm', 'd'};
static const unsigned char a[] = {1,   1,   'h', 0,   6,  'a',
                                  'a', 'a', 'a', 'a', 'a'};
static const unsigned char b[] = {1, 1, 'h', 2,   0,   0,   0,   0,   0,
                                  0, 0, 6,   'b', 'b', 'b', 'b', 'b', 'b'};

static bool came(struct rig *rig, const void *bytes, size_t size)
{
    bool same = rig->size >= size && memcmp(rig->out, bytes, size) == 0;

    if (same) {
        rig->size -= size;
        memmove(rig->out, rig->out + size, rig->size);
    }
    return same;
}

static void without_faults_bytes_pass_in_pieces_of_any_size(void)
{
    for (size_t piece = 1; piece < 20; piece++) {
        struct rig rig = {.size = 0};

        begin(&rig, true, "NULL");
        put(&rig, command, sizeof command, piece);
        put(&rig, a, sizeof a, piece);
        put(&rig, b, sizeof b, piece);
        CHECK(came(&rig, command, sizeof command));
        CHECK(came(&rig, a, sizeof a) && came(&rig, b, sizeof b));
        CHECK_EQUAL(0, rig.size);
        CHECK_EQUAL(NEVER, shim_fault_next(rig.fault));
        end(&rig);
    }
}

static unsigned bits_between(const unsigned char *one,
                             const unsigned char *other, size_t size)
{
    unsigned bits = 0;

    for (size_t i = 0; i < size; i++)
        for (unsigned k = 0; k < 8; k++)
            bits += ((one[i] ^ other[i]) >> k) & 1;
    return bits;
}

static void one_bit_of_a_payload_flips_and_none_of_control(void)
{
    struct rig rig = {.faults.flip = 1e6};

    begin(&rig, true, "NULL");
    put(&rig, a, sizeof a, 3);
    CHECK_EQUAL(sizeof a, rig.size);
    CHECK_EQUAL(1, bits_between(a, rig.out, sizeof a));
    CHECK(memcmp(a, rig.out, 5) == 0);
    CHECK_EQUAL(1, rig.figures.flips);
    end(&rig);
    rig.size = 0;
    begin(&rig, false, "NULL");
    put(&rig, a, sizeof a, 3);
    CHECK(came(&rig, a, sizeof a));
    end(&rig);
}

static void a_message_comes_twice_and_a_command_once(void)
{
    struct rig rig = {.faults.duplicate = 1};

    begin(&rig, true, "NULL");
    put(&rig, command, sizeof command, 100);
    put(&rig, a, sizeof a, 100);
    CHECK(came(&rig, command, sizeof command));
    CHECK(came(&rig, a, sizeof a) && came(&rig, a, sizeof a));
    CHECK_EQUAL(0, rig.size);
    CHECK_EQUAL(1, rig.figures.duplicates);
    end(&rig);
}

static void a_message_lets_the_next_one_go_first(void)
{
    struct rig rig = {.faults.swap = 1};

    begin(&rig, true, "NULL");
    put(&rig, a, sizeof a, 100);
    CHECK_EQUAL(0, rig.size);
    put(&rig, b, sizeof b, 100);
    CHECK(came(&rig, b, sizeof b) && came(&rig, a, sizeof a));
    put(&rig, a, sizeof a, 100); /* and if there is none, it goes, too */
    CHECK_EQUAL(SHIM_SWAP, shim_fault_next(rig.fault));
    rig.now = SHIM_SWAP;
    drain(&rig);
    CHECK(came(&rig, a, sizeof a));
    put(&rig, a, sizeof a, 100);
    shim_fault_end(rig.fault);
    drain(&rig);
    CHECK(came(&rig, a, sizeof a));
    end(&rig);
}

static void a_connection_ends_within_a_message(void)
{
    struct rig rig = {.faults.cut = 1};

    begin(&rig, false, "NULL");
    put(&rig, a, sizeof a - 1, 100);
    CHECK(!shim_fault_broken(rig.fault));
    put(&rig, a + sizeof a - 1, 1, 100);
    CHECK(shim_fault_broken(rig.fault));
    CHECK(rig.size < sizeof a && memcmp(a, rig.out, rig.size) == 0);
    rig.size = 0;
    put(&rig, b, sizeof b, 100);
    CHECK_EQUAL(0, rig.size);
    end(&rig);
}

static void a_way_stands_still_and_goes_on(void)
{
    struct rig rig = {.faults.stall = 1};

    begin(&rig, false, "NULL");
    put(&rig, a, sizeof a, 100);
    CHECK_EQUAL(0, rig.size);
    CHECK_EQUAL(SHIM_STALL, shim_fault_next(rig.fault));
    rig.now = SHIM_STALL - 1;
    drain(&rig);
    CHECK_EQUAL(0, rig.size);
    rig.now = SHIM_STALL;
    drain(&rig);
    CHECK(came(&rig, a, sizeof a));
    CHECK_EQUAL(NEVER, shim_fault_next(rig.fault));
    end(&rig);
}

static void of_what_is_encrypted_only_bits_flip(void)
{
    struct rig rig = {.faults = {.duplicate = 1, .swap = 1, .cut = 1}};

    begin(&rig, true, "CURVE");
    CHECK(shim_fault_blind(rig.fault));
    put(&rig, a, sizeof a, 3);
    CHECK(came(&rig, a, sizeof a));
    CHECK(!shim_fault_broken(rig.fault));
    rig.faults.flip = 1e6;
    put(&rig, a, sizeof a, 100);
    CHECK_EQUAL(1, bits_between(a, rig.out, sizeof a));
    end(&rig);
}

static void the_same_seed_does_the_same(void)
{
    const struct shim_faults faults = {
        .flip = 20000, .duplicate = 0.1, .swap = 0.1};
    struct rig rigs[2] = {{.faults = faults}, {.faults = faults}};

    for (int i = 0; i < 2; i++) {
        begin(&rigs[i], true, "NULL");
        for (int k = 0; k < 100; k++)
            put(&rigs[i], a, sizeof a, i ? 4 : 100);
        end(&rigs[i]);
    }
    CHECK(rigs[0].figures.duplicates > 3 && rigs[0].figures.flips > 1);
    CHECK_EQUAL(rigs[0].size, rigs[1].size);
    CHECK(memcmp(rigs[0].out, rigs[1].out, rigs[0].size) == 0);
}

void add_sim_shim_fault_tests(CU_pSuite suite)
{
    TEST(without_faults_bytes_pass_in_pieces_of_any_size);
    TEST(one_bit_of_a_payload_flips_and_none_of_control);
    TEST(a_message_comes_twice_and_a_command_once);
    TEST(a_message_lets_the_next_one_go_first);
    TEST(a_connection_ends_within_a_message);
    TEST(a_way_stands_still_and_goes_on);
    TEST(of_what_is_encrypted_only_bits_flip);
    TEST(the_same_seed_does_the_same);
}
