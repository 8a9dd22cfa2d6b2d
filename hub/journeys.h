/* What the files of hub/ do for each other, but for who is in the hub, which is
 * in hub/membership.h. Included by hub/state.h, which has the structs. */
#ifndef HUB_JOURNEYS_H
#define HUB_JOURNEYS_H

#include "hub/membership.h"
#include "hub/state.h"

/* offers.c */
/* F of what is offered now. */
uint32_t offers_fragments(const struct hub *hub);
/* If it still waits for a round it is none any more, and the verdict says so:
 * the node's next one, which holds the same, need not wait behind it. */
bool offers_withdraw(struct hub *hub, struct member *member,
                     uint64_t exchange, enum verdict verdict);
/* So with all of the member's that are in no round that has closed, but for its
 * last one: that holds what they did. */
void offers_return(struct hub *hub, struct member *member);
void offers_withdraw_all(struct hub *hub, struct member *member,
                         enum verdict verdict);
void hub_on_offer(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload);

/* gate.c */
/* Whether a round gathers the offers of several nodes. */
bool gate_gathers(const struct hub *hub);
/* Nodes that must take part before a round closes. */
unsigned gate_nodes(const struct hub *hub);
/* Whether the round's list is complete. */
bool gate_closes(const struct hub *hub, const struct round *round);
/* When the gate wants to be asked again, `latest` at the latest. */
nanos gate_deadline(const struct hub *hub, nanos latest);
/* Iterations of all nodes together, as far as they have said. */
uint64_t gate_iterations(const struct hub *hub);
bool round_has(const struct round *round, const struct member *member);
/* The place of the member's oldest offer of what the round merges, or of none
 * (waiting_count). */
unsigned round_wants(const struct round *round, const struct member *member);

/* rounds.c */
/* Takes a contribution out of its round, which is open; without any the round
 * is none. */
void round_let_go(struct hub *hub, struct contribution *contribution);
/* Without its contributions. */
void round_destroy(struct hub *hub, struct round **round);
void rounds_advance(struct hub *hub);
/* Nothing that is under way is merged. */
void rounds_discard(struct hub *hub);
/* Goes on with rounds whose data have come, or will not come any more. */
void rounds_settle(struct hub *hub);
/* Completes the rounds whose chunks are all done; after each event. */
void rounds_sweep(struct hub *hub);
/* Closes what the member has not delivered; `gone`: also the offers that wait,
 * and what is being checked. */
void rounds_forget(struct hub *hub, int member, enum verdict verdict,
                   bool gone);
/* Tells a node that is back what became of what it sent before. */
void rounds_recall(struct hub *hub, struct member *member);

/* contest.c */
void contest_open(struct hub *hub);
/* k of the nodes in it. */
uint64_t contest_every(const struct hub *hub);
/* A round of it is closing: by which policy. */
void contest_choose(struct hub *hub, const struct round *round);
/* How many of its offers are to be tested, now that some have been: another
 * one where the best of them belies what its node has claimed. Of those that
 * were, the best is to be merged: its place, or -1 where there is no choice. */
unsigned contest_wants(const struct hub *hub, const struct round *round);
int contest_best(const struct hub *hub, const struct round *round);
/* It is over: is there a winner? */
void contest_judge(struct hub *hub, const struct round *round);

/* preempt.c */
void preempt_round(struct hub *hub, const struct round *round);

/* choice.c */
/* Whether each offer is granted at once. */
bool choice_takes_all(const struct hub *hub);
/* The round has closed: asks for the data that the policy wants. */
void choice_make(struct hub *hub, struct round *round);
/* Goes on when data have come or will not come any more. */
void choice_advance(struct hub *hub, struct round *round);
void choice_judged(struct hub *hub, struct job *job);

/* queue.c: which round merges a chunk next */
/* The round is settled: its chunks may merge once nobody delivers them. */
void round_gather(struct hub *hub, struct round *round);
/* The chunk of a contribution has come, or will not come any more. */
void chunk_here(struct hub *hub, struct contribution *contribution,
                uint32_t chunk);
/* The oldest round that may merge the chunk, and has not been told so before;
 * NULL: none. */
struct round *chunk_next(struct hub *hub, uint32_t chunk);
/* The chunk of the round is done. */
void chunk_done(struct hub *hub, struct round *round, uint32_t chunk);

/* contribution.c */
/* Asks for its data, once. */
void contribution_grant(struct hub *hub, struct contribution *contribution);
/* Tells the node the verdict of a range for which no result will come. */
void verdict_send(struct hub *hub, struct member *member, uint64_t exchange,
                  uint32_t first, uint32_t count, enum verdict verdict);
/* The member whose results go out for it, NULL when it is away. */
struct member *contribution_member(struct hub *hub,
                                   const struct contribution *contribution);
/* It is in a round now, and each of its chunks has a life of its own. */
void contribution_spread(struct hub *hub, struct contribution *contribution);
/* The verdict of all its chunks, as long as it waits for a round. */
void contribution_decline(struct hub *hub, struct contribution *contribution,
                          enum verdict verdict);
/* What a chunk was given. */
enum verdict contribution_fate(const struct contribution *contribution,
                               uint32_t chunk);
/* Gives a chunk its verdict. */
void contribution_close(struct hub *hub, struct contribution *contribution,
                        uint32_t chunk, enum verdict verdict);
/* Closes the chunks that are not delivered; `gone`: nor checked. */
void contribution_cut(struct hub *hub, struct contribution *contribution,
                      enum verdict verdict, bool gone);
/* Closes all that is not merged yet, whatever has come of it. */
void contribution_end(struct hub *hub, struct contribution *contribution,
                      enum verdict verdict);
/* Of a chunk that is closed, or is about to be: what is delivered is as good
 * as merged, if it is to be merged. */
enum verdict contribution_verdict(const struct contribution *contribution,
                                  uint32_t chunk);
/* Says all its verdicts to the member, run by run. */
void verdicts_tell(struct hub *hub, struct member *member,
                   const struct contribution *contribution);
/* All is judged: keeps what a node that is away must be told when it is back,
 * and frees the rest. */
void contribution_retire(struct hub *hub, struct contribution *contribution);
void contribution_destroy(struct hub *hub,
                          struct contribution **contribution);
/* Nobody is told any more what became of the member's former exchanges. */
/* Where one is remembered that was not merged as a whole; what was there is
 * gone. */
struct contribution **contribution_place(struct hub *hub,
                                         struct member *member,
                                         uint64_t exchange);
void contributions_forget(struct hub *hub, struct member *member);

/* What the policy may know besides the candidates. */
struct standing hub_standing(const struct hub *hub, unsigned live);

/* gather.c */
void hub_on_chunk(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload);
/* Of a round under way and of the member's session; or NULL. */
struct contribution *contribution_find(struct hub *hub, int member,
                                       uint64_t exchange);
/* Some of its chunks do not come: they are merged without it. */
void hub_on_close(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload);
void gather_checked(struct hub *hub, struct job *job);

/* merge.c */
void merge_done(struct hub *hub, struct job *job);
void merge_shaded(struct hub *hub, struct job *job);
void merge_try(struct hub *hub, uint32_t chunk);
void merge_try_all(struct hub *hub);

/* shadow.c */
/* Whether this round's results of the chunk are changes, for those who hold
 * what they depart from. */
bool shadow_follows(const struct hub *hub, const struct round *round,
                    uint32_t chunk);
/* What nodes hold of a chunk once they are sent it. */
struct blob *shadow_of(const struct centre_chunk *centre);
/* Theta is about to be moved by a round. */
void shadow_keep(struct hub *hub, const struct round *round, uint32_t chunk);
/* It was moved otherwise: what nodes hold is of no use from `version` on. */
void shadow_drop(struct centre_chunk *centre, uint64_t version);
/* Makes the change that leads there, by a job. */
void shadow_start(struct hub *hub, uint32_t chunk);
void shadow_done(struct hub *hub, struct job *job);
/* What makes a node hold that: the change, if it holds what that departs from,
 * else all of it. */
struct blob *shadow_next(const struct hub *hub, const struct member *member,
                         uint32_t chunk);
/* A result is about to be queued: turns it into the change if its receiver
 * holds what that departs from, and remembers what it holds from now on. */
void shadow_shorten(struct hub *hub, struct member *member,
                    struct msg_result *result, struct blob **payload);

/* flow.c */
/* Most bytes of results that any node can have on their way to it. */
uint64_t flow_most(const struct hub *hub);
/* Bytes of results that this one may have on their way to it. */
uint64_t flow_window(const struct hub *hub, const struct member *member);
/* Chunks that it may upload ahead of what is merged, at least 1. */
uint32_t flow_chunks_ahead(const struct hub *hub,
                           const struct member *member);
/* Measures rates and round trips. */
void flow_tick(struct hub *hub);
/* An upload begins, or is over. */
void flow_upload(struct hub *hub, struct contribution *contribution,
                 bool begins);
/* The first event has come: time begins. */
void flow_begin(struct hub *hub);
/* What the node may be sent per second; 0: no limit. */
void flow_limit(struct hub *hub, struct member *member, uint64_t down);
/* There may be more to be sent or lent. */
void flow_stir(struct hub *hub);
/* Does what may be done now; after each event. */
void flow_advance(struct hub *hub);
/* For how long a contributor has not used the credit that it has. */
nanos flow_still(const struct hub *hub,
                 const struct contribution *contribution);
/* Asks a node for its chunks: GRANT. The loan is new, with `left` and `whole`.
 */
void flow_open(struct hub *hub, struct member *member, uint64_t exchange,
               struct loan *loan);
/* Whether a payload may come, after those that have: credit allows one more
 * than it is for, which may be the first to arrive. Else it is an offence: for
 * what has no credit nobody has room. */
bool flow_allows(const struct hub *hub, const struct loan *loan);
/* A chunk has come. */
void flow_came(struct loan *loan, uint64_t bytes);
/* Bytes that came are done with: the node has that credit again. */
void flow_return(struct hub *hub, struct member *member, uint64_t exchange,
                 struct loan *loan, uint64_t bytes);

/* delivery.c */
void hub_on_credit(struct hub *hub, struct peer *peer, const struct msg *msg,
                   struct blob *payload);
/* The node wants no more of a result: takes what is queued of it out, but for
 * what later changes depart from. */
void hub_on_waive(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload);
/* Sends a chunk of the contribution's result, when there is credit. Drops an
 * older result of the same part of the model of which nothing has been sent, if
 * the newer one makes up for it; a verdict says so to the node. */
void delivery_add(struct hub *hub, struct contribution *contribution,
                  const struct msg_result *result, struct blob *payload);
/* The member has a bulk connection. Credit belongs to one connection. */
void delivery_attach(struct hub *hub, struct member *member);
void delivery_flush(struct hub *hub, struct member *member);
/* Sends the next payload, if there is one, the member has credit, and the
 * rates allow it; else the hub wakes when they do. SPENT: it is the hub's. */
enum passage { PASSAGE_SENT, PASSAGE_NOTHING, PASSAGE_SPENT };
enum passage delivery_next(struct hub *hub, struct member *member);
/* Has sent a payload to the member, on its credit. */
void delivery_sent(struct hub *hub, struct member *member,
                   const struct msg *msg, struct blob *payload);
/* The run is over: verdicts say what is in results that wait for credit. */
void delivery_end(struct hub *hub, struct member *member);
/* It says that it has these chunks of the centre from before a break. */
void delivery_claimed(struct member *member, const struct msg_close *close);
/* Forgets what waits to be sent; what is on its way keeps its credit. */
void delivery_clear(struct delivery *delivery);

/* centre.c */
/* Takes the schema's text as the run's, or compares it with the run's. AGAIN:
 * it may be taken once the jobs under way are done. */
enum status centre_shape(struct hub *hub, const char *text, size_t size,
                         struct why *why);
/* The extent of a chunk. */
struct extent centre_extent(const struct hub *hub, uint32_t chunk);
void centre_free(struct hub *hub);
/* Nodes keep parameters of their own, whatever the centre is. */
bool centre_is_apart(const struct hub *hub);

/* snapshot.c: scoring and saving complete versions */
void snapshot_tick(struct hub *hub);
/* Takes what is wanted if every chunk is at the same version. */
void snapshot_try(struct hub *hub);
void snapshot_scored(struct hub *hub, struct job *job);
void snapshot_saved(struct hub *hub, struct job *job);
/* Nothing of this run has been scored: neither what is under way, nor what is
 * known, is of it. */
void snapshot_unscored(struct hub *hub);
/* References to chunks, and their end. */
struct blob **snapshot_keep(const struct hub *hub, const struct input *chunks);
void snapshot_drop(const struct hub *hub, struct blob ***chunks);

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
/* Whether rounds are to wait until the next version is complete; until the
 * first manifest is sent. */
bool keeping_wants(const struct hub *hub);
bool keeping_holds(const struct hub *hub);
/* A version is complete: makes a manifest of it, if it is time for one. */
void keeping_start(struct hub *hub);
/* The complete version is being saved: nodes tell what it has from what comes
 * later. */
void keeping_saved(struct hub *hub);
/* Sends it. */
void keeping_made(struct hub *hub, struct job *job);

/* recover.c: the newest centre there is */
/* The hub has what its disk holds, which is of this epoch. */
void recover_resume(struct hub *hub, uint64_t epoch);
/* The first event has come. */
void recover_begin(struct hub *hub);
/* The hub has done nothing for this time: nobody has had it. */
void recover_slept(struct hub *hub, nanos time);
/* What a HELLO that fits means for it; false: it is not let in. */
bool recover_meets(struct hub *hub, peer_id peer,
                   const struct msg_hello *hello);
/* Whether it says that another hub has taken the run over, and may be right. */
bool recover_doubts(const struct hub *hub, const struct msg_hello *hello);
/* Goes on when somebody has come or gone, or time has passed; after each
 * event. */
void recover_advance(struct hub *hub);
void hub_on_kept(struct hub *hub, struct peer *peer, const struct msg *msg,
                 struct blob *payload);
void recover_proved(struct hub *hub, struct job *job);
/* A chunk of what is given has been checked: it is good, or it is not. */
void recover_complete(struct hub *hub);
void recover_spoiled(struct hub *hub);

/* lives.c: which life of its run the hub is in */
/* The run has had this epoch: the hub's life is a later one. */
void life_after(struct hub *hub, uint64_t epoch);
/* The same where the disk is lost, and with it how many lives came after. */
void life_after_loss(struct hub *hub, uint64_t epoch);
/* Whether a hub may have come so far without proof. */
bool life_is_near(const struct hub *hub, uint64_t epoch);
/* A HELLO says so, and proves nothing. */
void life_claimed(struct hub *hub, const struct msg_hello *hello);

/* superseded.c: another hub may have taken the run over */
/* A HELLO says so; false: it can prove nothing, and is not let in. */
bool superseded_meets(struct hub *hub, peer_id peer,
                      const struct msg_hello *hello);
void superseded_tick(struct hub *hub);
/* The proof that a member has sent has been checked. */
void superseded_proved(struct hub *hub, struct job *job);

/* tasks.c */
void hub_on_room(struct hub *hub, struct peer *peer, const struct msg *msg,
                struct blob *payload);
void hub_on_report(struct hub *hub, struct peer *peer, const struct msg *msg,
                   struct blob *payload);
/* The member's session is over: its tasks go to others. */
void tasks_lost(struct hub *hub, struct member *member);
/* Its tasks go to others; it may ask for more later. */
void tasks_withdraw(struct hub *hub, struct member *member);
void tasks_tick(struct hub *hub);

/* finish.c */
/* Once the run is ending, nodes have so long for their last offer. */
#define LAST_CALL (10 * SECOND)
/* A last save that fails is tried again so often, and for so long. */
#define SAVE_AGAIN SECOND
#define LAST_SAVES (30 * SECOND)
void hub_on_stop(struct hub *hub, struct peer *peer, const struct msg *msg,
                 struct blob *payload);
/* Ends the hub, not the run: what is under way is merged or left to its nodes,
 * the centre is saved, and nobody is told anything. Nodes train alone until a
 * hub goes on with it. */
void finish_stop(struct hub *hub);
/* Calls a member for its last offer. */
void finish_call(struct hub *hub, struct member *member);
void finish_tick(struct hub *hub);
/* There is a reason to end, although nobody may have been told. */
bool finish_is_due(const struct hub *hub);
/* For which the run has had a hub, all lives of that together. */
nanos hub_time(const struct hub *hub);
/* After a round, a score or a leave: is it over? */
void finish_judge(struct hub *hub);
/* Goes on with the end: last score, last save, goodbye. */
void finish_advance(struct hub *hub);
/* The hub has its newest centre: an end that is wanted begins now. */
void finish_resume(struct hub *hub);

/* orders.c */
void hub_on_order(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload);
/* A save of the centre has ended, well or not. */
void orders_saved(struct hub *hub, const struct job *job);
void orders_tick(struct hub *hub);
/* Has a drained node make its last offer, within 10 s; if that may come. */
void orders_call(struct hub *hub, struct member *member);
bool orders_awaits(const struct hub *hub, const struct member *member);
/* The hub has its newest centre: nodes may leave. */
void orders_resume(struct hub *hub);

/* hub.c */
/* State vectors that the merge rule keeps. */
unsigned hub_planes(const struct hub *hub);
void hub_job(struct hub *hub, struct job *job);
struct member *hub_member(struct hub *hub, const struct peer *peer);

#endif
