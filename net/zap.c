#include "net/zap.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "core/hex.h"
#include "net/bell.h"

enum {
    FRAMES = 7, /* of a request about CURVE */
    FRAME_BYTES = 256,
    USER_BYTES = HEX_DIGITS + 1,
    REFUSALS_KEPT = 64
};

struct frame {
    size_t size;
    char bytes[FRAME_BYTES];
};

struct request {
    unsigned count;
    struct frame frames[FRAMES];
};

enum { VERSION, TICKET, DOMAIN, ADDRESS, IDENTITY, MECHANISM, CREDENTIALS };

struct row {
    uint64_t hash;
    struct key key;
};

struct zap {
    pthread_mutex_t lock; /* of all but what the thread alone uses */
    struct row *rows;     /* who is let in, sorted by hash */
    unsigned count;
    bool enrols; /* there is an enrolment key */
    struct row enrolment;
    struct zap_refusal refusals[REFUSALS_KEPT];
    unsigned kept;
    unsigned missed[REFUSAL_COUNT];
    struct bans *bans;
    struct bell bell; /* rung at the end */
    void *socket;     /* the thread's, once it runs */
    pthread_t thread;
};

/* ---- the set ---- */

static int compare_rows(const void *one, const void *other)
{
    const struct row *a = one, *b = other;

    return (a->hash > b->hash) - (a->hash < b->hash);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        abort();
    return memory;
}

void zap_allow(struct zap *zap, const struct key *keys, unsigned count,
               const struct key *enrolment)
{
    struct row *rows = allocate(count, sizeof *rows), *before;

    for (unsigned i = 0; i < count; i++)
        rows[i] = (struct row){key_hash(&keys[i]), keys[i]};
    qsort(rows, count, sizeof *rows, compare_rows);
    (void)pthread_mutex_lock(&zap->lock);
    before = zap->rows;
    zap->rows = rows;
    zap->count = count;
    zap->enrols = enrolment != NULL;
    if (enrolment)
        zap->enrolment = (struct row){key_hash(enrolment), *enrolment};
    (void)pthread_mutex_unlock(&zap->lock);
    free(before);
}

/* Called with the lock held. NULL: nobody. */
static const struct row *find(const struct zap *zap, uint64_t hash)
{
    struct row wanted = {.hash = hash};

    if (zap->enrols && zap->enrolment.hash == hash)
        return &zap->enrolment;
    return zap->count ? bsearch(&wanted, zap->rows, zap->count,
                                sizeof *zap->rows, compare_rows)
                      : NULL;
}

enum zap_role zap_role(struct zap *zap, uint64_t key)
{
    const struct row *row;
    enum zap_role role = ZAP_NOBODY;

    (void)pthread_mutex_lock(&zap->lock);
    row = find(zap, key);
    if (row)
        role = row == &zap->enrolment ? ZAP_ENROLS : ZAP_NODE;
    (void)pthread_mutex_unlock(&zap->lock);
    return role;
}

static bool knows(struct zap *zap, uint64_t hash, const struct key *key)
{
    const struct row *row;
    bool known;

    (void)pthread_mutex_lock(&zap->lock);
    row = find(zap, hash);
    known = row && keys_equal(&row->key, key);
    (void)pthread_mutex_unlock(&zap->lock);
    return known;
}

/* ---- refusals ---- */

static void keep_refusal(struct zap *zap, enum net_refusal why,
                         const char *address)
{
    (void)pthread_mutex_lock(&zap->lock);
    if (zap->kept < REFUSALS_KEPT)
        zap->refusals[zap->kept++] =
            (struct zap_refusal){why, origin_parse(address)};
    else
        zap->missed[why]++;
    (void)pthread_mutex_unlock(&zap->lock);
}

bool zap_refusal(struct zap *zap, struct zap_refusal *out, unsigned *missed)
{
    bool any;

    (void)pthread_mutex_lock(&zap->lock);
    any = zap->kept != 0;
    if (any) {
        *out = zap->refusals[--zap->kept];
        *missed = zap->missed[out->why];
        zap->missed[out->why] = 0;
    }
    (void)pthread_mutex_unlock(&zap->lock);
    return any;
}

/* ---- the thread ---- */

/* The next request, as much of it as there is room for; false when there is
 * none, with errno. */
static bool receive(void *socket, struct request *out)
{
    int more = 1;

    memset(out, 0, sizeof *out);
    while (more) {
        char spare[FRAME_BYTES];
        bool room = out->count < FRAMES;
        struct frame *frame = &out->frames[room ? out->count : 0];
        size_t size = sizeof more;
        int length = zmq_recv(socket, room ? frame->bytes : spare,
                              FRAME_BYTES, ZMQ_DONTWAIT);

        if (length < 0)
            return false;
        if (room)
            frame->size = (size_t)length;
        out->count++;
        if (zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) != 0)
            return false;
    }
    return true;
}

static bool is(const struct frame *frame, const char *text)
{
    return frame->size == strlen(text) &&
           memcmp(frame->bytes, text, frame->size) == 0;
}

static bool makes_sense(const struct request *request)
{
    const struct frame *frames = request->frames;

    return request->count == FRAMES && is(&frames[VERSION], "1.0") &&
           frames[TICKET].size > 0 && frames[TICKET].size < FRAME_BYTES &&
           is(&frames[DOMAIN], ZAP_DOMAIN) &&
           frames[ADDRESS].size < FRAME_BYTES &&
           is(&frames[MECHANISM], "CURVE") &&
           frames[CREDENTIALS].size == KEY_BYTES;
}

/* Decides; `user` is whose it is when it is let in. */
static bool admits(struct zap *zap, const struct request *request,
                   char user[USER_BYTES])
{
    const char *address = request->frames[ADDRESS].bytes;
    struct key key;
    uint64_t hash;

    if (!makes_sense(request)) {
        keep_refusal(zap, REFUSAL_MALFORMED, "");
        return false;
    }
    memcpy(key.bytes, request->frames[CREDENTIALS].bytes, KEY_BYTES);
    hash = key_hash(&key);
    if (!knows(zap, hash, &key)) {
        keep_refusal(zap, REFUSAL_KEY, address);
        return false;
    }
    if (bans_hold(zap->bans, net_now(), hash)) {
        keep_refusal(zap, REFUSAL_BANNED, address);
        return false;
    }
    (void)snprintf(user, USER_BYTES, "%016" PRIx64, hash);
    return true;
}

/* false when libzmq has not taken it. */
static bool answer(void *socket, const struct request *request, bool yes,
                   const char *user)
{
    const struct frame *ticket = &request->frames[TICKET];
    const struct {
        const char *bytes;
        size_t size;
    } frames[] = {{"1.0", 3},
                  {ticket->bytes, ticket->size},
                  {yes ? "200" : "400", 3},
                  {yes ? "OK" : "No", 2},
                  {user, strlen(user)},
                  {"", 0}};
    const size_t last = sizeof frames / sizeof *frames - 1;

    for (size_t i = 0; i <= last; i++)
        if (zmq_send(socket, frames[i].bytes, frames[i].size,
                     ZMQ_DONTWAIT | (i < last ? ZMQ_SNDMORE : 0)) < 0)
            return false;
    return true;
}

static bool serve(struct zap *zap)
{
    struct request request;
    char user[USER_BYTES] = "";
    bool yes;

    while (receive(zap->socket, &request)) {
        yes = admits(zap, &request, user);
        if (!answer(zap->socket, &request, yes, yes ? user : ""))
            return false;
    }
    return errno == EAGAIN || errno == EINTR;
}

/* Ends when the bell is rung, or when anything is wrong: then nobody comes in
 * any more. */
static void *run(void *of)
{
    struct zap *zap = of;
    zmq_pollitem_t items[] = {{zap->socket, 0, ZMQ_POLLIN, 0},
                              {NULL, zap->bell.fd, ZMQ_POLLIN, 0}};

    while (!items[1].revents && serve(zap))
        if (zmq_poll(items, 2, -1) < 0 && errno != EINTR)
            break;
    (void)zmq_close(zap->socket);
    return NULL;
}

static enum status failed(struct why *why)
{
    return because(why, STATUS_UNAVAILABLE,
                   "the thread that checks keys cannot start: %s",
                   zmq_strerror(errno));
}

static enum status bind_socket(struct zap *zap, void *context,
                               struct why *why)
{
    int linger = 0;

    zap->socket = zmq_socket(context, ZMQ_REP);
    if (!zap->socket)
        return failed(why);
    (void)zmq_setsockopt(zap->socket, ZMQ_LINGER, &linger, sizeof linger);
    if (zmq_bind(zap->socket, "inproc://zeromq.zap.01") == 0)
        return STATUS_OK;
    (void)zmq_close(zap->socket);
    return failed(why);
}

static enum status start(struct zap *zap, struct why *why)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&zap->thread, NULL, run, zap);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        return STATUS_OK;
    (void)zmq_close(zap->socket);
    errno = error;
    return failed(why);
}

static void zap_free(struct zap *zap)
{
    bell_free(&zap->bell);
    (void)pthread_mutex_destroy(&zap->lock);
    free(zap->rows);
    free(zap);
}

enum status zap_open(void *context, struct bans *bans, struct zap **out,
                     struct why *why)
{
    struct zap *zap = allocate(1, sizeof *zap);
    enum status status;

    (void)pthread_mutex_init(&zap->lock, NULL);
    zap->bans = bans;
    status = bell_init(&zap->bell, why);
    if (status == STATUS_OK)
        status = bind_socket(zap, context, why);
    if (status == STATUS_OK)
        status = start(zap, why);
    if (status == STATUS_OK)
        *out = zap;
    else
        zap_free(zap);
    return status;
}

void zap_close(struct zap **reference)
{
    struct zap *zap = *reference;

    *reference = NULL;
    if (!zap)
        return;
    bell_ring(&zap->bell);
    (void)pthread_join(zap->thread, NULL);
    zap_free(zap);
}

uint64_t zap_user(const char *user)
{
    uint64_t hash;

    return hex_read(user, &hash) && !user[HEX_DIGITS] ? hash : 0;
}
