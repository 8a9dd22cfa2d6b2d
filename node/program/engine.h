/* The engine that started this process, as its environment says: which of its
 * processes this is, and where the first of them runs. Nothing is changed.
 *
 * Of several, the one that starts the process itself is meant, and stands first
 * in the list: torchrun or mpirun inside a SLURM job or a pod
 * (docs/decisions/which-engine-counts.md). */
#ifndef NODE_PROGRAM_ENGINE_H
#define NODE_PROGRAM_ENGINE_H

#include <stdbool.h>

#include "core/endpoint.h"
#include "core/status.h"

enum { ENGINE_JOB_BYTES = 48 };

struct engine_place {
    const char *engine;             /* "SLURM"; NULL: none */
    const char *variable;           /* that says the rank */
    unsigned rank, size;            /* size 0: not known */
    bool one_host;                  /* all ranks run on this host */
    char host[ENDPOINT_HOST_BYTES]; /* of rank 0; "": nobody says */
    /* Letters, digits, - and _; "": nobody says. */
    char job[ENGINE_JOB_BYTES];   /* the same when it is queued again */
    char start[ENGINE_JOB_BYTES]; /* another one each time it is started */
};

/* Kubernetes' own name of this host is asked for; else only the environment.
 * CONFIG: a variable holds what it cannot. */
enum status engine_find(struct engine_place *out, struct why *why) MUST_CHECK;

#endif
