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

struct queue_entry *queue_entry_new(uint64_t number,
                                    const unsigned char *header, size_t size,
                                    struct blob *payload)
{
    unsigned char head[ZMTP_HEAD_BYTES], second[ZMTP_HEAD_BYTES];
    size_t first = zmtp_head(payload != NULL, size, head), other = 0;
    struct queue_entry *entry;

    if (payload)
        other = zmtp_head(false, payload->size, second);
    entry = need_memory(1, sizeof *entry + first + size + other);
    *entry = (struct queue_entry){.number = number,
                                  .payload = blob_ref(payload),
                                  .lead_bytes = first + size + other,
                                  .header_at = first,
                                  .header_bytes = size};
    memcpy(entry->lead, head, first);
    memcpy(entry->lead + first, header, size);
    if (other)
        memcpy(entry->lead + first + size, second, other);
    return entry;
}

void queue_entry_destroy(struct queue_entry **reference)
{
    struct queue_entry *entry = *reference;

    *reference = NULL;
    if (!entry)
        return;
    blob_unref(&entry->payload);
    blob_unref(&entry->sealed);
    free(entry);
}

bool link_queue(struct link *link, struct queue_entry *entry, unsigned limit)
{
    if (link->waiting >= limit) {
        queue_entry_destroy(&entry);
        return false;
    }
    entry->next = NULL;
    *link->end = entry;
    link->end = &entry->next;
    link->waiting++;
    return true;
}

static void next_entry(struct link *link)
{
    struct queue_entry *entry = link->first;

    link->first = entry->next;
    if (!link->first)
        link->end = &link->first;
    link->waiting--;
    link->sent = 0;
    queue_entry_destroy(&entry);
}

void link_discard(struct link *link)
{
    while (link->first)
        next_entry(link);
}

bool link_has_to_send(const struct link *link)
{
    size_t size;

    (void)zmtp_output(&link->zmtp, &size);
    return size || link->first;
}

/* Encrypts both frames, one behind the other. */
static bool seal(struct link *link, struct queue_entry *entry,
                 struct pool *pool)
{
    const struct blob *payload = entry->payload;
    size_t first = zmtp_sealed_bytes(entry->header_bytes), other = 0;

    if (payload)
        other = zmtp_sealed_bytes(payload->size);
    entry->sealed = blob_new(pool, first + other);
    if (!entry->sealed)
        return false;
    zmtp_seal(&link->zmtp, payload != NULL, entry->lead + entry->header_at,
              entry->header_bytes, entry->sealed->bytes);
    if (payload)
        zmtp_seal(&link->zmtp, false, payload->bytes, payload->size,
                  entry->sealed->bytes + first);
    return true;
}

static size_t queue_entry_bytes(const struct queue_entry *entry)
{
    if (entry->sealed)
        return entry->sealed->size;
    return entry->lead_bytes + (entry->payload ? entry->payload->size : 0);
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

static unsigned add_entry(struct iovec *pieces, unsigned count,
                          const struct queue_entry *entry, size_t skip)
{
    if (entry->sealed)
        return add(pieces, count, entry->sealed->bytes, entry->sealed->size,
                   &skip);
    count = add(pieces, count, entry->lead, entry->lead_bytes, &skip);
    if (entry->payload)
        count = add(pieces, count, entry->payload->bytes, entry->payload->size,
                    &skip);
    return count;
}

/* What the engine has to say goes first, but never into a message, nor before
 * one that has been encrypted already. */
static unsigned collect(struct link *link, struct pool *pool,
                        struct iovec *pieces, bool *output)
{
    struct queue_entry *entry = link->first;
    bool keyed = link->zmtp.plan.keys != NULL;
    const unsigned char *bytes;
    unsigned count = 0;
    size_t size, skip = link->sent, none = 0;

    bytes = zmtp_output(&link->zmtp, &size);
    *output = size && !skip && !(entry && entry->sealed);
    if (*output)
        return add(pieces, 0, bytes, size, &none);
    if (link->zmtp.expects != ZMTP_EXPECTS_MESSAGES)
        return 0;
    if (entry && keyed && !entry->sealed && !seal(link, entry, pool))
        return PIECES + 1;
    for (; entry && count + 2 <= PIECES; entry = entry->next) {
        count = add_entry(pieces, count, entry, skip);
        skip = 0;
        if (keyed)
            break;
    }
    return count;
}

static void take_away(struct link *link, size_t size)
{
    while (size) {
        size_t left = queue_entry_bytes(link->first) - link->sent;

        if (size < left) {
            link->sent += size;
            return;
        }
        size -= left;
        next_entry(link);
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
        if (count > PIECES) {
            /* So that both ends see that it is over. */
            (void)shutdown(link->fd, SHUT_RDWR);
            return false;
        }
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
