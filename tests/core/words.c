#include "core/words.h"

#include <string.h>

#include "tests/check.h"

static const struct {
    const struct word *words;
    unsigned count;
} lists[] = {
#define LIST(list, LIST_, doc)                                                 \
    {                                                                          \
        list##_words,
#define WORD(LIST_, name, text, doc)
#define LIST_END(list, LIST_)                                                  \
    LIST_##_COUNT                                                              \
    }                                                                          \
    ,
#include "core/words.def"
#undef LIST
#undef WORD
#undef LIST_END
};

enum { LISTS = sizeof lists / sizeof *lists };

static void words_stand_where_their_enum_says(void)
{
    CHECK_TEXT("merged", verdict_words[VERDICT_MERGED].text);
    CHECK_TEXT("LOST", verdict_words[VERDICT_LOST].name);
    CHECK_TEXT("rebase", verb_words[VERB_REBASE].text);
    CHECK_TEXT("local", channel_words[CHANNEL_LOCAL].text);
}

static void every_word_is_said_and_explained(void)
{
    for (unsigned list = 0; list < LISTS; list++)
        for (unsigned i = 0; i < lists[list].count; i++) {
            CHECK(strlen(lists[list].words[i].text) > 0);
            CHECK(strlen(lists[list].words[i].doc) > 0);
        }
}

static void no_word_is_twice_in_a_list(void)
{
    for (unsigned list = 0; list < LISTS; list++)
        for (unsigned i = 0; i < lists[list].count; i++)
            for (unsigned j = 0; j < i; j++)
                CHECK(strcmp(lists[list].words[i].text,
                             lists[list].words[j].text) != 0);
}

void add_core_words_tests(CU_pSuite suite)
{
    TEST(words_stand_where_their_enum_says);
    TEST(every_word_is_said_and_explained);
    TEST(no_word_is_twice_in_a_list);
}
