/* Any lines as a request to the page's server: method, path, and a line for
 * each header that is looked at. Who is let in has said a host that is ours,
 * and who changes something is no other site. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hub/page/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 16 * 1024 };

/* The next line, which is cut off; NULL: there is none, or it is "-". */
static const char *next_line(char **at)
{
    char *line = *at, *end;

    if (!line)
        return NULL;
    end = strchr(line, '\n');
    *at = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return strcmp(line, "-") == 0 ? NULL : line;
}

static void judge(const struct guard *guard, const struct request *request)
{
    struct ruling ruling;

    request_rule(guard, request, &ruling);
    assert((ruling.status == 200) == !ruling.words);
    if (ruling.status != 200)
        return;
    assert(ruling.route < ROUTES && ruling.body <= REQUEST_BODY_BYTES);
    assert(request->host && *request->host);
    if (strcmp(request->method, "POST") == 0) {
        assert(request->asks && request->length && !request->encoding);
        assert(!request->origin || strcasestr(request->origin, request->host));
        return;
    }
    assert(ruling.body == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct token none;
    static char bytes[MOST_BYTES + 1];
    struct guard guard = {.token = &none, .name = "pc0"};
    struct request request = {0};
    struct token token = {0};
    struct why why;
    char *at = bytes;

    if (size > MOST_BYTES)
        return 0;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    request.method = next_line(&at);
    request.path = next_line(&at);
    if (!request.method || !request.path)
        return 0;
#define HEADER(member, name) request.member = next_line(&at);
    REQUEST_HEADERS(HEADER)
#undef HEADER
    judge(&guard, &request);
    guard.local = true;
    judge(&guard, &request);
    if (token_set(&token, "0123456789abcdef", &why) != STATUS_OK)
        return 0;
    guard.token = &token;
    judge(&guard, &request);
    return 0;
}
