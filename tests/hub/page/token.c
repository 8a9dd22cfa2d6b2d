#include "hub/page/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static const char secret[] = "correct-horse-battery";

static void a_token_comes_in_a_header_or_as_a_cookie(void)
{
    char cookie[200];
    struct token token = {0};
    struct why why;

    CHECK(token_admits(&token, NULL, NULL));
    CHECK_OK(token_set(&token, secret, &why));
    CHECK(!token_admits(&token, NULL, NULL));
    CHECK(token_admits(&token, "Bearer correct-horse-battery", NULL));
    CHECK(token_admits(&token, "bearer correct-horse-battery", NULL));
    CHECK(!token_admits(&token, "Bearer correct-horse-batter", NULL));
    CHECK(!token_admits(&token, "Bearer correct-horse-battery2", NULL));
    CHECK(!token_admits(&token, "Basic correct-horse-battery", NULL));
    CHECK(!token_admits(&token, "", ""));
    CHECK_EQUAL(64, strlen(token.cookie));
    CHECK(strstr(token.cookie, secret) == NULL);
    (void)snprintf(cookie, sizeof cookie, "a=b; " TOKEN_COOKIE "=%s; c=d",
                   token.cookie);
    CHECK(token_admits(&token, NULL, cookie));
    (void)snprintf(cookie, sizeof cookie, TOKEN_COOKIE "=%s", token.cookie);
    CHECK(token_admits(&token, "Bearer wrong", cookie));
    cookie[strlen(cookie) - 1] ^= 1;
    CHECK(!token_admits(&token, NULL, cookie));
    CHECK(!token_admits(&token, NULL, TOKEN_COOKIE "="));
    CHECK(!token_admits(&token, NULL, TOKEN_COOKIE));
    CHECK(!token_admits(&token, NULL, ";;;;  ; ="));
    token_forget(&token);
    CHECK(token_admits(&token, NULL, NULL));
}

static void a_token_that_can_be_guessed_is_none(void)
{
    struct token token = {0};
    char longest[TOKEN_MOST + 2];
    struct why why;

    CHECK_STATUS(STATUS_CONFIG, token_set(&token, "", &why));
    CHECK_STATUS(STATUS_CONFIG, token_set(&token, "fifteen-letters", &why));
    CHECK_CONTAINS("16 to 255", why.text);
    CHECK_STATUS(STATUS_CONFIG,
                 token_set(&token, "two words are not a token", &why));
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK_STATUS(STATUS_CONFIG, token_set(&token, longest, &why));
    CHECK(!token.set);
}

static void a_file_that_others_can_read_holds_no_secret(void)
{
    char path[] = "/tmp/star-token-XXXXXX";
    int fd = mkstemp(path);
    struct token token = {0};
    struct why why;

    if (fd < 0)
        abort();
    CHECK(write(fd, "correct-horse-battery\nmore\n", 27) == 27);
    CHECK(fchmod(fd, 0644) == 0);
    CHECK_STATUS(STATUS_CONFIG, token_read(path, &token, &why));
    CHECK_CONTAINS("chmod 600", why.text);
    CHECK(fchmod(fd, 0600) == 0);
    CHECK_OK(token_read(path, &token, &why));
    CHECK_TEXT(secret, token.text);
    CHECK(ftruncate(fd, 5000) == 0);
    CHECK_STATUS(STATUS_CONFIG, token_read(path, &token, &why));
    CHECK_CONTAINS("it is longer than 4096 bytes", why.text);
    (void)close(fd);
    (void)unlink(path);
    CHECK_STATUS(STATUS_IO, token_read(path, &token, &why));
}

void add_hub_page_token_tests(CU_pSuite suite)
{
    TEST(a_token_comes_in_a_header_or_as_a_cookie);
    TEST(a_token_that_can_be_guessed_is_none);
    TEST(a_file_that_others_can_read_holds_no_secret);
}
