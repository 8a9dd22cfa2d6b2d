/* The token that the page's server may ask for: a secret of a file.
 *
 * It comes with each request, as `Authorization: Bearer TOKEN` or, from a
 * browser, as a cookie that is made from it and from which it cannot be told.
 * Comparing takes the same time whatever is right. */
#ifndef HUB_PAGE_TOKEN_H
#define HUB_PAGE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum {
    TOKEN_LEAST = 16, /* characters: nobody guesses that by asking */
    TOKEN_MOST = 255,
    TOKEN_COOKIE_BYTES = 65
};

#define TOKEN_COOKIE "starswitch_page"

struct token {
    bool set; /* false: nobody is asked for one */
    char text[TOKEN_MOST + 1];
    char cookie[TOKEN_COOKIE_BYTES]; /* in hexadecimal */
};

/* The first line of a file that nobody else may read. IO; CONFIG: it is not
 * private, or too short or long, or holds what is not visible ASCII. */
enum status token_read(const char *path, struct token *out,
                       struct why *why) MUST_CHECK;
/* The same of a text. */
enum status token_set(struct token *out, const char *text,
                      struct why *why) MUST_CHECK;
/* Whether one of these headers, NULL or a text, holds it; or none is set. */
bool token_admits(const struct token *token, const char *authorization,
                  const char *cookie);
/* Where nobody needs it any more. */
void token_forget(struct token *token);

#endif
