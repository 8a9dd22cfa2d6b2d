/* The node's inside, shared by the files of node/ that make the machine.
 *
 * One file per journey: joining.c (from HELLO to being a member, and back),
 * welcome.c (what comes of WELCOME), forming.c (an offer that is being made),
 * parting.c (the last one), flight.c (an offer, up to its last verdict, or the
 * end of its time), arrival.c and held.c (what comes on bulk, up to its
 * values), result.c (a result, up to the trainer), initial_download.c (the
 * hub's parameters), keep.c (the centre, for a hub that loses it), promise.c
 * (what was merged, until it cannot be lost), tasks.c (what to train on),
 * review.c (what others have trained).
 *
 * A handler, the end of a job and a tick record facts, and mark what has to be
 * looked at again (enum dirty). What follows from the facts is the settle
 * pass's, in node.c, and nobody else's. */
#ifndef NODE_STATE_H
#define NODE_STATE_H

#include "core/bucket.h"
#include "node/held.h"
#include "node/keep.h"
#include "node/log.h"
#include "node/node.h"
#include "node/promise.h"
#include "node/review.h"
#include "node/sum.h"
#include "node/tasks.h"
#include "node/vector.h"

#define NODE_TICK (500 * MILLISECOND)
/* Without any answer for so long the hub is not expected to be there. */
#define HUB_SILENT (10 * SECOND)
/* A connection on which HELLO was never answered is given up after so long. */
#define HUB_DEAF (30 * SECOND)

enum hub_state {
    HUB_AWAY,   /* not connected, or no WELCOME yet */
    HUB_MEMBER, /* welcome */
    HUB_OVER,   /* the run has ended, or it refused us */
    HUB_STATES
};

struct flight_chunk {
    struct blob *taken;   /* x, until its job has it; g, as long as what is
                             given holds more than that */
    struct blob *encoded; /* what is given, until it is known to be merged */
    struct blob *back;    /* of that, what is offered again */
    struct sum sent;      /* x_sent, as moved by later corrections */
    struct blob *result;  /* v, raw */
    struct blob *applied; /* what the trainer is to apply: c, or v */
    enum verb verb;
    double weight;
    uint64_t version, lineage;
    uint64_t checksum; /* of the result, as announced */
    uint64_t job;      /* makes `applied`, or what founds; 0: none yet */
    double squares;    /* of what is given, decoded */
    uint64_t beside;   /* newest exchange that held some of it back meanwhile */
    bool judged;
    enum verdict verdict;
};

enum flight_stage {
    FLIGHT_TAKEN,   /* it waits for others */
    FLIGHT_FORMING, /* what it gives is being computed */
    FLIGHT_OFFERED, /* the hub knows of it */
    FLIGHT_GRANTED, /* its chunks are on their way */
    FLIGHT_JUDGED   /* every chunk has its verdict */
};

/* At the trainer. */
enum result_stage {
    RESULT_COMING,
    RESULT_HANDED,  /* it has all it is to apply */
    RESULT_SKIPPED, /* it will not apply it, and waits for its verdicts */
    RESULT_OVER     /* it has applied it, or was told to forget it */
};

enum flight_cut {
    CUT_NOT,
    CUT_SENDING, /* no more of it is sent, but for a first chunk */
    CUT_RESULT   /* and what has arrived is all that the trainer gets */
};

/* An exchange, from the snapshot until it is judged and applied. Number 0
 * carries parameters at the start: ours to the hub, or the hub's to us. */
struct flight {
    struct msg_local_offer offer;
    struct fragment part; /* its chunks */
    uint32_t parts;       /* how many */
    enum flight_stage stage;
    enum codec_id codec;            /* of what is given, once begun */
    uint64_t base_version, lineage; /* the node's when it was taken */
    double squares;                 /* of what is given, decoded */
    uint32_t *order;  /* in which they are sent; NULL: by number */
    uint32_t to_send; /* chunks that it is past */
    uint32_t forming, judged, arrived, correcting, corrected;
    int64_t credit; /* bytes that may be sent; below 0: owed */
    nanos spacing;  /* between its chunks */
    nanos next_at;  /* when the next one may be sent */
    enum flight_cut cut;
    enum result_stage result;
    bool rebase;   /* all that the trainer is to apply is REBASE */
    bool broken;   /* not finite: it must not be sent */
    bool starved;  /* there was no memory for some of it: nor must it */
    bool obsolete; /* the parameters it was taken from were replaced */
    bool adrift; /* the last one, lost with its connection: it is made again */
    bool merged, kept; /* some of it: is in the centre; is offered again */
    bool discarded;    /* some of it: a result takes it back */
    struct flight *next;
    struct flight_chunk chunks[];
};

/* From the trainer's last offer on. */
enum leave {
    LEAVE_NOT,
    LEAVE_WANTED, /* that is to be made, or there is none */
    LEAVE_GIVEN   /* it is merged, or turned down */
};

/* The stages of the settle pass that have something to do (node.c), in their
 * order. */
enum dirty {
    DIRTY_SPOILED = 1,    /* what is to be given holds NaN or infinity */
    DIRTY_HUB = 2,        /* it is lost */
    DIRTY_HELLO = 4,      /* it is to be asked to let the node in */
    DIRTY_RESULTS = 8,    /* may be corrected, or given to the trainer */
    DIRTY_OFFERS = 16,    /* may be begun, or made */
    DIRTY_CHUNKS = 32,    /* may be sent */
    DIRTY_OVER = 64,      /* exchanges may be, and with them tasks */
    DIRTY_PROMISES = 128, /* may take more room than there is */
    DIRTY_PARTING = 256,  /* the node may go */
    DIRTY_SCHEDULE = 512  /* the trainer is to be told another one */
};

struct node {
    struct node_config config;
    char name[40];
    struct blob *schema_text;
    struct pool *pool;
    struct effects *out;
    nanos now, next_tick, heard, hello_at;
    unsigned dirty; /* enum dirty; nothing between steps */
    uint64_t next_job;

    enum hub_state hub;
    const char *lost; /* why, in this step */
    bool control_up, bulk_up;
    bool started; /* the trainer's starting parameters are here and hashed */
    struct msg_welcome welcome;
    struct msg_view view;
    uint64_t run, lineage, base_version;
    uint64_t hub_version; /* the newest that this hub has told of */
    uint64_t hub_samples; /* of the run, as the hub has told last */
    enum start start;
    uint64_t takes; /* run whose parameters it was told to take, and has not */
    bool diverged;  /* its own parameters are not finite: take the hub's */
    bool named;     /* its last HELLO named a lineage */
    nanos hello_after; /* the hub is not asked before */
    bool unreconciled; /* no hub has said yet what became of what was in flight
                        */
    nanos superseded;  /* since then hubs that are there are of an earlier life
                          than the node knows; 0: they are not */
    nanos part_at;     /* the hub has said goodbye, and results may be on their
                          way; 0: it has not */
    char goodbye[MSG_TEXT_BYTES]; /* how */

    struct exempt *exempt; /* of the schema */
    uint32_t chunks, chunk_elements;
    uint64_t cut_run;          /* whose cut that is */
    struct blob *initial;      /* until the chunk size is known */
    struct sum *reference;     /* r, per chunk */
    struct sum *residual;      /* e of gradients, per chunk */
    uint64_t *merged;          /* per chunk: in which exchange it was last, as
                                  far as tasks want to know */
    struct flight *flights;    /* oldest first */
    uint64_t merged_iteration; /* newest of which something was merged */
    uint64_t samples_back;     /* of what is offered again and of which nothing
                                  was merged: the next offer stands for them */
    uint64_t back_at; /* iteration of the offer that was added to it last */
    struct flight *initial_upload;   /* exchange 0 to the hub */
    struct flight *initial_download; /* exchange 0 from the hub */
    struct flight *before;           /* what had come of it before a break */
    struct bucket up;                /* what may be sent */
    nanos send_at;                   /* when more may be, or NEVER */
    nanos spread_at;        /* when a flight's next chunk is due, or NEVER */
    struct held *held;      /* per chunk; NULL: nothing */
    uint64_t arrived_bytes; /* that wait in all of them to be decoded */
    uint64_t held_since;    /* newest job when that was last forgotten */
    struct keep keep;
    struct promises promises;
    struct node_tasks tasks;
    struct node_review review;

    struct node_log log;
    struct msg_local_ping progress;
    nanos rate_time, rate_waited;
    uint64_t rate_iteration;
    double rate;
    unsigned late; /* offers in a row that came too late to be merged */
    nanos round_trip, answered; /* of which PING: when that was sent */
    bool stopping;              /* the hub has called for last offers */
    enum leave leave;
    struct blob *last; /* x of that, until the node ends; NULL: none */
    struct msg_local_offer parting; /* what it says of that */
    uint64_t newest;                /* exchange that the node has begun */
    nanos away;         /* since then it is no member, if it was one */
    nanos starved;      /* may be said again from then on */
    nanos return_until; /* the way back to the hub is waited for */
};

/* What a message does. */
typedef void handler(struct node *node, const struct event *event);

/* state.c */
void node_job(struct node *node, struct job *job);
void node_to_hub(struct node *node, const struct msg *msg,
                 struct blob *payload);
/* Has room again for what a payload takes. */
void node_credit(struct node *node, uint64_t exchange,
                 const struct blob *payload);
void node_to_trainer(struct node *node, const struct msg *msg,
                     struct blob *payload);
size_t node_chunk_length(const struct node *node, uint32_t chunk);
struct extent node_extent(const struct node *node, uint32_t chunk);
/* The hub has told of this version. */
void node_hub_is_at(struct node *node, uint64_t version);
/* F for what is offered; gradients are never offered in fragments. */
uint32_t node_fragments(const struct node *node, enum exchange kind);
/* The node's parameters are the run's: offers may begin. */
void node_starts(struct node *node);
/* The hub is lost: the node is no member from now on, and the settle pass does
 * what follows. `why` must stay. */
void node_lose(struct node *node, const char *why);
/* And its connections are cut. */
void node_drop(struct node *node, const char *why);
/* Since a job on what came did not end well: it was damaged, which is `why`, or
 * there was no memory for it. */
void node_drop_failed(struct node *node, const struct job *job,
                      const char *why);
/* Says that memory is missing, now and then. */
void node_starves(struct node *node);
void node_end(struct node *node, bool refused, enum farewell farewell,
              const char *text);

/* joining.c */
void joining_connect(struct node *node, peer_id peer);
void joining_disconnect(struct node *node, peer_id peer);
void joining_tick(struct node *node);
void joining_hello(struct node *node);
/* As one that names no lineage: it needs the hub's parameters. */
void joining_hello_to_take(struct node *node);
/* The hub is of an earlier life of the run than the node knows: it is left for
 * one of the later life. Where none has been found for some seconds, that life
 * is given up. */
void joining_send_on(struct node *node);
/* Says on the bulk connection whose it is. */
void joining_attach(struct node *node);
/* Tells the trainer what is due when. */
void joining_schedule(struct node *node);
/* The trainer's parameters hold NaN or infinity, or those that the hub is to
 * begin with: the hub's are taken. */
void joining_spoiled(struct node *node);
void joining_settle(struct node *node);
handler node_on_view, node_on_tune, node_on_pong, node_on_stop, node_on_bye;

/* log.c */
handler node_on_local_log;

/* welcome.c */
handler node_on_welcome;

/* flight.c */
struct flight *flight_new(struct node *node,
                          const struct msg_local_offer *offer);
struct flight *flight_find(struct node *node, uint64_t exchange);
void flight_destroy(struct node *node, struct flight **flight);
/* A chunk has its verdict. What is to be offered again is taken out of the
 * reference. */
void flight_set_verdict(struct node *node, struct flight *flight,
                        uint32_t chunk, enum verdict verdict);
/* All chunks that have none yet. */
void flight_set_other_verdicts(struct node *node, struct flight *flight,
                               enum verdict verdict);
/* What it stands for is offered again: once, of the fragments of an iteration.
 */
void flight_give_back(struct node *node, const struct msg_local_offer *offer);
void flights_drop(struct node *node);
/* Tells the trainer that no result will come; keeps the verdicts coming. */
void flight_forget(struct node *node, struct flight *flight);
/* Tells the trainer that the hub is done with what it has skipped. */
void flight_released(struct node *node, struct flight *flight);
/* Once its first chunk is sent: the others stay here, if its time is up. */
void flight_close(struct node *node, struct flight *flight);
/* The trainer wants no more of its result: says so to the hub, if that knows of
 * it. */
void flight_waive(struct node *node, const struct flight *flight);
/* Whether all that was offered has its verdict. */
bool flights_have_verdicts(const struct node *node);
/* Sends what may be sent, the oldest first. */
void flights_settle(struct node *node);
handler node_on_grant, node_on_credit, node_on_local_close;

/* forming.c */
/* Begins to offer what was taken, or says that it is not wanted. */
void flights_start(struct node *node, const struct msg_local_offer *offer,
                   struct blob *values);
void flight_formed(struct node *node, struct job *job);
/* Makes the offers that are formed, and begins with those that wait for nothing
 * any more. */
void offers_settle(struct node *node);

/* initial_download.c */
/* Asks for the hub's parameters, which come on the other connection; in a new
 * session for what has not come of them before a break. */
void download_begins(struct node *node, bool fresh);
/* The connection is gone: what has come is kept for the next session. */
void download_breaks(struct node *node);
/* VERDICT of exchange 0, for chunks up to `end`: what the node has it is not
 * sent again, and what the hub has the node does not give again. */
void download_resumes(struct node *node, const struct msg_verdict *verdict,
                      uint32_t end);
/* A chunk comes: the first of all says that the hub sends all of them. */
void download_arrives(struct node *node, const struct msg_result *result);
/* Nothing is taken any more. */
void download_ends(struct node *node);

/* parting.c */
/* The trainer makes its last offer, or has none to make; `values` are all of x,
 * as it was when the trainer left. */
void parting_begins(struct node *node, const struct msg_local_offer *offer,
                    struct blob *values);
/* The hub is lost. */
void parting_detached(struct node *node, const char *why);
/* Is gone, whatever is under way. */
void parting_at_once(struct node *node);
/* Reports the tasks that are merged, and frees the flights that are judged and
 * applied; with the last one the node's part ends. */
void flights_sweep(struct node *node);
/* Ends its part when its time has come, or goes on with the last offer. */
void parting_settle(struct node *node);

/* keep.c */
handler node_on_keep, node_on_saving;

/* result.c */
/* It is here, raw. */
void result_arrived(struct node *node, const struct msg_result *result,
                    struct blob *values);
void result_corrected(struct node *node, struct job *job);
/* Has corrected what waits for no other correction, and gives the trainer what
 * is. */
void results_settle(struct node *node);
handler node_on_applied, node_on_verdict;

/* tasks.c */
/* Tells the hub of a new session what the node has, and asks for what the
 * trainer has room for. */
void tasks_ask(struct node *node);
/* The session is over: the next one is to be told. */
void tasks_suspend(struct node *node);
/* Gives all tasks back, once they are finished: the progress on them is thrown
 * away. */
void tasks_fail(struct node *node);
/* Reports what has been merged; before judged flights are freed. */
void tasks_sweep(struct node *node);
/* Some of what has been learnt is lost: tasks that have been begun, which is
 * all but the one that the trainer is still to take, are to be done again. */
void tasks_spoil(struct node *node);
handler node_on_local_room, node_on_task, node_on_local_report;

/* review.c */
handler node_on_local_reviewed;

/* arrival.c */
handler node_on_result, node_on_review;
/* A result or a chunk for a review is decoded. */
void arrival_decoded(struct node *node, struct job *job);

#endif
