/* Collectives through the hub: barrier, broadcast, allreduce, allgather,
 * checkpoints. Peers talk to the hub only.
 *
 *     struct star_group *group;
 *     char error[256];
 *     if (star_group_join(NULL, "worker-3", NULL, &group, error, sizeof error))
 *         ...
 *     while (... one more batch ...) {
 *         ... gradients ...
 *         switch (star_group_allreduce_average(group, tensors, count)) {
 *         case STAR_GROUP_SUCCESS:               the mean of all members
 *         case STAR_GROUP_NO_NEED: step(); break;   alone: one's own
 *         default: break;                        drop this batch, go on
 *         }
 *     }
 *     star_group_leave(&group);
 *
 * What happens when a member is lost or a new one comes is the group's manner:
 *
 * - elastic (FTLib): the collective under way fails, nothing is changed by it,
 *   and the next one is among those who are there then. Nobody waits for
 *   somebody who is lost.
 * - patient (Rabit): the others wait until it is back under its name. It loads
 *   the newest checkpoint and does its work again; the results that the others
 *   have had since that checkpoint are given to it again, bit for bit. One
 *   that does not come back within `patience` is given up: the call fails with
 *   a sentence that says so, and the next one is among those who are left.
 *
 * Every call waits at most `timeout` seconds; star_group_look says for what it
 * waited. Reductions add in rank order, floats in double: the same bits on
 * every member and in every run.
 *
 * Ranks: those who have been members for longest come first, founders in the
 * order of a 128-bit hash of their names; so rank 0 is never a newcomer.
 *
 * FTLib's and Rabit's names for all of this are in starswitch_ancestors.h.
 *
 * Threads: call a group's functions from one thread at a time; it has a thread
 * of its own for the network. Two exceptions: messages from member to member
 * may be another thread's than collectives, and star_group_interrupt any's.
 * C99, C++-safe. */
#ifndef STARSWITCH_GROUP_H
#define STARSWITCH_GROUP_H

#include <starswitch.h>

#ifdef __cplusplus
extern "C" {
#endif

struct star_group;

/* How a collective ended. */
enum star_group_status {
    STAR_GROUP_NO_NEED = -1, /* this is the only member, or all are stopping */
    STAR_GROUP_SUCCESS = 0,
    STAR_GROUP_FAIL = 1, /* not done, and nothing changed; the next may be; in a
                            patient group the same call is to be made again:
                            others may have done it, with what was given */
    STAR_GROUP_ABORT = 2 /* cannot be done: see star_group_look */
};

/* Whether a member of an elastic group asks the hub who is there before each
 * collective, which costs a round trip and saves the batch that would fail. */
enum star_consensus_mode { STAR_PASSIVE = 0, STAR_ACTIVE = 1 };

enum star_manner { STAR_ELASTIC = 0, STAR_PATIENT = 1 };

enum star_op { STAR_SUM, STAR_MEAN, STAR_MAX, STAR_MIN, STAR_BITOR };

enum star_dtype {
    STAR_I8,
    STAR_U8,
    STAR_I32,
    STAR_U32,
    STAR_I64,
    STAR_U64,
    STAR_F32,
    STAR_F64
};

/* All members but `size` may be 0. */
struct star_group_options {
    uint32_t size; /* sizeof(struct star_group_options) */
    int quiet;     /* not 0: without `log` nothing goes to stderr */
    enum star_manner manner;
    enum star_consensus_mode mode;
    unsigned members; /* before the first call; all must say the same */
    double timeout;   /* seconds; 0: 60, patient: 60 more than patience */
    double patience;  /* seconds; 0: 1800 */
    /* Events as they happen, from the group's thread. NULL: warnings and errors
     * go to stderr, unless `quiet`. Either way star_group_poll has them. */
    void (*log)(void *context, enum star_level level, const char *event,
                const char *sentence);
    void *context;
    /* What lets the member in at a hub with keys, as in star_options; NULL or
     * "": $STARSWITCH_KEY, the file that $STARSWITCH_KEY_FILE names, and
     * $STARSWITCH_IDENTITY. */
    const char *key;
    const char *identity;
};

/* A vector that is averaged in place. */
struct star_group_tensor {
    uint32_t size; /* sizeof(struct star_group_tensor), in each of a list */
    float *values;
    size_t count;
};

struct star_group_state {
    uint32_t size; /* sizeof(struct star_group_state) */
    unsigned rank, members;
    uint64_t epoch;    /* grows when the membership changes */
    uint64_t averages; /* collectives done */
    uint64_t version;  /* checkpoints done */
    int joined;        /* the hub has taken us in */
    int exit_code;     /* not 0: the program must end with it, and be started
                          again: 3, it has missed what the others did */
    char text[128];    /* why the last call did not succeed */
};

/* ---- coming and going ---- */

/* Begins to be a member; returns at once, hub or not. `hub` is "host" or
 * "host:port", or up to 8 with commas between them, tried in turn (NULL:
 * $STARSWITCH_HUB, or 127.0.0.1:7541); `name` tells members apart (NULL: the
 * host's, with -2, -3 ... where members run under it on this PC), and who comes
 * back under its name is the same member. On failure a sentence is in `error`.
 */
STAR_API enum star_status
star_group_join(const char *hub, const char *name,
                const struct star_group_options *options,
                struct star_group **group, char *error, size_t error_size);
/* Says goodbye and frees; after a lazy checkpoint, waits before until all have
 * come to leave, as one who was lost may still need the model. Accepts a NULL
 * group. */
STAR_API void star_group_leave(struct star_group **group);

/* From any thread, such as one that has seen Ctrl-C: each call that waits in
 * another thread fails at once, and of a collective the hub tells the others
 * who interrupted it. A request goes on. Without a call under way it does
 * nothing. Not while the group leaves. */
STAR_API void star_group_interrupt(struct star_group *group);

/* BAD_ARGUMENT: the size is not set. */
STAR_API enum star_status star_group_look(struct star_group *group,
                                          struct star_group_state *state);
/* As star_poll. */
STAR_API int star_group_poll(struct star_group *group,
                             struct star_event *event);
STAR_API unsigned star_group_rank(struct star_group *group);
STAR_API unsigned star_group_size(struct star_group *group);
/* Learns who is there. A call does that by itself when it is needed. */
STAR_API enum star_group_status star_group_build(struct star_group *group);
/* Waits until the hub has taken us in, at most so many seconds (0: 15). */
STAR_API int star_group_wait_joined(struct star_group *group, double seconds);

/* ---- collectives; all members call the same one ---- */

/* Each value becomes the mean of all members' values; all tensors travel as
 * one. */
STAR_API enum star_group_status
star_group_allreduce_average(struct star_group *group,
                             const struct star_group_tensor *tensors,
                             size_t count);
/* `bytes` of the root's data to all, in place. */
STAR_API enum star_group_status star_group_broadcast(struct star_group *group,
                                                     void *data, size_t bytes,
                                                     unsigned root);
STAR_API enum star_group_status star_group_barrier(struct star_group *group);
/* In place. STAR_MEAN is for floats, STAR_BITOR for integers. `prepare`, unless
 * NULL, fills the data just before they are needed, and is not called when the
 * result is there already. */
STAR_API enum star_group_status
star_group_allreduce(struct star_group *group, void *data, size_t count,
                     enum star_dtype dtype, enum star_op op,
                     void (*prepare)(void *argument), void *argument);
/* The same with an operation of one's own: into = into + one, for `count`
 * elements of `element_bytes`, is called in rank order. All contributions
 * travel to all members. */
STAR_API enum star_group_status star_group_allreduce_custom(
    struct star_group *group, void *data, size_t element_bytes, size_t count,
    void (*reduce)(const void *one, void *into, size_t count));
/* All members' contributions, in rank order; they may differ in size. FAIL
 * when `all_bytes` is too small; `received` (or NULL) says how many came. */
STAR_API enum star_group_status
star_group_allgather(struct star_group *group, const void *own, size_t bytes,
                     void *all, size_t all_bytes, size_t *received);
/* Elastic: this member has no more data. Other collectives answer NO_NEED from
 * now on; waits until everybody has come here. Then they work again, for a last
 * average of the parameters. */
STAR_API enum star_group_status star_group_stop(struct star_group *group);
/* ---- from one member to another, through the hub ----
 *
 *     request = star_group_isend(group, data, bytes, to, tag);
 *     while (!star_group_improbe(group, STAR_ANY, tag, &message))
 *         ... something useful ...
 *     answer = star_group_imrecv(group, &message, place, message.bytes);
 *     star_group_wait(group, &request, 60);
 *
 * Nothing of a message moves before its receiver has a place for it, so that
 * none needs memory on its way. Messages from one member to another come in
 * the order they were sent. Each is checked: begin mark, a checksum per
 * segment, and an end mark with one over all of them. */

enum { STAR_ANY = -1 }; /* source or tag */

struct star_request; /* a send or receive under way */

struct star_message {
    uint32_t size;   /* sizeof(struct star_message) */
    int source, tag; /* rank of the sender; what the sender said */
    size_t bytes;
    uint64_t id; /* the library's */
};

/* Begins to send; `data` must stay as they are until the request is done. tag
 * is at least 0. NULL: no memory. */
STAR_API struct star_request *star_group_isend(struct star_group *group,
                                               const void *data, size_t bytes,
                                               unsigned to, int tag);
/* Whether a message of this source and tag is there; the oldest is then the
 * caller's, and nobody else finds it. Never waits. */
STAR_API int star_group_improbe(struct star_group *group, int source, int tag,
                                struct star_message *message);
/* The same, waiting for at most so many seconds. */
STAR_API int star_group_mprobe(struct star_group *group, int source, int tag,
                               double seconds, struct star_message *message);
/* Begins to receive what was found. The place must stay until the request is
 * done; where it is too small the request fails, and the message may be asked
 * for again. NULL: no memory. */
STAR_API struct star_request *
star_group_imrecv(struct star_group *group, const struct star_message *message,
                  void *place, size_t bytes);
/* Whether the request is done: then it is freed, the pointer NULL, `status`
 * set, and star_group_look has a sentence if it failed. Never waits. A request
 * that is NULL is done, and leaves `status` as it is (star_group_wait: FAIL).
 */
STAR_API int star_group_test(struct star_group *group,
                             struct star_request **request,
                             enum star_group_status *status);
/* The same, waiting for at most so many seconds; FAIL when they are over, and
 * then the request goes on. */
STAR_API enum star_group_status star_group_wait(struct star_group *group,
                                                struct star_request **request,
                                                double seconds);

/* ---- checkpoints of a patient group ---- */

/* The version of the newest checkpoint, its model in `model` and `bytes`; the
 * memory is the group's, until its next call. 0: there is none, and nothing is
 * touched. -1: it cannot be had. */
STAR_API int64_t star_group_load_checkpoint(struct star_group *group,
                                            const void **model, size_t *bytes);
/* Ends a version: results since the last checkpoint are forgotten. The model
 * must be the same on all members; the hub keeps a copy. */
STAR_API enum star_group_status star_group_checkpoint(struct star_group *group,
                                                      const void *model,
                                                      size_t bytes);
/* The same, but only the address is kept, and the model is read from there,
 * during a later collective, if somebody needs it. It may be changed only
 * between the last collective of a version and the next checkpoint. */
STAR_API enum star_group_status
star_group_lazy_checkpoint(struct star_group *group, const void *model,
                           size_t bytes);
/* Checkpoints so far. */
STAR_API uint64_t star_group_version_number(struct star_group *group);

#ifdef __cplusplus
}
#endif

#endif
