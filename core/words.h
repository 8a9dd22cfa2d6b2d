/* The closed lists of core/words.def as enums, and their words. */
#ifndef CORE_WORDS_H
#define CORE_WORDS_H

#define LIST(list, LIST_, doc) enum list {
#define WORD(LIST_, name, text, doc) LIST_##_##name,
#define LIST_END(list, LIST_)                                                  \
    LIST_##_COUNT                                                              \
    }                                                                          \
    ;
#include "core/words.def"
#undef LIST
#undef WORD
#undef LIST_END

struct word {
    const char *name, *text, *doc;
};

/* The rows of a list, indexed by its enum: `verdict_words[VERDICT_MERGED]`. */
#define LIST(list, LIST_, doc) extern const struct word list##_words[];
#define WORD(LIST_, name, text, doc)
#define LIST_END(list, LIST_)
#include "core/words.def"
#undef LIST
#undef WORD
#undef LIST_END

#endif
