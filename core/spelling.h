/* How alike two words are, for "did you mean". */
#ifndef CORE_SPELLING_H
#define CORE_SPELLING_H

/* Characters to insert, delete or replace to turn one word into the other
 * (Levenshtein 1966); only the first 63 of each word count. */
unsigned spelling_distance(const char *a, const char *b);

#endif
