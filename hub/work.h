/* The hub's work on payloads. */
#ifndef HUB_WORK_H
#define HUB_WORK_H

#include "policies/policy.h"
#include "seam/machine.h"

/* Where a merge's inputs and numbers stand. */
enum { MERGE_THETA, MERGE_PLANES, MERGE_FROM = MERGE_PLANES + POLICY_PLANES };
enum { MERGE_WHOLE, MERGE_LIVE, MERGE_TURN, MERGE_LOST };
/* number[] of a proof: the hub itself made it; the hub has no keys. */
enum { PROOF_GENUINE, PROOF_OPEN };
enum { SHADE_THETA, SHADE_SHADOW, SHADE_CHANGE, SHADE_INPUTS };

/* Input 0 must have the checksum in tag[2] (AGAIN), fit `elements` of its codec
 * (MALFORMED) and be finite (CONFIG). number[0] = its squared norm. For
 * exchange 0 (tag[0]) out[0] = its values, in a blob of the pool: it stays, and
 * would keep what the network takes its buffers from from being used again. */
extern const struct work work_check;
/* in[] = theta, planes (or empty), contributions with their shares; number[]
 * = what their sum is divided by, nodes that are live, contributions before,
 * the share of the momentum that is lost;
 * context = struct policy. out[] = the new theta, sealed; the new planes. */
extern const struct work work_merge;
/* in[] = chunks as nodes hold them, each with the version at which it changed
 * as its weight, then the state as text; context = the key. out[0] = the
 * manifest. */
extern const struct work work_manifest;
/* in[0] = a manifest from outside, context = the key. out[0] = its state, with
 * a NUL. MALFORMED: it is not of who has the key. */
extern const struct work work_proof;
/* A chunk that a node has kept: as work_check, and in[1] = the manifest that
 * must hold it (MALFORMED). out[0] = its bits. */
extern const struct work work_kept;
/* What nodes hold of a chunk follows the centre. in[] = theta, the shadow, and
 * an empty input that names the codec. out[] = the new shadow, which is the old
 * one changed by what the other output, the change, decodes to: nodes add the
 * same, and get the same to the last bit. Both are sealed. CONFIG when some
 * value of theta or of the new shadow is not finite. */
extern const struct work work_shade;
/* The whole of contributions is judged by a STAGED rule. in[] = the order, a
 * struct judge_order, in which weights and scores are written; chunks of theta
 * (or empty), then the chunks of each contribution. number[0] is the caller's.
 */
extern const struct work work_judge;

/* out[0] = the sum of all inputs as float32, sealed. */
extern const struct work work_form;

/* What other nodes say of a contribution. */
struct reviewed {
    double loss, error; /* NO_SCORE and 0: not known */
    unsigned answers;
};

struct judge_order {
    const struct policy *policy;
    struct standing standing;
    const struct work *evaluate; /* or NULL */
    const void *evaluate_context;
    uint32_t chunks, chunk_elements;
    bool displacements; /* the contributions are, from theta */
    bool reviewed; /* losses are what nodes say: */
    double centre; /* NO_SCORE: not known */
    unsigned count;
    struct judged {
        struct candidate candidate;
        double weight;
        bool boasts; /* left out unless it is tested */
        struct reviewed review;
    } one[];
};

/* Stands for scoring where the hub cannot score: the score is what the nodes
 * said, and is in number[1] already. */
extern const struct work work_hint;

#endif
