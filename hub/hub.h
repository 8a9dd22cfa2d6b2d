/* The hub as a machine: membership, rounds, the centre, when it all ends.
 *
 * A node has one peer per channel. It says HELLO on control, is told WELCOME,
 * says ATTACH on bulk, and is then a member. Offers open a round; the gate
 * closes it; each chunk is merged when every contributor has delivered it (or
 * is gone) and released to all contributors at once. Tasks, where the run has
 * them, are the ledger's (hub/ledger.h). */
#ifndef HUB_HUB_H
#define HUB_HUB_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "codec/manifest.h"
#include "codec/msg.h"
#include "core/blob.h"
#include "core/goal.h"
#include "core/schema.h"
#include "core/status.h"
#include "core/time.h"
#include "hub/eta.h"
#include "policies/policy.h"
#include "seam/machine.h"
#include "seam/saved.h"

/* Nodes try to connect once a second at least. */
#define HUB_RECOVERY (1500 * MILLISECOND)

enum { HUB_MAX_NODES = 16384, NODE_NAME_BYTES = 40 };

/* Local orders (MSG_STOP, MSG_ORDER) come from this peer, and MSG_ANSWER goes
 * to it. */
#define PEER_OPERATOR PEER_TRAINER

/* What a hub knows its own words by, when nodes give them back. */
struct hub_seal {
    unsigned char key[MANIFEST_KEY_BYTES];
    bool keyless; /* without keys: as long as it has nothing of its own, it
                     takes what another hub has sealed, too */
};

static_assert((int)SAVED_SLOTS == (int)POLICY_SLOTS,
              "what merge rules keep can be saved");

/* A job of the work that main lends to the machine, see hub_config.
 * evaluate: in[] = centre chunks. Parameters that are compared have been scored
 *   on the same samples, so that the error of their difference, the paired one,
 *   is smaller than sqrt(a^2 + b^2), the more the two are alike. It would need
 *   the loss of each sample; this one is the conservative one: whoever decides
 *   by it rather does nothing. */
struct score_job {
    struct job job;
    uint64_t version;             /* of the centre; 0: what a rule judges */
    double loss, accuracy, error; /* out: accuracy below 0: none; error, the
                                     standard one of the loss, 0: not known */
};

struct hub_config {
    struct policy policy;
    /* What nodes are told as it is: codec/settings.def. */
#define OWN_HUB(type, name)
#define OWN_CONFIG(type, name) MEMBER_##type(name)
#define SETTING(type, name, limit, source, change, reader, doc)                \
    OWN_##source(type, name)
#include "codec/settings.def"
#undef SETTING
#undef OWN_HUB
#undef OWN_CONFIG
    enum init init;
    uint64_t tournament; /* iterations it takes; 0: 1 % of all, at least 50 */
    uint32_t fragments;  /* 0 and 1: the whole model at once */
    bool dylu;           /* k of each node by its speed */
    enum codec_id codec_up, codec_down; /* of updates and results */
    const struct schema *schema; /* of the run, outlives the hub; NULL: that of
                                    the first node */
    uint64_t run;
    uint64_t secret[2]; /* that sessions are made from; not known to others */
    uint32_t keeping; /* of what a node is sent so much in 1000 at most is what
                         proves the centre that it keeps; 0: as it fits */
    nanos recovery; /* an empty hub waits so long for nodes that keep a centre;
                       0: it begins at once */
    uint64_t life;  /* of the hub, as its disk says; counts them from 0 */
    struct hub_seal seal;        /* of what nodes keep */
    uint64_t every, delay;       /* k and d; where they are free: at first */
    bool free_every, free_delay; /* the hub chooses them (hub/adapt.h) */
    unsigned nodes;              /* members needed before the first round */
    unsigned most;               /* that there may be; 0: HUB_MAX_NODES */
    unsigned port; /* the hub's first one, for texts; 0: not known */
    uint32_t chunk_elements;
    uint32_t scale;     /* see struct extent */
    uint64_t window;    /* bytes in flight per node and direction; 0: as its
                           rate and its round trip ask for */
    uint64_t budget;    /* bytes of all uploads in flight; 0: no limit */
    uint64_t up, down;  /* bytes per second of payload that it sends to nodes,
                           and is sent; 0: no limit */
    uint64_t staleness; /* versions an offer may lag behind */
    enum goal_kind goal;
    double goal_value;
    uint64_t iterations; /* per node, 0: no bound */
    nanos time;          /* 0: no bound */
    bool time_unsaid;    /* nobody has said it: it foretells no end */
    nanos idle;          /* without nodes, once there was one; 0: no bound */
    uint64_t epochs;     /* of all tasks, 0: no bound */
    nanos task_time;     /* longest for one task, 0: no limit */
    /* Work that main lends to the machine, on struct save_job and score_job;
     * NULL where there is none. */
    const struct work *save, *evaluate;
    const void *save_context, *evaluate_context;
    nanos save_interval, evaluate_interval;
};

/* How long exchanges took, from an offer's arrival to its last verdict: how
 * many at most so many seconds each, and one more for all that took longer. */
enum { HUB_DURATION_COUNT = 13 };
extern const double hub_durations[HUB_DURATION_COUNT];

struct hub_durations {
    uint64_t within[HUB_DURATION_COUNT + 1]; /* each once */
    double seconds;                          /* of all */
};

/* What a node, or a run, has done and moved since it joined, in all its
 * processes. */
struct hub_moved {
    uint64_t steps;     /* iterations */
    uint64_t samples;   /* training samples of its offers */
    uint64_t exchanges; /* merged */
    uint64_t up_bytes, down_bytes;
};

struct hub_node_view {
    char name[NODE_NAME_BYTES];
    uint64_t iteration;            /* as its process counts */
    struct hub_moved moved;        /* in all lives of the hub, of which */
    struct hub_moved before;       /* so much before this one */
    double rate, loss, accuracy;   /* accuracy below 0: none */
    uint64_t every, delay;         /* its k and d; 0: not told yet */
    uint64_t lag;                  /* centre versions since its base */
    uint64_t fates[VERDICT_COUNT]; /* exchanges that ended so */
    uint64_t preempted;            /* times its parameters were replaced */
    double up_rate, down_rate;     /* bytes per second, of the last seconds */
    double link_up, link_down;     /* bytes per second that its link carried
                                      while it was busy; NaN: not known */
    double busy; /* seconds that an exchange keeps its link busy; NaN: not
                    known */
    uint64_t down_limit; /* that it wants at most; 0: none */
    uint64_t missed;
    nanos round_trip, waited;
    nanos spent[SPENT_COUNT]; /* where its trainer's time went, as it says; all
                                 0: it does not say */
    double foreseen; /* share of its time that it trains, as the formula says;
                        NaN: not known */
    enum activity activity;
    bool told; /* by PING, what it counts: missed, waited, spent */
    bool silent, gone, best, quarantined;
    bool left;            /* it is gone, and has said goodbye */
    bool drained, pinned; /* by the operator */
    char why[64]; /* what became of its last chunk, unless it is merged */
};

struct hub_view {
    uint64_t run, version, epoch, rounds;
    uint64_t rounds_here;  /* done since this hub began, not by one before it */
    uint64_t every, delay; /* k and d in force */
    uint64_t from; /* epoch of the centre that it went on from; 0: of none */
    bool founded, ending, ended;
    bool stopping;         /* the hub ends, the run does not */
    bool reached;          /* a centre was good enough for the goal */
    bool recovering;       /* it asks nodes for the newest centre */
    bool superseded;       /* another hub has taken the run over */
    unsigned saves_failed; /* in a row, the latest ones */
    /* Why the last save has failed, so that the run ended without; or NULL. The
     * hub's. */
    const char *unsaved;
    bool tested; /* scores are of held-out data, not what nodes train with */
    double score, accuracy; /* of the centre; NO_SCORE and -1: none */
    double error;           /* standard error of the score; 0: not known */
    double first_score;     /* of the run; NO_SCORE: there was none yet */
    double best_score, best_accuracy; /* the same */
    uint64_t best_version;
    uint64_t verdicts[VERDICT_COUNT]; /* chunks that ended so */
    uint64_t offered;                 /* chunks, in all */
    uint64_t preempted;               /* nodes whose parameters were replaced */
    uint64_t rollbacks;               /* of the centre, to a good version */
    struct hub_durations durations;
    enum codec_id codec_up, codec_down;
    uint64_t up_limit, down_limit; /* bytes per second, of all; 0: none */
    /* From the hub's start to the first round, and from there to the end. */
    nanos pending, training;
    nanos run_time; /* for which the run has had a hub, all lives of that */
    nanos former;   /* of that, in lives before this one */
    struct hub_moved moved; /* in all of them */
    /* When the run ends: by what, NOTHING: not known (yet); and whether it has
     * an end at all but by hand. */
    enum eta_end eta_by;
    bool eta_at_most; /* another end, of which nothing is known, may be first */
    struct eta_left eta;
    bool has_end;
    /* Tasks of the epoch under way, which counts from 0; all 0: no tasks. */
    uint64_t task_epoch;
    uint32_t tasks, tasks_doing, tasks_done;
    char state[160]; /* what the hub is doing or waiting for */
    char reason[MSG_TEXT_BYTES];
    unsigned count;              /* nodes, also those that are gone */
    struct hub_node_view *nodes; /* the hub's, until it is looked at again */
};

/* Offers that are under way. */
struct hub_uploads {
    uint64_t open;    /* chunks without a verdict */
    unsigned rounds;  /* that are not over */
    unsigned partial; /* updates of which something has come that is not merged
                         yet, */
    uint64_t held;    /* and its bytes of payload */
};

struct logs;
struct hub;
struct ledger;

/* The configuration is copied; `pool` must outlive the hub. */
struct hub *hub_new(const struct hub_config *config, struct pool *pool);
void hub_destroy(struct hub **hub);

/* Starts from a saved centre, before the first event. The values are copied.
 * MALFORMED when the state's text makes no sense. */
enum status hub_restore(struct hub *hub, const struct hub_saved *saved,
                        struct why *why);

struct machine hub_machine(struct hub *hub);
void hub_look(const struct hub *hub, nanos now, struct hub_view *view);
/* Looked at by itself: it takes time with the chunks of all rounds. */
void hub_look_at_uploads(const struct hub *hub, struct hub_uploads *out);
/* A chunk of the centre and its version, for judges; NULL: there is none yet.
 * Borrowed until the hub's next step. */
const float *hub_centre(const struct hub *hub, uint32_t chunk,
                        uint64_t *version);
/* What who is up to date holds of it: what the codec down has left of it. */
const float *hub_sent(const struct hub *hub, uint32_t chunk);
/* Everything is said, and saved if it could be: the driver may stop. */
bool hub_ended(const struct hub *hub);
/* Bytes of a chunk as float32: of the run, whatever the configuration says. */
uint64_t hub_chunk_bytes(const struct hub *hub);
/* Bytes of the largest payload that a node may have to send now; 0: of any
 * size, as it is not known how its centre is cut. */
uint64_t hub_longest_payload(const struct hub *hub);
/* The schema of the run, NULL before the first node; borrowed. */
const struct schema *hub_schema(const struct hub *hub);
/* Which tasks are done, for judges; borrowed. */
/* What its nodes have said for `starswitch-hub logs` (hub/logs.h). */
const struct logs *hub_logs(const struct hub *hub);
const struct ledger *hub_ledger(const struct hub *hub);
/* Broken invariants, as a sentence, or NULL: the judge asks after each step. */
const char *hub_check(const struct hub *hub);

#endif
