#include "hub/page/web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hub/page/follow.h"
#include "hub/page/visit.h"
#include "tests/check.h"
#include "tests/hub/page/browser.h"

static struct browser browser;

#define POST                                                                   \
    "POST /api/v1/order HTTP/1.1\r\nHost: localhost\r\n"                       \
    "Connection: close\r\n"

#define FOLLOW "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"

/* The server looks ten times a second. */
static void wait_for_news(void)
{
    for (int i = 0; i < 50; i++) {
        (void)browser_get(&browser, "/status", "");
        if (strstr(browser.answer, "\"version\":212"))
            return;
        (void)usleep(100000);
    }
    CHECK_CONTAINS("\"version\":212", browser.answer);
}

static void status_is_what_the_hub_has_told(void)
{
    browser_open(&browser, NULL);
    CHECK_EQUAL(503, browser_get(&browser, "/status", ""));
    CHECK_EQUAL(503, browser_get(&browser, "/readyz", ""));
    CHECK_EQUAL(200, browser_get(&browser, "/healthz", ""));
    browser_tell(&browser);
    wait_for_news();
    CHECK_EQUAL(200, browser_get(&browser, "/status", ""));
    CHECK_CONTAINS("\"state\":\"testing\"", browser.answer);
    CHECK_CONTAINS("\"name\":\"n2\"", browser.answer);
    CHECK_CONTAINS("Content-Type: application/json", browser.answer);
    CHECK_CONTAINS("X-Content-Type-Options: nosniff", browser.answer);
    CHECK_CONTAINS("Content-Security-Policy: default-src", browser.answer);
    CHECK_EQUAL(200, browser_get(&browser, "/readyz", ""));
    browser_close(&browser);
}

/* Who would be drawn by his name is written. */
static void a_drawing_holds_the_nodes_and_no_script(void)
{
    browser_open(&browser, NULL);
    CHECK_EQUAL(503, browser_get(&browser, "/snapshot.svg", ""));
    (void)snprintf(browser.nodes[0].name, NODE_NAME_BYTES,
                   "\xe6\x9d\xb1\xe4\xba\xac \xf0\x9f\x90\x8d");
    (void)snprintf(browser.nodes[1].name, NODE_NAME_BYTES, "<script>n2&");
    browser_tell(&browser);
    wait_for_news();
    CHECK_EQUAL(200, browser_get(&browser, "/snapshot.svg", ""));
    CHECK_CONTAINS("Content-Type: image/svg+xml", browser.answer);
    CHECK_CONTAINS("version 212", browser.answer);
    CHECK_CONTAINS(">&lt;script&gt;n2&amp;</text>", browser.answer);
    CHECK_CONTAINS(">\xe6\x9d\xb1\xe4\xba\xac \xf0\x9f\x90\x8d</text>",
                   browser.answer);
    CHECK(!strstr(browser.answer, "<script"));
    CHECK(!strstr(browser.answer, "href"));
    CHECK_CONTAINS("</svg>\n", browser.answer);
    browser_close(&browser);
}

/* A script need not report losses. The time of the save is a date: ten digits
 * before the point. */
static void what_is_not_known_is_a_dash_and_a_save_has_its_second(void)
{
    browser_open(&browser, NULL);
    browser.view.score = browser.nodes[0].loss = browser.nodes[1].loss =
        NO_SCORE;
    browser.snapshot.saved = 1795782251 * SECOND;
    browser_tell(&browser);
    wait_for_news();
    CHECK_EQUAL(200, browser_get(&browser, "/snapshot.svg", ""));
    CHECK_CONTAINS("loss -", browser.answer);
    CHECK(!strstr(browser.answer, "1e+300"));
    CHECK_EQUAL(200, browser_get(&browser, "/status", ""));
    CHECK_CONTAINS("\"saved\":1795782251.000,", browser.answer);
    browser_close(&browser);
}

static void a_hub_that_recovers_is_alive_and_not_ready(void)
{
    browser_open(&browser, NULL);
    browser.view.recovering = true;
    browser_tell(&browser);
    wait_for_news();
    CHECK_EQUAL(200, browser_get(&browser, "/healthz", ""));
    CHECK_EQUAL(503, browser_get(&browser, "/readyz", ""));
    CHECK_CONTAINS("newest centre", browser.answer);
    browser_close(&browser);
}

/* Another hub has its run, which goes on. */
static void a_run_that_another_hub_has_is_not_over(void)
{
    browser_open(&browser, NULL);
    browser.view.ended = browser.view.superseded = true;
    browser_tell(&browser);
    wait_for_news();
    CHECK_CONTAINS("\"ended\":false,\"stopping\":true", browser.answer);
    browser_close(&browser);
}

static void a_hub_whose_jobs_stand_is_not_healthy(void)
{
    browser_open(&browser, NULL);
    browser.snapshot.stalled = 301 * SECOND;
    browser_tell(&browser);
    wait_for_news();
    CHECK_EQUAL(503, browser_get(&browser, "/healthz", ""));
    browser_close(&browser);
}

static void an_order_is_done_and_answered(void)
{
    browser_open(&browser, NULL);
    CHECK_EQUAL(200, browser_ask(&browser, POST "X-Starswitch: 1\r\n"
                                                "Content-Length: 8\r\n\r\n"
                                                "drain n1"));
    CHECK_TEXT("drain n1", browser.line);
    CHECK(browser.ticket >= WEB_TICKETS);
    CHECK_CONTAINS("{\"ok\":true,\"version\":17,\"text\":\"done\"}",
                   browser.answer);
    browser.refuses = STATUS_USAGE;
    CHECK_EQUAL(400, browser_ask(&browser, POST "X-Starswitch: 1\r\n"
                                                "Content-Length: 6\r\n\r\n"
                                                "banana"));
    CHECK_CONTAINS("\"code\":64,\"text\":\"no such order\"", browser.answer);
    browser_close(&browser);
}

/* The library aborts for whoever waits in a server that ends. */
static void an_order_to_a_hub_that_ends_does_not_wait(void)
{
    browser_open(&browser, NULL);
    browser.web->closes = true;
    CHECK_EQUAL(503, browser_ask(&browser, POST "X-Starswitch: 1\r\n"
                                                "Content-Length: 10\r\n\r\n"
                                                "checkpoint"));
    CHECK_TEXT("", browser.line);
    browser_close(&browser);
}

static void what_no_page_of_ours_asks_changes_nothing(void)
{
    browser_open(&browser, NULL);
    CHECK_EQUAL(403, browser_ask(&browser, POST "Content-Length: 4\r\n\r\n"
                                                "stop"));
    CHECK_EQUAL(413, browser_ask(&browser, POST "X-Starswitch: 1\r\n"
                                                "Content-Length: 4097\r\n\r\n"
                                                "stop"));
    CHECK_EQUAL(411,
                browser_ask(&browser, POST "X-Starswitch: 1\r\n"
                                           "Transfer-Encoding: chunked\r\n\r\n"
                                           "4\r\nstop\r\n0\r\n\r\n"));
    CHECK_EQUAL(421, browser_ask(&browser, "GET /status HTTP/1.1\r\n"
                                           "Host: evil.example\r\n"
                                           "Connection: close\r\n\r\n"));
    CHECK_EQUAL(400,
                browser_ask(&browser, "GET /status HTTP/1.1\r\n"
                                      "Host: localhost\r\nHost: localhost\r\n"
                                      "Connection: close\r\n\r\n"));
    CHECK_TEXT("", browser.line);
    browser_close(&browser);
}

static void a_header_longer_than_allowed_is_refused(void)
{
    static char request[40000];
    static const char begin[] = "GET /status HTTP/1.1\r\nHost: localhost\r\n"
                                "Connection: close\r\nX-Long: ";
    size_t lengths[] = {8200, 33000};

    browser_open(&browser, NULL);
    for (size_t i = 0; i < 2; i++) {
        size_t length = sizeof begin - 1;

        memset(request, 'x', sizeof request);
        memcpy(request, begin, length);
        memcpy(request + lengths[i], "\r\n\r\n", 5);
        CHECK_EQUAL(431, browser_ask(&browser, request));
    }
    browser_close(&browser);
}

static void a_header_of_as_many_lines_as_promised_is_read(void)
{
    enum { LINES = 256 - 2, LINE = 31 };
    static char request[LINES * LINE + 200];
    static const char begin[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                                "Connection: close\r\n";
    char *at = request + sizeof begin - 1;

    browser_open(&browser, NULL);
    memset(request, 'x', sizeof request);
    memcpy(request, begin, sizeof begin - 1);
    for (int i = 0; i < LINES; i++, at += LINE) {
        at[3] = ':';
        at[LINE - 2] = '\r';
        at[LINE - 1] = '\n';
    }
    memcpy(at, "\r\n", 3);
    CHECK_EQUAL(200, browser_ask(&browser, request));
    browser_close(&browser);
}

static void nothing_of_a_path_is_decoded(void)
{
    static const char *const paths[] = {"/healthz%00", "/%00healthz",
                                        "/healthz%00.png", "/%68ealthz"};

    browser_open(&browser, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK_EQUAL(404, browser_get(&browser, paths[i], ""));
    CHECK_EQUAL(200, browser_get(&browser, "/healthz?%00", ""));
    browser_close(&browser);
}

static void a_browser_gets_a_cookie_for_the_token(void)
{
    char *cookie;

    browser_open(&browser, "0123456789abcdef");
    CHECK_EQUAL(401, browser_get(&browser, "/status", ""));
    CHECK_CONTAINS("WWW-Authenticate: Bearer", browser.answer);
    CHECK_EQUAL(200, browser_get(&browser, "/healthz", ""));
    CHECK_EQUAL(200, browser_get(&browser, "/", ""));
    CHECK_EQUAL(204,
                browser_ask(&browser,
                            "POST /api/v1/session HTTP/1.1\r\n"
                            "Host: localhost\r\nConnection: close\r\n"
                            "Authorization: Bearer 0123456789abcdef\r\n"
                            "X-Starswitch: 1\r\nContent-Length: 0\r\n\r\n"));
    CHECK_CONTAINS("HttpOnly; SameSite=Strict", browser.answer);
    cookie = strstr(browser.answer, "Set-Cookie: ");
    if (CHECK(cookie != NULL)) {
        char header[200];

        (void)snprintf(header, sizeof header, "Cookie: %.*s\r\n",
                       (int)strcspn(cookie + 12, ";"), cookie + 12);
        CHECK_EQUAL(503, browser_get(&browser, "/status", header));
    }
    browser_close(&browser);
}

static void a_taken_port_is_said_or_another_one_found(void)
{
    static struct browser other;
    struct web_config config = {.at = {.host = "127.0.0.1"}};
    struct web *web = NULL;
    struct why why = {""};

    browser_open(&other, NULL);
    config.at = *web_at(other.web);
    CHECK_STATUS(STATUS_UNAVAILABLE, web_open(&config, &web, &why));
    CHECK_CONTAINS("--page HOST:PORT says another place", why.text);
    CHECK(web == NULL);
    CHECK_CONTAINS("in use", why.text);
    config.any_port = true;
    CHECK_OK(web_open(&config, &web, &why));
    CHECK(web && web_at(web)->port != web_at(other.web)->port);
    web_close(&web);
    browser_close(&other);
}

/* More than there are places for: once they go, everybody is served again. */
static void connections_that_ask_nothing_keep_nobody_out_for_long(void)
{
    enum { MANY = 3 * WEB_VISITORS };
    int sockets[MANY];

    browser_open(&browser, NULL);
    for (int i = 0; i < MANY; i++)
        sockets[i] = browser_connect(&browser);
    for (int i = 0; i < MANY; i++)
        if (sockets[i] >= 0)
            (void)close(sockets[i]);
    CHECK_EQUAL(200, browser_get(&browser, "/healthz", ""));
    browser_close(&browser);
}

/* They are held, and never finished. */
static void half_requests_keep_nobody_from_asking(void)
{
    enum { MANY = 3 * WEB_VISITORS };
    int sockets[MANY];

    browser_open(&browser, NULL);
    for (int i = 0; i < MANY; i++) {
        sockets[i] = browser_connect(&browser);
        if (CHECK(sockets[i] >= 0))
            (void)!send(sockets[i], "GET /", 5, MSG_NOSIGNAL);
    }
    CHECK_EQUAL(200, browser_get(&browser, "/healthz", ""));
    for (int i = 0; i < MANY; i++)
        if (sockets[i] >= 0)
            (void)close(sockets[i]);
    browser_close(&browser);
}

/* Its answer's first line, once that is here. */
static bool follows(struct browser *who, const char *wanted)
{
    if (who->socket >= 0)
        (void)close(who->socket);
    who->socket = browser_connect(who);
    return browser_send(who, FOLLOW) && browser_read(who, "\r\n\r\n") &&
           strstr(who->answer, wanted);
}

static int follow_without_reading(const struct browser *of)
{
    static const int little = 2304;
    int fd = browser_connect(of);

    if (fd >= 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
        (void)!send(fd, FOLLOW, sizeof FOLLOW - 1, MSG_NOSIGNAL);
    }
    return fd;
}

static void fill_the_log(struct browser *of)
{
    struct note note = {.kind = NOTE_REJOINED};

    memset(note.text, 'x', sizeof note.text - 1);
    for (int i = 0; i < 50; i++)
        feed_note(web_feed(of->web), i, i, &note);
}

/* Whoever has taken all that there is keeps its place. */
static void who_follows_and_reads_nothing_yields_to_a_new_one(void)
{
    static struct browser reads;
    int sockets[FOLLOWERS];

    browser_open(&browser, NULL);
    browser_tell(&browser);
    wait_for_news();
    reads.web = browser.web;
    reads.socket = -1;
    CHECK(follows(&reads, " 200 OK"));
    fill_the_log(&browser);
    CHECK(browser_read(&reads, "\"text\":\"x"));
    for (int i = 1; i < FOLLOWERS; i++)
        CHECK((sockets[i] = follow_without_reading(&browser)) >= 0);
    (void)browser_get(&browser, "/healthz", ""); /* they have been heard */
    CHECK(follows(&browser, " 503 "));
    for (int i = 0; i < 40 && !follows(&browser, " 200 OK"); i++) {
        (void)browser_read(&reads, "event: status");
        (void)usleep(200000);
    }
    CHECK_CONTAINS(" 200 OK", browser.answer);
    CHECK(browser_read(&reads, "event: status"));
    for (int i = 1; i < FOLLOWERS; i++)
        (void)close(sockets[i]);
    (void)close(reads.socket);
    browser_close(&browser);
}

void add_hub_page_web_tests(CU_pSuite suite)
{
    TEST(status_is_what_the_hub_has_told);
    TEST(a_drawing_holds_the_nodes_and_no_script);
    TEST(what_is_not_known_is_a_dash_and_a_save_has_its_second);
    TEST(a_hub_that_recovers_is_alive_and_not_ready);
    TEST(a_run_that_another_hub_has_is_not_over);
    TEST(a_hub_whose_jobs_stand_is_not_healthy);
    TEST(an_order_is_done_and_answered);
    TEST(an_order_to_a_hub_that_ends_does_not_wait);
    TEST(what_no_page_of_ours_asks_changes_nothing);
    TEST(a_header_longer_than_allowed_is_refused);
    TEST(a_header_of_as_many_lines_as_promised_is_read);
    TEST(nothing_of_a_path_is_decoded);
    TEST(a_browser_gets_a_cookie_for_the_token);
    TEST(a_taken_port_is_said_or_another_one_found);
    TEST(connections_that_ask_nothing_keep_nobody_out_for_long);
    TEST(half_requests_keep_nobody_from_asking);
    TEST(who_follows_and_reads_nothing_yields_to_a_new_one);
}
