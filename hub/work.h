/* The hub's work on payloads: what its jobs are, and the pure functions that
 * they run. The row of each kind is beside the function that takes its end. */
#ifndef HUB_WORK_H
#define HUB_WORK_H

#include "codec/msg.h"
#include "policies/copies.h"
#include "policies/policy.h"
#include "seam/machine.h"

/* A chunk that a member has sent: of an exchange, or (0) parameters. Input 0
 * must have the checksum (AGAIN), fit `elements` of its codec (MALFORMED) and
 * be finite (CONFIG). */
struct chunk_check {
    struct job job;
    int member;
    uint64_t session, exchange, checksum;
    uint32_t chunk;
    uint64_t sketched;    /* seed of the sketch; 0: none is made */
    struct sketch sketch; /* out: of a part of it */
    double squares;       /* out: its squared norm */
};
/* Borrows the payload; who sent it is the caller's to say. */
struct chunk_check *check_make(const struct work *work, struct pool *pool,
                               unsigned inputs, const struct msg_chunk *chunk,
                               struct blob *payload);
void check_chunk(struct job *job);
/* For first parameters: out[0] = its values, in a blob of the pool: it stays,
 * and would keep what the network takes its buffers from from being used again.
 */
void check_given(struct job *job);
/* One that a node has kept: in[1] = the manifest that must hold it (MALFORMED).
 * out[0] = its bits. */
void check_kept(struct job *job);

/* in[] = theta, slots (or empty), updates with their shares; context =
 * struct policy. Statistics, of which updates hold the values as they are, are
 * between those of theta and the updates, or the largest of them, whatever the
 * merge rule; those that are averaged are as parameters where these are
 * offered. out[] = the new theta, sealed; the new slots. */
struct chunk_merge {
    struct job job;
    uint32_t chunk;
    unsigned live;           /* nodes, */
    double usual;            /* and of late */
    uint64_t updates_before; /* updates before */
    double divisor, lost;    /* what their sum is divided by; the share of the
                                momentum that is lost */
    const struct schema *schema; /* the model's, borrowed */
    bool sole;      /* out: the new theta is the old one and one update, added
                       as form_chunk does */
    double means[]; /* of each update: see policy_means */
};
enum { MERGE_THETA, MERGE_SLOTS, MERGE_FROM = MERGE_SLOTS + POLICY_SLOTS };
void merge_chunk(struct job *job);
extern const struct work work_merge;

/* What nodes hold of a chunk follows the centre. in[] = theta, the last-sent
 * copy, and an empty input that names the codec. out[] = the new copy, which is
 * the old one changed by what the other output, the change, decodes to: nodes
 * add the same, and get the same to the last bit. Both are sealed. CONFIG when
 * some value of theta or of the new last-sent copy is not finite. */
struct chunk_diff {
    struct job job;
    uint32_t chunk;
};
enum { DIFF_THETA, DIFF_LAST_SENT, DIFF_CHANGE, DIFF_INPUTS };
void diff_chunk(struct job *job);

/* in[] = chunks as nodes hold them, each with the version at which it changed
 * as its weight, then the state as text; context = the key. out[0] = the
 * manifest. */
struct manifest_job {
    struct job job;
    uint64_t epoch, version;
};
void make_manifest(struct job *job);
extern const struct work work_manifest;

/* in[0] = a manifest from outside, context = the key. out[0] = its state, with
 * a NUL. MALFORMED: it is not of who has the key; CONFIG: nor is it, but the
 * hub has no keys. */
struct proof_job {
    struct job job;
    int member;
    uint64_t session;
};
void prove_manifest(struct job *job);
extern const struct work work_proof;

/* out[0] = the sum of all inputs as float32, but for statistics, which are the
 * last one's; sealed. */
struct form_job {
    struct job job;
    uint64_t review;
    unsigned subject;
    uint32_t chunk;
};
void form_chunk(struct job *job);

/* The whole of updates is judged by a STAGED rule. in[] = the order, a
 * struct judge_order, in which weights and scores are written; chunks of theta
 * (or empty), then the chunks of each update. */
void judge_whole(struct job *job);
extern const struct work work_judge;

/* What other nodes say of an update. */
struct reviewed {
    double loss, error; /* NO_SCORE and 0: not known */
    unsigned answers;
};

struct judge_order {
    uint64_t round; /* its number */
    const struct policy *policy;
    struct policy_context context;
    const struct work *evaluate; /* or NULL */
    const void *evaluate_context;
    uint32_t chunks, chunk_elements;
    bool displacements; /* the updates are, from theta */
    bool reviewed;      /* losses are what nodes say: */
    double centre;      /* NO_SCORE: not known */
    unsigned count;
    struct judged {
        struct candidate candidate;
        double weight;
        bool boasts; /* left out unless it is tested */
        struct reviewed review;
    } one[];
};

#endif
