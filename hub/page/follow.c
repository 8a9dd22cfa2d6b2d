#include "hub/page/follow.h"

#include <string.h>
#include <sys/socket.h>

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

struct MHD_Response *follow_begin(struct visitor *visitor)
{
    const struct ruling *ruling = &visitor->ruling;
    struct web *web = visitor->web;
    struct MHD_Response *response;

    if (follow_count(web) >= FOLLOWERS)
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

void follow_tick(struct web *web)
{
    for (unsigned i = 0; i < WEB_PLACES; i++) {
        struct visitor *visitor = &web->visitors[i];

        if (visitor->state != VISIT_FOLLOWS)
            continue;
        if (visitor->suspended &&
            (visitor->next < web->stream.next || web->closes)) {
            visitor->suspended = false;
            MHD_resume_connection(visitor->connection);
        } else if (visitor->next + 1 < web->stream.first) {
            (void)shutdown(visitor->socket, SHUT_RDWR);
        }
    }
}
