#include "hub/page/request.h"

#include <string.h>

#include "tests/check.h"

static struct token token;
static struct guard guard = {.local = true, .token = &token};

static const struct request plain = {
    .method = "GET", .path = "/status", .host = "127.0.0.1:7540"};
static const struct request order = {.method = "POST",
                                     .path = "/api/v1/order",
                                     .host = "127.0.0.1:7540",
                                     .length = "8",
                                     .asks = "1"};

static unsigned rule(const struct request *request, struct ruling *out)
{
    request_rule(&guard, request, out);
    CHECK((out->status == 200) == (out->words == NULL));
    CHECK(out->status != 200 || out->route < ROUTES);
    CHECK(out->body <= REQUEST_BODY_BYTES);
    return out->status;
}

static unsigned status_of(struct request request)
{
    struct ruling ruling;

    return rule(&request, &ruling);
}

static unsigned at_host(const char *host)
{
    struct request request = plain;

    request.host = host;
    return status_of(request);
}

static void a_name_that_is_not_ours_is_refused(void)
{
    static const char *const ours[] = {"localhost",  "LOCALHOST:7540",
                                       "127.0.0.1",  "127.4.5.6:1",
                                       "[::1]:7540", "[::1]"};
    static const char *const others[] = {"evil.example",
                                         "evil.example:7540",
                                         "localhost.evil.example",
                                         "127.0.0.1.evil.example",
                                         "192.168.1.10",
                                         "[fe80::1]",
                                         "",
                                         ":7540",
                                         "127.0.0.1:",
                                         "127.0.0.1:7540:1",
                                         "127.0.0.1:123456",
                                         "127.0.0.1:7 ",
                                         "[::1",
                                         "::1",
                                         "[::1]x",
                                         "a@127.0.0.1"};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        CHECK_EQUAL(200, at_host(ours[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_EQUAL(421, at_host(others[i]));
    CHECK_EQUAL(421, at_host(NULL));
}

static void a_host_of_any_length_is_looked_at(void)
{
    char host[1000];

    memset(host, '1', sizeof host - 1);
    host[sizeof host - 1] = '\0';
    CHECK_EQUAL(421, at_host(host));
}

static void on_the_network_addresses_and_its_own_name_are_ours(void)
{
    guard.local = false;
    (void)memcpy(guard.name, "pc0", 4);
    CHECK_EQUAL(200, at_host("192.168.1.10:7540"));
    CHECK_EQUAL(200, at_host("[fe80::1]:7540"));
    CHECK_EQUAL(200, at_host("PC0:7540"));
    CHECK_EQUAL(421, at_host("pc1:7540"));
    CHECK_EQUAL(421, at_host("evil.example"));
    guard.name[0] = '\0';
    CHECK_EQUAL(421, at_host(""));
    guard.local = true;
}

static void what_is_not_in_the_table_is_not_there(void)
{
    static const char *const paths[] = {"/statu",   "/status/", "//status",
                                        "/Status",  "",         "/../status",
                                        "/status%", "*"};
    struct request request = plain;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        request.path = paths[i];
        CHECK_EQUAL(404, status_of(request));
    }
    request.path = "/api/v1/order";
    CHECK_EQUAL(405, status_of(request));
    request.path = "/status";
    request.method = "POST";
    CHECK_EQUAL(405, status_of(request));
    request.method = "HEAD";
    CHECK_EQUAL(200, status_of(request));
    request.method = "OPTIONS";
    CHECK_EQUAL(405, status_of(request));
    CHECK_TEXT("GET, HEAD", route_method(ROUTE_STATUS));
    CHECK_TEXT("POST", route_method(ROUTE_ORDER));
}

static void another_site_changes_nothing(void)
{
    struct request request = order;

    CHECK_EQUAL(200, status_of(request));
    request.asks = NULL;
    CHECK_EQUAL(403, status_of(request));
    request = order;
    request.origin = "http://evil.example";
    CHECK_EQUAL(403, status_of(request));
    request.origin = "null";
    CHECK_EQUAL(403, status_of(request));
    request.origin = "http://127.0.0.1:7541";
    CHECK_EQUAL(403, status_of(request));
    request.origin = "http://127.0.0.1:7540";
    CHECK_EQUAL(200, status_of(request));
    request.site = "cross-site";
    CHECK_EQUAL(403, status_of(request));
    request.site = "same-site";
    CHECK_EQUAL(403, status_of(request));
    request.site = "same-origin";
    CHECK_EQUAL(200, status_of(request));
}

static void another_site_may_show_a_link_and_reads_nothing(void)
{
    struct request request = plain;

    request.site = "cross-site";
    CHECK_EQUAL(403, status_of(request));
    request.path = "/";
    CHECK_EQUAL(200, status_of(request));
}

static void a_body_says_its_length_and_is_short(void)
{
    static const struct {
        unsigned status;
        const char *length;
    } cases[] = {{200, "0"},
                 {200, "4096"},
                 {413, "4097"},
                 {413, "-1"},
                 {413, "1e3"},
                 {413, ""},
                 {413, " 8"},
                 {413, "0x8"},
                 {411, NULL},
                 {413, "18446744073709551617"},
                 {413, "99999999999999999999999999999999"}};
    struct request request = order;
    struct ruling ruling;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        request.length = cases[i].length;
        CHECK_EQUAL(cases[i].status, status_of(request));
    }
    request = order;
    CHECK_EQUAL(200, rule(&request, &ruling));
    CHECK_EQUAL(8, ruling.body);
    request.encoding = "chunked";
    CHECK_EQUAL(411, status_of(request));
    request = order;
    request.type = "multipart/form-data; boundary=x";
    CHECK_EQUAL(415, status_of(request));
    request.type = "text/plain;charset=UTF-8";
    CHECK_EQUAL(200, status_of(request));
    request = plain;
    request.length = "5";
    CHECK_EQUAL(413, status_of(request));
}

static void a_long_header_and_a_doubled_one_are_refused(void)
{
    struct request request = plain;

    request.header_bytes = REQUEST_HEADER_BYTES;
    CHECK_EQUAL(200, status_of(request));
    request.header_bytes++;
    CHECK_EQUAL(431, status_of(request));
    request = plain;
    request.twice = true;
    CHECK_EQUAL(400, status_of(request));
}

static void with_a_token_what_tells_of_the_run_needs_it(void)
{
    struct request request = plain;
    struct why why;

    CHECK_OK(token_set(&token, "0123456789abcdef", &why));
    CHECK_EQUAL(401, status_of(request));
    request.authorization = "Bearer 0123456789abcdef";
    CHECK_EQUAL(200, status_of(request));
    CHECK_EQUAL(401, status_of(order));
    request = plain;
    request.path = "/healthz";
    CHECK_EQUAL(200, status_of(request));
    token_forget(&token);
}

static void the_last_event_is_two_numbers_or_none(void)
{
    static const char *const wrong[] = {
        "",     "5",     "-",   "5-",   "-5",
        "5-6x", "5-6-7", "x-6", "5- 6", "99999999999999999999-1"};
    struct request request = plain;
    struct ruling ruling;

    request.last = "1700000000-42";
    CHECK_EQUAL(200, rule(&request, &ruling));
    CHECK_EQUAL(1700000000, ruling.boot);
    CHECK_EQUAL(42, ruling.seen);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        request.last = wrong[i];
        CHECK_EQUAL(200, rule(&request, &ruling));
        CHECK_EQUAL(0, ruling.boot);
        CHECK_EQUAL(0, ruling.seen);
    }
}

static void open_metrics_are_for_those_who_want_them_as_much(void)
{
    static const struct {
        bool wanted;
        const char *accept;
    } cases[] = {
        {true, "application/openmetrics-text"},
        {true, "APPLICATION/OpenMetrics-text; version=1.0.0; q=0.001"},
        {true, "application/openmetrics-text;version=1.0.0;q=0.5,"
               "text/plain;version=0.0.4;q=0.3,*/*;q=0.1"},
        {true, "text/plain, application/openmetrics-text"},
        {false, "application/openmetrics-text;q=0"},
        {false, "application/openmetrics-text ; version=1.0.0 ; q=0.0"},
        {false, "text/plain;q=0.6,application/openmetrics-text;q=0.5"},
        {false, "application/openmetrics-text;q=nan"},
        {false, "application/openmetrics-text;q="},
        {false, "application/openmetrics-textual"},
        {false, "x;y=application/openmetrics-text"},
        {false, "text/plain;q=0, */*"},
        {false, ",;, ;q"},
        {false, ""},
    };
    struct request request = plain;
    struct ruling ruling;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        request.accept = cases[i].accept;
        CHECK_EQUAL(200, rule(&request, &ruling));
        CHECK_EQUAL(cases[i].wanted, ruling.open_metrics);
    }
}

void add_hub_page_request_tests(CU_pSuite suite)
{
    TEST(a_name_that_is_not_ours_is_refused);
    TEST(a_host_of_any_length_is_looked_at);
    TEST(on_the_network_addresses_and_its_own_name_are_ours);
    TEST(what_is_not_in_the_table_is_not_there);
    TEST(another_site_changes_nothing);
    TEST(another_site_may_show_a_link_and_reads_nothing);
    TEST(a_body_says_its_length_and_is_short);
    TEST(a_long_header_and_a_doubled_one_are_refused);
    TEST(with_a_token_what_tells_of_the_run_needs_it);
    TEST(the_last_event_is_two_numbers_or_none);
    TEST(open_metrics_are_for_those_who_want_them_as_much);
}
