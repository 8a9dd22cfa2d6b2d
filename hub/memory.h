/* What survives this hub: complete versions are scored and saved (snapshot.c,
 * saved.c), nodes keep them (keeping.c), and a hub that starts again looks for
 * the newest (restore.c, recover.c, lives.c).
 *
 * Keeping (keeping.c). When a version of the centre is complete, a manifest of
 * it goes to the nodes (codec/manifest.h). Who was sent all chunks of that
 * version keeps them and the manifest. Only where results are the centre: else
 * nobody is sent all of it.
 *
 * Recovering (recover.c). A hub that starts again does not begin before nodes
 * have had time to come back and to say what they keep. Who has a newer version
 * than the disk is asked for it; what it gives is checked against the manifest,
 * and that against the hub's key. The hub's life is a later one than all it
 * hears of (lives.c).
 *
 * Stepping down (lives.c). A node that knows a later life of the run than
 * this hub's is asked for the manifest of what it keeps. If that is of a later
 * life, too, another hub has taken over. Rounds go on until then. Who cannot
 * prove it is sent on, and gives that life up where it finds no hub of it. */
#ifndef HUB_MEMORY_H
#define HUB_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/manifest.h"
#include "core/blob.h"
#include "core/status.h"
#include "core/time.h"
#include "hub/handler.h"
#include "hub/ledger.h"
#include "seam/machine.h"

struct member;
struct proof_job;

/* Back to a good centre when a later one is much worse (snapshot.c). */
struct rollback {
    struct blob **chunks; /* the newest good version; NULL: none yet */
    uint64_t version;
    double score, accuracy, error;
    char tasks[LEDGER_TEXT_BYTES];  /* the ledger's line, then */
    char scored[LEDGER_TEXT_BYTES]; /* the same of what is being scored */
    bool wanted, ordered;           /* ordered: by the operator */
    unsigned in_a_row; /* times, without a good version in between */
    uint64_t turned;   /* version at the last one: what departs from an older
                          version is of no use; 0: there was none */
    uint64_t count;
};

enum { KEEPERS = 64 }; /* that are told of one version */

struct keeping {
    bool busy;          /* a manifest is being made */
    bool wanted;        /* behind the fence of snapshots */
    bool too_large;     /* the last one, and it was said */
    bool first;         /* nothing is kept yet: rounds wait until it is made */
    bool made;          /* one at least, or it was too large: */
    uint64_t version;   /* of which version, */
    nanos at;           /* and when */
    uint64_t bytes;     /* of the last one */
    nanos since, spent; /* when it was wanted; how long that took */
    int next_keeper;    /* who is told first the next time */
    unsigned count;
    struct keeper {
        int place;
        uint64_t session, merged;
    } list[KEEPERS]; /* whom the one being made is for */
};

/* What a member was sent to keep, beside down_bytes, and when last. */
struct told {
    uint64_t bytes;
    uint64_t spared; /* of results whose values it knew, and was not sent */
    nanos at;
};

/* Of a member that says that another hub has taken the run over. */
struct doubt {
    bool asked, answered; /* for its proof */
    bool unattached;      /* not asked until it has a bulk connection */
    nanos since;          /* it was, or came */
};

struct recovery {
    bool resumed;     /* the hub has a centre from its disk */
    uint64_t run;     /* of its disk, or of the node that gives */
    uint64_t epoch;   /* of the centre that it goes on from; 0: of none */
    uint64_t version; /* and that one's */
    uint64_t life;    /* that the hub began in */
    uint64_t told;  /* 1 + that in which nodes were told what it has of theirs;
                       0: they were not */
    nanos until;    /* nodes have time to come back */
    nanos progress; /* of who gives: when something last came */
    unsigned searches;     /* that have begun because of who came late */
    struct blob *manifest; /* what it gave first, or NULL */
    struct blob *state;    /* in that, once it is known to be the hub's own */
};

struct memory {
    bool saving, evaluating, want_save, want_evaluate, unsaved; /* given up */
    bool fence; /* no new rounds until a snapshot is taken */
    nanos next_save, next_evaluate;
    uint64_t saved_version, scored_version; /* NO_VERSION: none yet */
    nanos save_until; /* the last save is tried again; 0: it has not failed */
    unsigned saves_failed; /* in a row; */
    nanos say_failure;     /* not said again before */
    struct why save_failure;
    uint64_t first_score; /* no job before this one tells of this run */
    double hint; /* mean training loss that the last round's nodes reported */
    double score, accuracy, error;
    double first; /* the first score of the run, over all lives; NO_SCORE: none
                     yet */
    double best_score, best_accuracy, best_measure;
    uint64_t best_version;
    struct blob **best; /* the best centre until it is saved, or NULL */
    struct rollback back;
    struct keeping keeping;
    struct recovery recovery;
};

/* snapshot.c: scoring and saving complete versions */
/* Whether the disk lacks this version, or the best one. */
bool snapshot_is_behind(const struct hub *hub);
void snapshot_tick(struct hub *hub);
/* Takes what is wanted if every chunk is at the same version. */
void snapshot_settle(struct hub *hub);
void snapshot_scored(struct hub *hub, struct job *job);
void snapshot_saved(struct hub *hub, struct job *job);
/* The operator wants the last good version. CONFIG and AGAIN when there is
 * nothing to go back to, for good and so far. */
enum status rollback_order(struct hub *hub, struct why *why) MUST_CHECK;
/* There is no version to go back to any more; and none that is the best. */
void rollback_forget(struct hub *hub);
void snapshot_forget(struct hub *hub);
/* Nothing of this run has been scored: neither what is under way, nor what is
 * known, is of it. */
void snapshot_unscored(struct hub *hub);
/* What "best" means of a version that the hub has tested, lower is better: the
 * goal's measure where there is one. */
double snapshot_measure(const struct hub *hub, double score, double accuracy);

/* saved.c: the text that travels with a saved centre */
struct blob *saved_write(struct hub *hub);

/* restore.c */
/* Takes the centre that a node has given, which is all there, and the state
 * that goes with it. Else nothing of the centre changes. */
enum status restore_transfer(struct hub *hub, const struct manifest *manifest,
                             const char *text, struct why *why);

/* keeping.c: nodes keep complete versions */
void keeping_tick(struct hub *hub);
/* There is a centre that nobody has but this hub and who gave it: it is kept
 * before anything is merged, so that nothing is lost with a hub. */
void keeping_begin(struct hub *hub);
/* A version is complete: makes a manifest of it, if it is time for one. */
void keeping_start(struct hub *hub);
/* The complete version is being saved: nodes tell what it has from what comes
 * later. */
void keeping_saved(struct hub *hub);

/* recover.c: the newest centre there is */
/* The first event has come. */
void recover_begin(struct hub *hub);
/* Goes on when somebody has come or gone, or time has passed; whether the hub
 * has its newest centre now. */
bool recover_settle(struct hub *hub);
handler hub_on_kept;
/* It was silent: it has as long to attach as one that has just come. */
void recover_heard(struct hub *hub, struct member *member);
/* The hub has done nothing for this time: nobody has had it. */
void recover_slept(struct hub *hub, nanos time);

/* What a HELLO that fits means for it; false: it is not let in. */
bool recover_meets(struct hub *hub, peer_id peer,
                   const struct msg_hello *hello);
/* Whether it says that another hub has taken the run over, and may be right. */
bool recover_doubts(const struct hub *hub, const struct msg_hello *hello);

/* lives.c: which life of its run the hub is in */
/* The run has had this epoch: the hub's life is a later one. */
void life_after(struct hub *hub, uint64_t epoch);
/* The same where the disk is lost, and with it how many lives came after. */
void life_after_loss(struct hub *hub, uint64_t epoch);
/* Whether a hub may have come so far without proof. */
bool life_is_near(const struct hub *hub, uint64_t epoch);
/* A HELLO says so, and proves nothing. */
void life_claimed(struct hub *hub, const struct msg_hello *hello);
/* A HELLO says that another hub has taken the run over; false: it can prove
 * nothing, and is not let in. */
bool superseded_meets(struct hub *hub, peer_id peer,
                      const struct msg_hello *hello);
void superseded_tick(struct hub *hub);
/* The proof that a member has sent has been checked. */
void superseded_proved(struct hub *hub, const struct proof_job *proof);

#endif
