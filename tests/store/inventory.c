#include "store/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

/* Two files, one of three blocks, in parts that end anywhere. */
static bool make(struct inventory *out)
{
    const size_t half = INVENTORY_BLOCK / 2 + 5;
    char *bytes = calloc(5, half);
    struct part parts[5];
    bool made;

    if (!bytes)
        return false;
    for (size_t i = 0; i < 5; i++) {
        memset(bytes + i * half, (int)i, half);
        parts[i] = (struct part){bytes + i * half, half};
    }
    *out = (struct inventory){.run = 9, .version = 45, .epoch = 1ull << 32};
    made = inventory_add(out, "big", parts, 5, NULL) == STATUS_OK &&
           inventory_add(out, "empty", NULL, 0, NULL) == STATUS_OK;
    CHECK_EQUAL(inventory_sum(bytes, INVENTORY_BLOCK), out->files[0].sums[0]);
    CHECK_EQUAL(inventory_sum(bytes + 2 * (size_t)INVENTORY_BLOCK,
                              5 * half - 2 * (size_t)INVENTORY_BLOCK),
                out->files[0].sums[2]);
    free(bytes);
    return CHECK(made);
}

static void what_was_printed_is_parsed(void)
{
    struct inventory one, other = {0};
    size_t size = 0, again_size = 0;
    char *text = make(&one) ? inventory_print(&one, &size) : NULL, *again;

    if (!CHECK(text))
        return;
    CHECK_EQUAL(3, inventory_blocks(one.files[0].size));
    CHECK_OK(inventory_parse(text, size, &other, NULL));
    CHECK_EQUAL(9, other.run);
    CHECK_EQUAL(45, other.version);
    CHECK_EQUAL(1ull << 32, other.epoch);
    CHECK_EQUAL(2, other.count);
    again = inventory_print(&other, &again_size);
    CHECK_EQUAL(size, again_size);
    CHECK_TEXT(text, again);
    free(again);
    free(text);
    inventory_free(&one);
    inventory_free(&other);
}

static void every_prefix_of_a_manifest_is_refused(void)
{
    struct inventory one;
    struct why why;
    size_t size = 0;
    char *text = make(&one) ? inventory_print(&one, &size) : NULL;

    for (size_t i = 0; text && i < size; i++) {
        struct inventory other = {0};

        CHECK_STATUS(STATUS_MALFORMED, inventory_parse(text, i, &other, &why));
        inventory_free(&other);
    }
    free(text);
    inventory_free(&one);
}

/* Parses the lines with the right sum behind them. */
static enum status parse_lines(const char *lines, struct why *why)
{
    struct inventory out = {0};
    char text[400];
    unsigned long long sum = inventory_sum(lines, strlen(lines));
    int size = snprintf(text, sizeof text, "%send %016llx\n", lines, sum);
    enum status status = inventory_parse(text, (size_t)size, &out, why);

    inventory_free(&out);
    return status;
}

#define HEAD                                                                   \
    "starswitch-generation 1\nrun 0000000000000009\nversion 4\nepoch 5\n"

static void what_no_hub_would_write_is_refused(void)
{
    static const char *const wrong[] = {
        "",
        "starswitch-generation 2\nrun 0000000000000009\n",
        "starswitch-generation 1\nrun 9\nversion 4\nepoch 5\n",
        "starswitch-generation 1\nrun 0000000000000009\nversion 04\nepoch 5\n",
        HEAD "\n",
        HEAD "file a 0",
        HEAD "file a 00\n",
        HEAD "file  0\n",
        HEAD "file ../a 0\n",
        HEAD "file .a 0\n",
        HEAD "file A 0\n",
        HEAD "file a 0\nfile a 0\n",
        HEAD "file a 1\n",
        HEAD "file a 1 0123456789abcdeF\n",
        HEAD "file a 0 0123456789abcdef\n",
        HEAD "file a 18446744073709551616\n",
        HEAD "file a 18446744073709551615 0123456789abcdef\n",
        HEAD "file a-name-of-more-than-forty-letters-is-too-long 0\n"};
    struct why why;

    CHECK_OK(parse_lines(HEAD "file a 0\nfile b 1 0123456789abcdef\n", &why));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(STATUS_MALFORMED, parse_lines(wrong[i], &why));
        CHECK_CONTAINS("its MANIFEST", why.text);
    }
}

void add_store_inventory_tests(CU_pSuite suite)
{
    TEST(what_was_printed_is_parsed);
    TEST(every_prefix_of_a_manifest_is_refused);
    TEST(what_no_hub_would_write_is_refused);
}
