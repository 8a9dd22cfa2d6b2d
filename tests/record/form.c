#include "record/form.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

/* A message of this kind, each field with something else. */
static struct msg message_of(enum msg_kind kind)
{
    const struct msg_info *info = msg_info(kind);
    struct msg msg;

    memset(&msg, 0, sizeof msg);
    msg.kind = kind;
    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *field = &info->fields[i];
        char *to = (char *)&msg + field->offset;
        uint32_t small = field->limit ? field->limit - 1 : 77 + i;
        uint64_t large = UINT64_MAX - i;
        double real = i % 2 ? (double)INFINITY : -DBL_MIN;

        if (field->type == FIELD_TEXT)
            (void)snprintf(to, MSG_TEXT_BYTES, "\"text\" %u\n", i);
        else if (field->type == FIELD_U32)
            memcpy(to, &small, sizeof small);
        else if (field->type == FIELD_F64)
            memcpy(to, &real, sizeof real);
        else
            memcpy(to, &large, sizeof large);
    }
    return msg;
}

/* Whether both print the same, and are the same bytes in a form. */
static bool are_equal(const struct msg *a, const struct msg *b)
{
    struct form forms[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    char lines[2][1024];
    bool equal;

    (void)msg_print(a, lines[0], sizeof lines[0]);
    (void)msg_print(b, lines[1], sizeof lines[1]);
    form_message(&forms[0], a);
    form_message(&forms[1], b);
    equal = strcmp(lines[0], lines[1]) == 0 &&
            forms[0].length == forms[1].length &&
            memcmp(forms[0].bytes, forms[1].bytes, forms[0].length) == 0;
    free(forms[0].bytes);
    free(forms[1].bytes);
    return equal;
}

static void every_message_comes_back_as_it_was(void)
{
    for (unsigned kind = 0; kind < MSG_KINDS; kind++) {
        const struct msg msg = message_of(kind);
        struct form form = {NULL, 0, 0};
        struct formed formed;
        struct msg again;

        form_message(&form, &msg);
        formed = (struct formed){form.bytes, form.length, false};
        formed_message(&formed, &again);
        CHECK(!formed.bad);
        CHECK_EQUAL(0, formed.left);
        CHECK(are_equal(&msg, &again));
        free(form.bytes);
    }
}

static void no_part_of_one_is_taken_for_it(void)
{
    for (unsigned kind = 0; kind < MSG_KINDS; kind++) {
        const struct msg msg = message_of(kind);
        struct form form = {NULL, 0, 0};
        struct msg again;

        form_message(&form, &msg);
        for (size_t i = 0; i < form.length; i++) {
            struct formed formed = {form.bytes, i, false};

            formed_message(&formed, &again);
            CHECK(formed.bad);
        }
        free(form.bytes);
    }
}

static void numbers_beyond_their_limit_are_refused(void)
{
    struct form form = {NULL, 0, 0};
    struct formed formed;
    struct msg msg = message_of(MSG_VERDICT), again;

    msg.verdict.verdict = VERDICT_COUNT;
    form_message(&form, &msg);
    formed = (struct formed){form.bytes, form.length, false};
    formed_message(&formed, &again);
    CHECK(formed.bad);
    form.length = 0;
    form_number(&form, MSG_KINDS);
    formed = (struct formed){form.bytes, form.length, false};
    formed_message(&formed, &again);
    CHECK(formed.bad);
    free(form.bytes);
}

static void a_text_that_is_too_long_is_refused(void)
{
    struct form form = {NULL, 0, 0};
    struct formed formed;
    char text[4] = "x";

    form_string(&form, "abcd", 4);
    formed = (struct formed){form.bytes, form.length, false};
    formed_text(&formed, text, sizeof text);
    CHECK(formed.bad);
    CHECK_TEXT("", text);
    formed = (struct formed){form.bytes, form.length, false};
    memset(form.bytes, 0xff, 8);
    formed_text(&formed, text, sizeof text);
    CHECK(formed.bad);
    free(form.bytes);
}

void add_record_form_tests(CU_pSuite suite)
{
    TEST(every_message_comes_back_as_it_was);
    TEST(no_part_of_one_is_taken_for_it);
    TEST(numbers_beyond_their_limit_are_refused);
    TEST(a_text_that_is_too_long_is_refused);
}
