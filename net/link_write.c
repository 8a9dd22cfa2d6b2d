/* What a connection sends; see net/link.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/need.h"
#include "net/link.h"

enum {
    PIECES = 32,
    TURN_BYTES = 4 << 20 /* sent before others have their turn */
};

struct parcel *parcel_new(uint64_t number, const unsigned char *header,
                          size_t size, struct blob *payload)
{
    unsigned char head[ZMTP_HEAD_BYTES], second[ZMTP_HEAD_BYTES];
    size_t first = zmtp_head(payload != NULL, size, head), other = 0;
    struct parcel *parcel;

    if (payload)
        other = zmtp_head(false, payload->size, second);
    parcel = need_memory(1, sizeof *parcel + first + size + other);
    *parcel = (struct parcel){.number = number,
                              .payload = blob_ref(payload),
                              .lead_bytes = first + size + other,
                              .header_at = first,
                              .header_bytes = size};
    memcpy(parcel->lead, head, first);
    memcpy(parcel->lead + first, header, size);
    if (other)
        memcpy(parcel->lead + first + size, second, other);
    return parcel;
}

void parcel_destroy(struct parcel **reference)
{
    struct parcel *parcel = *reference;

    *reference = NULL;
    if (!parcel)
        return;
    blob_unref(&parcel->payload);
    blob_unref(&parcel->sealed);
    free(parcel);
}

bool link_queue(struct link *link, struct parcel *parcel, unsigned limit)
{
    if (link->waiting >= limit) {
        parcel_destroy(&parcel);
        return false;
    }
    parcel->next = NULL;
    *link->end = parcel;
    link->end = &parcel->next;
    link->waiting++;
    return true;
}

static void next_parcel(struct link *link)
{
    struct parcel *parcel = link->first;

    link->first = parcel->next;
    if (!link->first)
        link->end = &link->first;
    link->waiting--;
    link->sent = 0;
    parcel_destroy(&parcel);
}

void link_discard(struct link *link)
{
    while (link->first)
        next_parcel(link);
}

bool link_has_to_send(const struct link *link)
{
    size_t size;

    (void)zmtp_output(&link->zmtp, &size);
    return size || link->first;
}

/* Encrypts both frames, one behind the other. */
static bool seal(struct link *link, struct parcel *parcel, struct pool *pool)
{
    const struct blob *payload = parcel->payload;
    size_t first = zmtp_sealed_bytes(parcel->header_bytes), other = 0;

    if (payload)
        other = zmtp_sealed_bytes(payload->size);
    parcel->sealed = blob_new(pool, first + other);
    if (!parcel->sealed)
        return false;
    zmtp_seal(&link->zmtp, payload != NULL, parcel->lead + parcel->header_at,
              parcel->header_bytes, parcel->sealed->bytes);
    if (payload)
        zmtp_seal(&link->zmtp, false, payload->bytes, payload->size,
                  parcel->sealed->bytes + first);
    return true;
}

static size_t parcel_bytes(const struct parcel *parcel)
{
    if (parcel->sealed)
        return parcel->sealed->size;
    return parcel->lead_bytes + (parcel->payload ? parcel->payload->size : 0);
}

static unsigned add(struct iovec *pieces, unsigned count,
                    const unsigned char *bytes, size_t size, size_t *skip)
{
    size_t gone = *skip < size ? *skip : size;

    *skip -= gone;
    if (gone == size)
        return count;
    bytes += gone;
    /* The system only reads it, but its type does not say so. */
    memcpy(&pieces[count].iov_base, &bytes, sizeof bytes);
    pieces[count].iov_len = size - gone;
    return count + 1;
}

static unsigned add_parcel(struct iovec *pieces, unsigned count,
                           const struct parcel *parcel, size_t skip)
{
    if (parcel->sealed)
        return add(pieces, count, parcel->sealed->bytes, parcel->sealed->size,
                   &skip);
    count = add(pieces, count, parcel->lead, parcel->lead_bytes, &skip);
    if (parcel->payload)
        count = add(pieces, count, parcel->payload->bytes,
                    parcel->payload->size, &skip);
    return count;
}

/* What the engine has to say goes first, but never into a message, nor before
 * one that has been encrypted already. */
static unsigned collect(struct link *link, struct pool *pool,
                        struct iovec *pieces, bool *output)
{
    struct parcel *parcel = link->first;
    bool keyed = link->zmtp.plan.keys != NULL;
    const unsigned char *bytes;
    unsigned count = 0;
    size_t size, skip = link->sent, none = 0;

    bytes = zmtp_output(&link->zmtp, &size);
    *output = size && !skip && !(parcel && parcel->sealed);
    if (*output)
        return add(pieces, 0, bytes, size, &none);
    if (link->zmtp.expects != ZMTP_EXPECTS_MESSAGES)
        return 0;
    if (parcel && keyed && !parcel->sealed && !seal(link, parcel, pool))
        return PIECES + 1;
    for (; parcel && count + 2 <= PIECES; parcel = parcel->next) {
        count = add_parcel(pieces, count, parcel, skip);
        skip = 0;
        if (keyed)
            break;
    }
    return count;
}

static void take_away(struct link *link, size_t size)
{
    while (size) {
        size_t left = parcel_bytes(link->first) - link->sent;

        if (size < left) {
            link->sent += size;
            return;
        }
        size -= left;
        next_parcel(link);
    }
}

bool link_flush(struct link *link, struct pool *pool)
{
    struct iovec pieces[PIECES];
    struct msghdr message = {.msg_iov = pieces};
    size_t turn = 0;
    bool output;

    while (turn < TURN_BYTES && link_has_to_send(link)) {
        unsigned count = collect(link, pool, pieces, &output);
        ssize_t sent;

        if (!count)
            return true;
        if (count > PIECES)
            return false;
        message.msg_iovlen = count;
        sent = sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        turn += (size_t)sent;
        if (output)
            zmtp_sent(&link->zmtp, (size_t)sent);
        else
            take_away(link, (size_t)sent);
    }
    return true;
}
