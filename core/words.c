#include "core/words.h"

#define LIST(list, LIST_, doc) const struct word list##_words[] = {
#define WORD(LIST_, name, text, doc) {#name, text, doc},
#define LIST_END(list, LIST_)                                                  \
    }                                                                          \
    ;
#include "core/words.def"
#undef LIST
#undef WORD
#undef LIST_END
