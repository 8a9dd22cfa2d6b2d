/* What survives this hub: complete versions are scored and saved (snapshot.c,
 * saved.c), nodes keep them (keeping.c), and a hub that starts again looks for
 * the newest (restore.c, recover.c, lives.c). */
#ifndef HUB_MEMORY_H
#define HUB_MEMORY_H

#include "codec/manifest.h"
#include "core/status.h"
#include "hub/handler.h"
#include "hub/rollback.h"
#include "seam/machine.h"

/* snapshot.c: scoring and saving complete versions */
void snapshot_tick(struct hub *hub);
/* Takes what is wanted if every chunk is at the same version. */
void snapshot_settle(struct hub *hub);
void snapshot_scored(struct hub *hub, struct job *job);
void snapshot_saved(struct hub *hub, struct job *job);
/* Nothing of this run has been scored: neither what is under way, nor what is
 * known, is of it. */
void snapshot_unscored(struct hub *hub);

/* saved.c: the text that travels with a saved centre */
struct blob *saved_write(struct hub *hub);

/* restore.c */
/* Takes the centre that a node has given, which is all there, and the state
 * that goes with it. Else nothing of the centre changes. */
enum status restore_gift(struct hub *hub, const struct manifest *manifest,
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

/* The hub has done nothing for this time: nobody has had it. */
void recover_slept(struct hub *hub, nanos time);

/* recover_hello.c */
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

#endif
