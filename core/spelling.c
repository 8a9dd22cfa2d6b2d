#include "core/spelling.h"

#include <string.h>

enum { LONGEST = 63 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned smaller = a < b ? a : b;

    return smaller < c ? smaller : c;
}

unsigned spelling_distance(const char *a, const char *b)
{
    size_t width = strnlen(b, LONGEST);
    unsigned row[LONGEST + 1]; /* distances of a's beginning to b's */

    for (unsigned j = 0; j <= width; j++)
        row[j] = j;
    for (unsigned i = 0; i < LONGEST && a[i]; i++) {
        unsigned diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < width; j++) {
            unsigned replaced = diagonal + (a[i] != b[j]);

            diagonal = row[j + 1];
            row[j + 1] = least(replaced, row[j] + 1, row[j + 1] + 1);
        }
    }
    return row[width];
}
