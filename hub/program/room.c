#include "hub/program/room.h"

#include <stdio.h>
#include <sys/resource.h>

void room_for_nodes(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

struct room_plan room_plan(const struct options *options,
                           const struct policy *policy)
{
    const struct merge_rule *merge = policy->merge;

    return (struct room_plan){
        .slots = merge->slots ? merge->slots(&policy->numbers) : 0,
        .best = (unsigned)options->best};
}

void room_watch(struct room_plan *plan, const struct centre_store *store,
                struct display *display, nanos now)
{
    struct note note = {.kind = NOTE_ROOM};
    struct why why = {""};

    if (plan->model || !store->schema)
        return;
    plan->model = store->schema->elements * sizeof(float);
    if (room_suffices(store->directory, plan, &why))
        return;
    (void)snprintf(note.text, sizeof note.text, "%.199s", why.text);
    display_note(display, now, &note);
}
