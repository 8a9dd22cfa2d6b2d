/* The numbers that rules know: NUMBER(name, default, doc). A preset may set its
 * own; each has an option of its name (core/options.def). */
#ifndef POLICIES_NUMBERS_H
#define POLICIES_NUMBERS_H

/* clang-format off */
#define POLICY_NUMBERS(NUMBER) \
    NUMBER(outer_lr, 1, \
           "learning rate of the outer step") \
    NUMBER(outer_momentum, 0, \
           "momentum of the outer step; schedule-free: share of the mean") \
    NUMBER(early, 0, \
           "delayed: share of the momentum that each offer moves by") \
    NUMBER(elastic, 0.9, \
           "EASGD's beta: how far the centre goes to the mean") \
    NUMBER(pull, 0.1, \
           "how far a node goes to what it is pulled to") \
    NUMBER(anchor, 0, \
           "pull to the last result, spread over k iterations") \
    NUMBER(group, 0, \
           "LSGD: nodes of a group with a leader of its own; 0: none") \
    NUMBER(global_every, 4, \
           "LSGD: in every such round the leader is everybody's") \
    NUMBER(top, 2, \
           "how many are merged: top-m, multi-Krum") \
    NUMBER(trim, 0.25, \
           "share that trimmed mean cuts off at each side") \
    NUMBER(faulty, 1, \
           "bad nodes that Krum must stand") \
    NUMBER(clip, 2, \
           "norms and samples are clipped to so many medians") \
    NUMBER(quorum, 0.5, \
           "share of the live nodes that a quorum needs") \
    NUMBER(grace, 1, \
           "seconds a quorum waits for the others") \
    NUMBER(margin, 2, \
           "standard errors by which a score must be better or worse") \
    NUMBER(gap, 0.03, \
           "preempt: share of the best score by which it must be worse") \
    NUMBER(strikes, 2, \
           "preempt: bad scores in a row") \
    NUMBER(spare, 2, \
           "preempt: offers after a replacement without another") \
    NUMBER(quantile, 0.25, \
           "PBT: share of nodes that is replaced, and by") \
    NUMBER(rollback, 1, \
           "the centre goes back when it is so many times worse; 0: never")
/* clang-format on */

#endif
