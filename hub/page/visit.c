#include "hub/page/visit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "hub/page/answer.h"
#include "hub/page/asset.h"
#include "hub/page/follow.h"
#include "net/net.h"

/* ---- connections ---- */

static void enter(struct visitor *visitor, enum visit_state state)
{
    visitor->state = state;
    visitor->since = net_now();
}

static struct visitor *visitor_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static void cut_off(struct visitor *visitor)
{
    enter(visitor, VISIT_CUT);
    if (visitor->socket >= 0)
        (void)shutdown(visitor->socket, SHUT_RDWR);
}

/* Whether it has less right to its place than the other one: its request is
 * not here, or it does not take its answer; and for longer. */
static bool yields_to(const struct visitor *visitor,
                      const struct visitor *other)
{
    if (visitor->state != VISIT_READS && visitor->state != VISIT_ANSWERS)
        return false;
    if (!other || visitor->state == other->state)
        return !other || visitor->since < other->since;
    return visitor->state == VISIT_READS;
}

/* Where there are more than are served, one of them goes. */
static void make_room(struct web *web)
{
    struct visitor *oldest = NULL;
    unsigned count = 0;

    for (unsigned i = 0; i < WEB_PLACES; i++) {
        struct visitor *visitor = &web->visitors[i];

        count += visitor->state != VISIT_FREE && visitor->state != VISIT_CUT;
        if (yields_to(visitor, oldest))
            oldest = visitor;
    }
    if (count > WEB_VISITORS && oldest)
        cut_off(oldest);
}

static void arrive(struct web *web, struct MHD_Connection *connection,
                   void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    for (unsigned i = 0; i < WEB_PLACES; i++) {
        struct visitor *visitor = &web->visitors[i];

        if (visitor->state != VISIT_FREE)
            continue;
        *visitor = (struct visitor){.web = web,
                                    .connection = connection,
                                    .socket = info ? info->connect_fd : -1};
        enter(visitor, VISIT_READS);
        *context = visitor;
        make_room(web);
        return;
    }
}

void visit_connection(void *of, struct MHD_Connection *connection,
                      void **context, enum MHD_ConnectionNotificationCode code)
{
    struct visitor *visitor = *context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        arrive(of, connection, context);
    } else if (visitor) {
        follow_end(visitor);
        *visitor = (struct visitor){.state = VISIT_FREE};
        *context = NULL;
    }
}

void visit_completed(void *of, struct MHD_Connection *connection,
                     void **context, enum MHD_RequestTerminationCode code)
{
    struct visitor *visitor = visitor_of(connection);

    (void)of;
    (void)code;
    *context = NULL;
    if (!visitor)
        return;
    follow_end(visitor);
    visitor->begun = false;
    visitor->length = 0;
    visitor->ticket = visitor->answered = 0;
    if (visitor->state != VISIT_CUT)
        enter(visitor, VISIT_READS);
}

/* ---- answers ---- */

/* What all answers say: nobody keeps them, nobody else shows them, and they
 * are what they are called. */
static void add_headers(const struct web *web, struct MHD_Response *response,
                        const char *type)
{
    static const struct {
        const char *name, *value;
    } always[] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };

    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        (void)MHD_add_response_header(response, always[i].name,
                                      always[i].value);
    /* Of http from elsewhere browsers ignore it, and complain. */
    if (web->guard.local)
        (void)MHD_add_response_header(response, "Cross-Origin-Opener-Policy",
                                      "same-origin");
    (void)MHD_add_response_header(response, "Content-Type", type);
    (void)MHD_add_response_header(response, "Content-Security-Policy",
                                  asset_policy());
}

static enum MHD_Result queue(struct visitor *visitor, unsigned status,
                             const char *type, struct MHD_Response *response)
{
    enum MHD_Result done;

    if (!response)
        return MHD_NO;
    add_headers(visitor->web, response, type);
    if (status == 401)
        (void)MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == 405)
        (void)MHD_add_response_header(response, "Allow",
                                      route_method(visitor->ruling.route));
    enter(visitor, VISIT_ANSWERS);
    done = MHD_queue_response(visitor->connection, status, response);
    MHD_destroy_response(response);
    return done;
}

static enum MHD_Result send_answer(struct visitor *visitor,
                                   const struct answer *answer)
{
    struct MHD_Response *response;

    if (!answer->bytes)
        return MHD_NO;
    response = MHD_create_response_from_buffer(answer->size, answer->bytes,
                                               MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(answer->bytes);
    return queue(visitor, answer->status, answer->type, response);
}

static enum MHD_Result send_words(struct visitor *visitor, unsigned status,
                                  const char *words)
{
    struct answer answer;

    answer_words(&answer, status, words);
    return send_answer(visitor, &answer);
}

static enum MHD_Result send_page(struct visitor *visitor)
{
    size_t size;
    const char *bytes = asset_page(&size);

    /* It only reads them. */
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the library takes no const
    void *page = (void *)(uintptr_t)bytes;

    return queue(
        visitor, 200, "text/html; charset=utf-8",
        MHD_create_response_from_buffer(size, page, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_events(struct visitor *visitor)
{
    struct MHD_Response *response = follow_begin(visitor);
    enum MHD_Result done;

    if (!response)
        return send_words(visitor, 503, "too many follow already");
    (void)MHD_add_response_header(response, "X-Accel-Buffering", "no");
    done = queue(visitor, 200, "text/event-stream", response);
    enter(visitor, VISIT_FOLLOWS);
    return done;
}

/* A browser keeps the cookie to itself, and sends it to no other site's
 * pages. */
static enum MHD_Result send_session(const struct web *web,
                                    struct visitor *visitor)
{
    char cookie[TOKEN_COOKIE_BYTES + 80];
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    (void)snprintf(cookie, sizeof cookie,
                   TOKEN_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict",
                   web->config.token.cookie);
    if (response && web->config.token.set)
        (void)MHD_add_response_header(response, "Set-Cookie", cookie);
    explicit_bzero(cookie, sizeof cookie);
    return queue(visitor, 204, "text/plain", response);
}

/* The body without the end of its line; false: it is more than a line. */
static bool end_line(struct visitor *visitor)
{
    size_t length = visitor->length;

    while (length && (visitor->body[length - 1] == '\n' ||
                      visitor->body[length - 1] == '\r'))
        length--;
    visitor->body[length] = '\0';
    return strcspn(visitor->body, "\r\n") == length;
}

/* The line is given to the hub, and the visitor waits for what comes of it:
 * not in a server that ends, which nobody may wait in. */
static enum MHD_Result begin_order(struct web *web, struct visitor *visitor)
{
    struct why why = {""};
    enum status status;

    if (web->closes)
        return send_words(visitor, 503, "the hub ends");
    visitor->ticket = web->next_ticket++;
    if (end_line(visitor))
        status = web->config.order(web->config.owner, visitor->body,
                                   visitor->ticket, &why);
    else
        status = because(&why, STATUS_USAGE,
                         "an order is one line of text, without NUL bytes");
    if (status != STATUS_OK) {
        struct msg_answer refused = {.status = (uint32_t)status};
        struct answer answer;

        (void)snprintf(refused.text, sizeof refused.text, "%.119s", why.text);
        answer_order(&refused, &answer);
        return send_answer(visitor, &answer);
    }
    enter(visitor, VISIT_WAITS);
    visitor->suspended = true;
    MHD_suspend_connection(visitor->connection);
    return MHD_YES;
}

static enum MHD_Result end_order(struct visitor *visitor)
{
    struct answer answer;

    if (visitor->answered != 200)
        return send_words(visitor, visitor->answered,
                          "the hub has not answered; it may do it yet");
    answer_order(&visitor->answer, &answer);
    return send_answer(visitor, &answer);
}

static enum MHD_Result answer(struct web *web, struct visitor *visitor)
{
    struct answer made;

    if (web->config.course && visitor->ruling.route != ROUTE_PAGE &&
        visitor->ruling.route != ROUTE_SESSION) {
        answer_recorded(web->config.course, visitor->ruling.route, &made);
        return send_answer(visitor, &made);
    }
    switch (visitor->ruling.route) {
    case ROUTE_PAGE:
        return send_page(visitor);
    case ROUTE_STATUS:
        answer_status(web, &made);
        break;
    case ROUTE_METRICS:
        answer_metrics(web, visitor->ruling.open_metrics, &made);
        break;
    case ROUTE_PICTURE:
        answer_picture(web, &made);
        break;
    case ROUTE_HEALTH:
        answer_health(web, net_now(), &made);
        break;
    case ROUTE_READY:
        answer_ready(web, net_now(), &made);
        break;
    case ROUTE_EVENTS:
        return send_events(visitor);
    case ROUTE_COURSE:
        answer_course(web, &made);
        break;
    case ROUTE_RECORDING:
        answer_words(&made, 404, "this is a hub: it is no recording");
        break;
    case ROUTE_SESSION:
        return send_session(web, visitor);
    case ROUTE_ORDER:
        return visitor->answered ? end_order(visitor)
                                 : begin_order(web, visitor);
    case ROUTES:
        return MHD_NO;
    }
    return send_answer(visitor, &made);
}

/* ---- requests ---- */

/* Adds up the header, and sees what came twice. */
static enum MHD_Result look_at_header(void *of, enum MHD_ValueKind kind,
                                      const char *name, const char *value)
{
    static const char *const looked_at[] = {
#define HEADER(member, name) name,
        REQUEST_HEADERS(HEADER)
#undef HEADER
    };
    struct request *request = of;
    const char **places[] = {
#define HEADER(member, name) &request->member,
        REQUEST_HEADERS(HEADER)
#undef HEADER
    };

    (void)kind;
    request->header_bytes += strlen(name) + (value ? strlen(value) : 0) + 4;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcasecmp(name, looked_at[i]) != 0)
            continue;
        request->twice |= *places[i] != NULL;
        *places[i] = value ? value : "";
    }
    return MHD_YES;
}

static enum MHD_Result begin(const struct web *web, struct visitor *visitor,
                             const char *path, const char *method)
{
    struct request request = {.method = method, .path = path};
    struct ruling *ruling = &visitor->ruling;

    request.header_bytes = strlen(method) + strlen(path) + 16;
    (void)MHD_get_connection_values(visitor->connection, MHD_HEADER_KIND,
                                    &look_at_header, &request);
    request_rule(&web->guard, &request, ruling);
    visitor->begun = true;
    visitor->length = 0;
    visitor->answered = 0;
    if (ruling->status != 200)
        return send_words(visitor, ruling->status, ruling->words);
    return MHD_YES;
}

/* The body is no longer than it has said; the library sees to that. */
static enum MHD_Result take_body(struct visitor *visitor, const char *bytes,
                                 size_t *size)
{
    if (*size > REQUEST_BODY_BYTES - visitor->length)
        return MHD_NO;
    memcpy(visitor->body + visitor->length, bytes, *size);
    visitor->length += *size;
    *size = 0;
    return MHD_YES;
}

// NOLINTNEXTLINE(readability-function-size): as libmicrohttpd calls it
enum MHD_Result visit_request(void *of, struct MHD_Connection *connection,
                              const char *path, const char *method,
                              const char *version, const char *bytes,
                              size_t *size, void **context)
{
    struct visitor *visitor = visitor_of(connection);
    struct web *web = of;

    (void)version;
    (void)context;
    if (!visitor || visitor->state == VISIT_CUT)
        return MHD_NO; /* there is no place for it */
    if (!visitor->begun)
        return begin(web, visitor, path, method);
    if (*size)
        return take_body(visitor, bytes, size);
    return answer(web, visitor);
}

/* ---- time ---- */

void visit_answer(struct web *web, const struct msg_answer *answer)
{
    for (unsigned i = 0; i < WEB_PLACES; i++) {
        struct visitor *visitor = &web->visitors[i];

        if (visitor->state != VISIT_WAITS || visitor->answered ||
            visitor->ticket != answer->ticket)
            continue;
        visitor->answer = *answer;
        visitor->answered = 200;
        visit_resume(visitor);
    }
}

static void look_at(struct visitor *visitor, nanos now)
{
    nanos span = now - visitor->since;
    bool cut = false;

    switch (visitor->state) {
    case VISIT_FREE:
    case VISIT_FOLLOWS:
    case VISIT_CUT:
        return;
    case VISIT_READS:
        cut = span > WEB_PATIENCE;
        break;
    case VISIT_ANSWERS:
        cut = span > WEB_ANSWER_TIME;
        break;
    case VISIT_WAITS:
        if (span > WEB_ORDER_TIME && !visitor->answered) {
            visitor->answered = 504;
            visit_resume(visitor);
        }
        return;
    }
    if (cut)
        cut_off(visitor);
}

void visits_tick(struct web *web, nanos now)
{
    for (unsigned i = 0; i < WEB_PLACES; i++)
        look_at(&web->visitors[i], now);
}

void visits_end(struct web *web)
{
    for (unsigned i = 0; i < WEB_PLACES; i++) {
        struct visitor *visitor = &web->visitors[i];

        if (visitor->state == VISIT_WAITS && !visitor->answered)
            visitor->answered = 504;
        if (visitor->state == VISIT_FOLLOWS)
            (void)shutdown(visitor->socket, SHUT_RDWR);
        if (visitor->state != VISIT_FREE)
            visit_resume(visitor);
    }
    (void)MHD_run(web->daemon);
}
