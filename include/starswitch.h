/* libstarswitch: two calls that let a training loop take part in a run.
 *
 *     #include <starswitch.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         float w[4] = {0};
 *         const struct star_tensor tensors[] = {
 *             STAR_TENSOR("w", 1, w, NULL, 4)};
 *         struct star_progress progress = {.size = sizeof progress,
 *                                          .samples = 32, .accuracy = -1};
 *         struct star_link *link;
 *         char error[256];
 *
 *         if (star_attach(NULL, tensors, 1, &link, error, sizeof error)) {
 *             fprintf(stderr, "%s\n", error);
 *             return 1;
 *         }
 *         do { // one iteration of your own, such as
 *             for (int i = 0; i < 4; i++)
 *                 w[i] += 0.1f * ((float)i - w[i]);
 *             progress.loss = (3 - w[3]) * (3 - w[3]);
 *         } while (star_step(link, &progress) == STAR_GO);
 *         star_detach(&link);
 *         printf("%.3f\n", w[3]);
 *         return 0;
 *     }
 *
 * The link trains as if it were alone: star_step never waits for the network
 * (unless the hub's settings say so: --delay 0 or --miss wait, each with a
 * limit). Every k iterations it copies the tensors and offers the progress
 * they hold; what comes back is added to them in place at iteration k+d, by
 * star_step and by nothing else. Without a hub it does nothing, keeps looking
 * for one, and joins when it is there.
 *
 * Memory: the tensors stay yours and must stay in place until star_detach, or
 * star_retarget says where they are; a link takes eight times their bytes.
 * Threads: a link has a thread of its own for the network; call its functions
 * from one thread at a time. It installs no signal handlers. After fork, only
 * the process that attached may use it.
 * Out of memory: star_attach fails; a link that is attached leaves out what it
 * cannot do, trains on alone, says so (the event no_memory, `status` of
 * star_state), and goes on when there is memory again. The library never ends
 * the program, but for a bug in it: a check of its own that fails is an assert,
 * as whoever went on might spoil the parameters. Environment variables are read
 * by star_attach only, and each option says which.
 *
 * Every struct begins with its size, `sizeof` of what the program was compiled
 * with: a program works with a library whose structs have grown, and with an
 * older one as long as what that does not know is 0 (docs/decisions). What is
 * not set is 0:
 *
 *     struct star_options options = {.size = sizeof options};         C
 *     star_options options{}; options.size = sizeof options;          C++11
 *
 * C99, C++-safe. Link with -lstarswitch (pkg-config starswitch). */
#ifndef STARSWITCH_H
#define STARSWITCH_H

#include <stddef.h>
#include <stdint.h>

/* Of this header. */
#define STAR_VERSION "0.1.0"
/* The number behind libstarswitch.so: it rises when a function or a member goes
 * away or means something else, and not when some are added. */
#define STAR_ABI 1

#if defined(__GNUC__)
#define STAR_API __attribute__((visibility("default")))
#else
#define STAR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct star_link;

/* Of the library that is loaded, "0.1.0". */
STAR_API const char *star_version(void);

/* How a call ended. */
enum star_status {
    STAR_OK = 0,
    STAR_BAD_ARGUMENT, /* a tensor or an option cannot be right */
    STAR_NO_MEMORY,
    STAR_NO_NETWORK, /* sockets or threads cannot be made */
    STAR_NO_FILE,    /* a file of the options cannot be read or written */
    STAR_TIMEOUT,    /* the time given is over */
    STAR_CLOSED,     /* the hub will not have us, or the run is over */
    STAR_NOT_YET     /* what was asked for is not there, and may be later */
};

/* The next move of the training loop, after a step. */
enum star_advice {
    STAR_GO,     /* go on */
    STAR_STOP,   /* the run is over: leave the loop */
    STAR_REFUSED /* the hub will not have us; going on alone is possible */
};

enum star_level { STAR_DEBUG, STAR_INFO, STAR_WARNING, STAR_ERROR };

enum { STAR_RANK_MAX = 8 };

/* How a tensor is merged. All but the trained are statistics, as BatchNorm's:
 * no outer optimizer moves them, no codec (docs/policies.md). */
enum star_kind {
    STAR_TRAINED,
    STAR_AVERAGED, /* the mean, weighted by samples */
    STAR_LARGEST   /* the largest value, as of a counter; exact to 2^24 */
};

struct star_tensor {
    uint32_t size;    /* sizeof(struct star_tensor), in each of a list */
    int rank;         /* 0 (a scalar) to STAR_RANK_MAX */
    const char *name; /* unique, e.g. "layer1.weight" */
    uint64_t shape[STAR_RANK_MAX]; /* row-major; the first `rank` */
    float *value;    /* with `change` of the options: a copy's place */
    float *gradient; /* as value; NULL where none are exchanged, or it is a
                        statistic */
    enum star_kind kind;
};

/* One of a list: STAR_TENSOR("layer1.weight", 2, value, NULL, 784, 128). */
/* clang-format off */
#define STAR_TENSOR(name, rank, value, gradient, ...)                          \
    {sizeof(struct star_tensor), rank, name, {__VA_ARGS__}, value, gradient,   \
     STAR_TRAINED}
/* clang-format on */

/* An event, in words. The library keeps the newest 64. */
struct star_event {
    uint32_t size; /* sizeof(struct star_event) */
    enum star_level level;
    uint64_t lost;  /* before it, as nobody asked in time */
    char event[32]; /* a name for programs, such as "hub_unreached" */
    char text[256]; /* a sentence for people */
};

/* All members but `size` may be 0 or NULL. The functions must not call the
 * link's. */
struct star_options {
    uint32_t size;    /* sizeof(struct star_options) */
    int quiet;        /* not 0: without `log` nothing goes to stderr */
    const char *hub;  /* "host" or "host:port", or up to 8 with commas between
                         them, of which the next is tried when one cannot be
                         reached for 3 s; NULL: $STARSWITCH_HUB, or
                         127.0.0.1:7541 */
    const char *name; /* A node that comes back under its name, of 39 bytes at
                         most, is the same node. NULL or "": the host's, with a
                         number for each further node of this user here; a file
                         in $XDG_STATE_HOME/starswitch (~/.local/state) keeps
                         it apart from that of a PC of the same name. With a
                         key the node is its key, whatever its name. */
    /* Events as they happen, mostly from the link's thread. NULL: warnings and
     * errors go to stderr, unless `quiet`. Either way star_poll has them. */
    void (*log)(void *context, enum star_level level, const char *event,
                const char *sentence);
    /* Takes a merged gradient for elements [first, first + count) of the flat
     * vector to the optimizer; for policies that leave the optimizer to the
     * node. NULL: plain gradient descent is not tried; such results are left
     * out. From the thread that calls star_step. */
    void (*step)(void *context, const float *gradient, size_t first,
                 size_t count);
    /* All parameters were replaced by others. If `reset`, forget what your
     * optimizer has gathered (momentum and the like), else keep it. From the
     * thread that calls star_step. */
    void (*replaced)(void *context, int reset);
    /* Evaluates parameters of another node, all tensors end to end, on samples
     * that you do not train on: mean loss per sample, and its standard error
     * (0: not known). Returns 0, or not 0 if it cannot be done. For policies
     * that let nodes judge each other where the hub has no held-out data. Must
     * leave your tensors as they are. From the thread that calls star_step or
     * star_detach: at most once an iteration, more only while it waits. NULL:
     * this node judges nobody. */
    int (*evaluate)(void *context, const float *values, double *loss,
                    double *error);
    /* Asked some times a second while star_step waits for a result, as the hub
     * may have it do for minutes (--delay 0, --miss wait): not 0, and it waits
     * no longer. For programs that are asked to end. NULL: it waits. */
    int (*hurry)(void *context);
    void *context; /* of these functions */
    /* Reserved bandwidth: bytes of parameters per second that are sent, and
     * received, at most, in any second. 0: no limit. */
    uint64_t up, down;
    /* Reserved cores, such as "6-7" or "0,2": the link's threads run on these
     * only. The thread that calls stays where it is. NULL or "": on all. */
    const char *cores;
    /* A file for all that the link is told and does, with times, as text, which
     * starswitch-sim import record reads. Made anew; when it cannot be written
     * any more, `log` is told so and the link goes on. NULL or "": none. */
    const char *record;
    /* What the hub printed for its nodes: who it is, and leave to enrol; NULL
     * or "": $STARSWITCH_KEY, or what the file $STARSWITCH_KEY_FILE holds,
     * which nobody else may read but in $CREDENTIALS_DIRECTORY; and without
     * these nothing is encrypted. Not needed any more once star_attach has
     * returned. */
    const char *key;
    /* The file of this node's own key, made when first needed. NULL or "":
     * $STARSWITCH_IDENTITY, or NAME.key_secret in starswitch/ of
     * $XDG_CONFIG_HOME or ~/.config, NAME being the host's for a node without
     * a name. */
    const char *identity;
    /* For parameters that lie elsewhere, as on a GPU: moves elements [first,
     * first + count) of the flat vector, x = keep x + scale values, where x is
     * what the parameters are by now. `values` is borrowed for the call. The
     * link then never writes to the tensors; they are where copies of the
     * parameters are put: the first before star_attach, the others for
     * star_offer. From the thread that calls star_step or star_offer. NULL: the
     * tensors are the parameters. */
    void (*change)(void *context, double keep, double scale,
                   const float *values, size_t first, size_t count);
    /* As `change`, of tensors that are STAR_LARGEST: x = max(x, values). */
    void (*raise_to)(void *context, const float *values, size_t first,
                     size_t count);
};

/* The measurements of an iteration. */
struct star_progress {
    uint32_t size;    /* sizeof(struct star_progress) */
    double loss;      /* of this iteration's samples; NaN: not known */
    uint64_t samples; /* how many they were */
    double accuracy;  /* on held-out data, 0..1; below 0 or NaN: not known */
    double optimizer, data_wait, idle; /* seconds of it; rest: computing */
};

/* Where the link stands. Times in seconds. */
struct star_state {
    uint32_t size;             /* sizeof(struct star_state) */
    int attached;              /* a hub has taken us in */
    uint64_t iteration;        /* calls of star_step */
    uint64_t offered, applied; /* exchanges begun, results applied */
    uint64_t missed;           /* results that were not there at i+d */
    uint64_t every, delay;     /* k and d; 0 while there is no hub */
    uint32_t shard, shards;    /* the part of the data to train on; shards 0:
                                  nobody has said */
    uint64_t bytes_up, bytes_down; /* parameters, as they travel: encoded */
    double inside;           /* spent in star_step, evaluating included, waits
                                left out */
    double waited;           /* blocked by --delay 0 or --miss wait */
    int exit_code;           /* of a program that is refused: 69 no room, 75 a
                                newer node has its name, 76 protocol version, 77
                                its key, 78 another model */
    enum star_status status; /* STAR_NO_MEMORY: it was missing at the last
                                step, and the link trains on alone */
    char name[40];           /* of this node; a hub may know it by another */
    char text[128];          /* what it is doing or waiting for */
    /* Of the whole run, as the hub has told last; 0: it has not. */
    uint64_t global_samples; /* of all that was merged since the run began */
    uint64_t members;        /* nodes in the run, this one included */
    uint64_t version;        /* of the centre */
    uint64_t tasks;          /* of an epoch, for star_task_next; 0: none */
};

/* Begins to take part; copies the tensors, waits for no hub (for a name's
 * lookup up to 2 s). `options` may be NULL; tensors are described by name,
 * rank, shape and value, and by gradient where gradients are exchanged (else
 * NULL): 4096 at most, 60 KiB of names and shapes. Those of rank 0 and 1
 * travel as float32, as biases should: who has all parameters in one vector
 * calls it a matrix of one row. No two may share memory. On failure the link
 * is NULL, with which a program trains alone, and `error` says why. */
STAR_API enum star_status star_attach(const struct star_options *options,
                                      const struct star_tensor *tensors,
                                      size_t count, struct star_link **link,
                                      char *error, size_t error_size);

/* To be called at the end of each iteration, after the optimizer's step. May
 * change the tensors. `progress` may be NULL; one whose size is not set says
 * nothing, and the event progress_unread says so. This and what follows accept
 * a NULL link, for a loop that trains alone. */
STAR_API enum star_advice star_step(struct star_link *link,
                                    const struct star_progress *progress);
/* The same while there is nothing to train on, many times a second: offers have
 * their turn and results come due; no iteration is counted, nor a sample. */
STAR_API enum star_advice star_idle(struct star_link *link);

/* What the next star_step will do, as far as that is known now; for programs
 * whose parameters are elsewhere, such as on a GPU, and are to be brought in
 * time. What comes meanwhile may add to it. */
enum star_due {
    STAR_DUE_OFFER = 1,  /* read the tensors, to offer what they hold */
    STAR_DUE_RESULT = 2, /* change the tensors, or wait to do so */
    STAR_DUE_COPY = 4    /* nothing; but the last one has begun an offer, which
                            waits for star_offer: copy the parameters now */
};
STAR_API unsigned star_due(struct star_link *link);

/* With `change`: the tensors hold the parameters as they were after star_step
 * of this iteration, the first being 1. Ends the offer that star_step began
 * there (STAR_DUE_COPY), from what the tensors hold; with --delay 0 it waits
 * for the result as star_step would. Until then no other offer is begun; one
 * whose copy is not there when its result is due, at iteration + d (--miss cut:
 * 3/4 of d; d = 0: at the next star_step), is left out. Of the newest iteration
 * it may be called at any time: star_detach offers the last progress only if it
 * was, and nothing has changed since. BAD_ARGUMENT: nobody waits for that copy,
 * any more or at all; or star_idle has changed something since it was due.
 *
 *     advice = star_step(link, &progress);      iteration i; may call `change`
 *     if (star_due(link) & STAR_DUE_COPY && !copying)
 *         copying = i, begin to copy the parameters to the tensors
 *     ...
 *     if (copying && the copy is complete)      at a later iteration
 *         star_offer(link, copying), copying = 0;
 */
STAR_API enum star_status star_offer(struct star_link *link,
                                     uint64_t iteration);

/* The tensors have moved: the same names and shapes, in the same order, and
 * gradients as before, lie at other places from now on, which hold what the old
 * ones held. BAD_ARGUMENT, NO_MEMORY: nothing has changed; `error` says why. */
STAR_API enum star_status star_retarget(struct star_link *link,
                                        const struct star_tensor *tensors,
                                        size_t count, char *error,
                                        size_t error_size);

/* Whether the run exchanges gradients: then compute them, leave out your own
 * optimizer's step, and let star_step move the tensors. */
STAR_API int star_wants_gradient(struct star_link *link);

/* A part of the training data, to be trained on once. Cut your samples into
 * `parts` equal parts in the same way on every node; of n in a row, part p is
 * [n p / parts, n (p + 1) / parts). */
struct star_task {
    uint32_t size; /* sizeof(struct star_task) */
    uint64_t id;
    uint64_t epoch;       /* of the run, from 0 */
    uint32_t part, parts; /* part < parts */
};

enum { STAR_TASKS_MAX = 64 }; /* given out and not done */

enum star_next {
    STAR_TASK,      /* *task is the caller's until star_task_done */
    STAR_NO_TASK,   /* none now: train on your shard and ask again */
    STAR_TASKS_OVER /* the run ends: there will be none any more */
};

/* Takes the next task where the hub gives out tasks (--tasks). Never blocks:
 * one is in hand while another is trained on. */
STAR_API enum star_next star_task_next(struct star_link *link,
                                       struct star_task *task);
/* Says what became of a task: ok, its samples have all been trained on; not
 * ok, somebody else must. Call it before the star_step of its last iteration.
 * It counts as done once its progress has been merged; when the connection or
 * this process is lost before, it is given to another node. 0: this link has
 * given out no such task, or was told already; 1: it has. */
STAR_API int star_task_done(struct star_link *link, uint64_t id, int ok);

/* Where the link stands; BAD_ARGUMENT: the size is not set. */
STAR_API enum star_status star_look(struct star_link *link,
                                    struct star_state *state);

/* Of the run's centre, part by part: they differ while a version is coming. */
struct star_versions {
    uint32_t size; /* sizeof(struct star_versions) */
    uint64_t lowest, highest;
};

/* Copies the run's newest parameters that this node was sent, which are what to
 * evaluate: all tensors end to end, row-major, `count` values; also when the
 * hub is gone. `versions` may be NULL. NOT_YET: they are not all here, or nodes
 * are given each other's instead; BAD_ARGUMENT: another `count`, or a size is
 * not set. Then `values` is as it was, and a sentence is in `error`. */
STAR_API enum star_status star_centre(struct star_link *link, float *values,
                                      size_t count,
                                      struct star_versions *versions,
                                      char *error, size_t error_size);

/* Waits until a hub has taken us in, at most so many seconds (below 0: as long
 * as it takes). STAR_TIMEOUT: they are over, or `hurry` said so, or the link is
 * NULL; STAR_CLOSED: it will not happen. */
STAR_API enum star_status star_wait(struct star_link *link, double seconds);

/* The oldest event that was not asked for yet: 1; 0: there is none, or the
 * event's size is not set. Never waits; on any thread, but not in `log`. */
STAR_API int star_poll(struct star_link *link, struct star_event *event);
/* A line of the program's own, for starswitch-hub logs; likewise. */
STAR_API void star_say(struct star_link *link, enum star_level level,
                       const char *event, const char *sentence);

/* Offers the last progress, says goodbye and frees the link; waits for that, at
 * most 35 s, and 10 s for a hub that it has lost; longer only while its hub
 * takes that over a slow link, a chunk in ten minutes at least. Accepts NULL,
 * and a link that is NULL. */
STAR_API void star_detach(struct star_link **link);
/* The same within so many seconds, of which a quarter (1 s at most) is for the
 * goodbye; 0: at once. STAR_TIMEOUT: the last progress was not taken in time,
 * or no hub was there. Then nothing calls the options' functions or touches the
 * tensors; what the link's thread is still busy with it ends and frees. */
STAR_API enum star_status star_detach_within(struct star_link **link,
                                             double seconds);

#ifdef __cplusplus
}
#endif

#endif
