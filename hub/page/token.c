#include "hub/page/token.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "store/file.h"

/* The key is what is secret; the words say what for. */
static void make_cookie(struct token *token)
{
    static const char words[] = "starswitch page cookie";
    unsigned char key[crypto_generichash_KEYBYTES], hash[32];

    (void)crypto_generichash(key, sizeof key,
                             (const unsigned char *)token->text,
                             strlen(token->text), NULL, 0);
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)words,
                             sizeof words - 1, key, sizeof key);
    (void)sodium_bin2hex(token->cookie, sizeof token->cookie, hash,
                         sizeof hash);
    sodium_memzero(key, sizeof key);
}

enum status token_set(struct token *out, const char *text, struct why *why)
{
    size_t length = strlen(text);

    if (length < TOKEN_LEAST || length > TOKEN_MOST)
        return because(why, STATUS_CONFIG,
                       "the page's token has %zu characters; it must have %d "
                       "to %d",
                       length, TOKEN_LEAST, TOKEN_MOST);
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return because(why, STATUS_CONFIG,
                           "the page's token holds a blank or what is not "
                           "ASCII: letters and digits are best");
    if (sodium_init() < 0)
        return because(why, STATUS_UNAVAILABLE, "libsodium does not start");
    memcpy(out->text, text, length + 1);
    make_cookie(out);
    out->set = true;
    return STATUS_OK;
}

enum status token_read(const char *path, struct token *out, struct why *why)
{
    enum { LONGEST_FILE = 4096 };
    struct stat file;
    char *text = NULL;
    size_t size = 0;
    enum status status = file_read(path, LONGEST_FILE, &text, &size, why);

    if (status != STATUS_OK)
        return status;
    if (stat(path, &file) == 0 && (file.st_mode & (S_IRWXG | S_IRWXO)))
        status = because(why, STATUS_CONFIG,
                         "%.160s holds a token and others may read it: "
                         "chmod 600",
                         path);
    text[strcspn(text, "\r\n")] = '\0';
    if (status == STATUS_OK)
        status = token_set(out, text, why);
    sodium_memzero(text, size);
    free(text);
    return status;
}

static bool is_same(const char *expected, const char *given, size_t length)
{
    return length == strlen(expected) &&
           sodium_memcmp(expected, given, length) == 0;
}

static bool is_bearer(const struct token *token, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    const char *given = authorization + sizeof scheme - 1;

    return strncasecmp(authorization, scheme, sizeof scheme - 1) == 0 &&
           is_same(token->text, given, strlen(given));
}

/* One of `a=b; c=d`. */
static bool has_cookie(const struct token *token, const char *cookie)
{
    static const char name[] = TOKEN_COOKIE "=";

    while (*cookie) {
        size_t length = strcspn(cookie, ";");

        if (length >= sizeof name - 1 &&
            memcmp(cookie, name, sizeof name - 1) == 0 &&
            is_same(token->cookie, cookie + sizeof name - 1,
                    length - (sizeof name - 1)))
            return true;
        cookie += length;
        cookie += strspn(cookie, "; ");
    }
    return false;
}

bool token_admits(const struct token *token, const char *authorization,
                  const char *cookie)
{
    if (!token->set)
        return true;
    return (authorization && is_bearer(token, authorization)) ||
           (cookie && has_cookie(token, cookie));
}

void token_forget(struct token *token)
{
    explicit_bzero(token, sizeof *token);
}
