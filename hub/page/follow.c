#include "hub/page/follow.h"

#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "net/net.h"

enum { BLOCK_BYTES = 16 * 1024 };

unsigned follow_count(const struct web *web)
{
    unsigned count = 0;

    for (unsigned i = 0; i < WEB_PLACES; i++)
        count += web->visitors[i].state == VISIT_FOLLOWS;
    return count;
}

/* As much as there is room for of the event that it is at. Nothing: it sleeps
 * until there is one, and is through once there will be none. */
static ssize_t read_on(void *of, uint64_t at, char *bytes, size_t room)
{
    struct visitor *visitor = of;
    bool lost = false;
    size_t count;

    (void)at;
    if (visitor->state == VISIT_CUT)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (!visitor->frame)
        visitor->frame =
            stream_take(&visitor->web->stream, visitor->next++, &lost);
    if (lost)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (!visitor->frame) {
        visitor->next--;
        if (visitor->web->closes)
            return MHD_CONTENT_READER_END_OF_STREAM;
        visitor->suspended = true;
        MHD_suspend_connection(visitor->connection);
        return 0;
    }
    count = visitor->frame->size - visitor->sent;
    if (count > room)
        count = room;
    memcpy(bytes, visitor->frame->bytes + visitor->sent, count);
    visitor->sent += count;
    if (visitor->sent == visitor->frame->size) {
        frame_leave(visitor->frame);
        visitor->frame = NULL;
        visitor->sent = 0;
    }
    return (ssize_t)count;
}

/* Where all places are taken: of those that have taken nothing for
 * FOLLOW_STANDS, the one that stands for longest goes. */
static bool find_place(struct web *web)
{
    nanos since = net_now() - FOLLOW_STANDS;
    struct visitor *stands = NULL;

    if (follow_count(web) < FOLLOWERS)
        return true;
    for (unsigned i = 0; i < WEB_PLACES; i++) {
        struct visitor *visitor = &web->visitors[i];

        if (visitor->state != VISIT_FOLLOWS || visitor->since > since)
            continue;
        since = visitor->since;
        stands = visitor;
    }
    if (!stands)
        return false;
    stands->state = VISIT_CUT;
    (void)shutdown(stands->socket, SHUT_RDWR);
    visit_resume(stands);
    return true;
}

struct MHD_Response *follow_begin(struct visitor *visitor)
{
    const struct ruling *ruling = &visitor->ruling;
    struct web *web = visitor->web;
    struct MHD_Response *response;

    if (!find_place(web))
        return NULL;
    visitor->frame = stream_begin(&web->stream, ruling->boot, ruling->seen);
    if (!visitor->frame)
        return NULL;
    visitor->sent = 0;
    visitor->next = web->stream.next;
    web->awaited = true;
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
                                                 &read_on, visitor, NULL);
    if (!response)
        follow_end(visitor);
    return response;
}

void follow_end(struct visitor *visitor)
{
    frame_leave(visitor->frame);
    visitor->frame = NULL;
    visitor->sent = 0;
}

/* Less waits for the other side than before, or nothing: it takes what it is
 * sent, however slowly. */
static void see_whether_it_takes(struct visitor *visitor, nanos now)
{
    int waiting = 0;

    (void)ioctl(visitor->socket, SIOCOUTQ, &waiting);
    if (!waiting || waiting < visitor->waiting)
        visitor->since = now;
    visitor->waiting = waiting;
}

void follow_tick(struct web *web)
{
    nanos now = net_now();

    for (unsigned i = 0; i < WEB_PLACES; i++) {
        struct visitor *visitor = &web->visitors[i];

        if (visitor->state != VISIT_FOLLOWS)
            continue;
        see_whether_it_takes(visitor, now);
        if (visitor->suspended &&
            (visitor->next < web->stream.next || web->closes)) {
            visit_resume(visitor);
        } else if (visitor->next + 1 < web->stream.first) {
            (void)shutdown(visitor->socket, SHUT_RDWR);
        }
    }
}
