/* FTLib's and Rabit's names for what starswitch_group.h does, for programs that
 * were written for these.
 *
 * C99, C++-safe. */
#ifndef STARSWITCH_ANCESTORS_H
#define STARSWITCH_ANCESTORS_H

#include <starswitch_group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- FTLib's ---- */

/* How building the group ended. */
enum star_rebuild_status {
    STAR_REBUILD_SKIP_ALLREDUCE = -1, /* the only member: rank 0 of 1 */
    STAR_REBUILD_SUCCESS = 0,
    STAR_REBUILD_FAIL = 1,
    STAR_REBUILD_ABORT = 2
};

/* What FTLib's consensus and communication libraries say; ours never leave
 * this process. */
enum star_consensus_status {
    STAR_CONSENSUS_SKIP_ALLREDUCE = -1,
    STAR_CONSENSUS_SUCCESS = 0,
    STAR_CONSENSUS_FAIL = 1
};
enum star_commlib_status { STAR_COMMLIB_SUCCESS = 0, STAR_COMMLIB_FAIL = 1 };

/* Learns who is there. The names are FTLib's (consensus "shared_storage" or
 * "gossip", library "NCCL", "dummy_NCCL" or "pytorch"; NULL: "hub"); all mean
 * the hub, and names that FTLib does not know are refused: ABORT. */
STAR_API enum star_rebuild_status star_group_init(struct star_group *group,
                                                  const char *consensus,
                                                  const char *library);
/* Whether the members are those that the group was built of, as far as this
 * one knows; an active one asks. */
STAR_API int star_group_initialized(struct star_group *group);
/* Whether this is the only member. */
STAR_API int star_group_skip_allreduce(struct star_group *group);
/* As star_group_wait_joined; whether that has happened. */
STAR_API int star_group_manual_join(struct star_group *group, double seconds);
STAR_API int star_group_consensus_joined(struct star_group *group);

/* star_group_allreduce_average, under the name that FTLib had for it. */
STAR_API enum star_group_status
star_group_wait_weights_ready(struct star_group *group,
                              const struct star_group_tensor *tensors,
                              size_t count);

/* Calls `act` in a group that is built: rebuilds before if need be. What it
 * returns is stored in `result`; if that is not 0, the group is built anew
 * before the next collective. */
STAR_API enum star_group_status star_group_execute(struct star_group *group,
                                                   int (*act)(void *argument),
                                                   void *argument, int *result);

/* ---- Rabit's ---- */

/* As Rabit's programs are started, with "name=value": rabit_tracker_uri,
 * rabit_tracker_port, rabit_task_id (the name), rabit_world_size,
 * rabit_timeout_sec. What begins with rabit_ is taken, other arguments are left
 * alone; sizes of buffers and rings mean nothing to a hub. A patient group. */
STAR_API enum star_status star_group_join_arguments(int argc, char **argv,
                                                    struct star_group **group,
                                                    char *error,
                                                    size_t error_size);
STAR_API int star_group_is_distributed(struct star_group *group);
STAR_API const char *star_group_processor_name(struct star_group *group);
/* A line in the hub's log, of at most 119 bytes; after 50 in a second others
 * are left out. */
STAR_API void star_group_tracker_print(struct star_group *group,
                                       const char *text);

#ifdef __cplusplus
}
#endif

#endif
