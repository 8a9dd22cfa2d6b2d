/* What must hold of the hub: its centre, its epoch, its disk, its memory. */
#include <stdio.h>
#include <string.h>

#include "sim/study/soak_inside.h"

/* For printf. */
#define ull unsigned long long

void judge_hub_start(struct life *life)
{
    const struct world_saved *saved = world_saved(life->world);
    struct soak_judge *judge = &life->judge;
    struct hub_view view;

    memset(judge->chunk_versions, 0, sizeof judge->chunk_versions);
    memset(judge->told, 0, sizeof judge->told);
    judge->version = judge->epoch = 0;
    judge->recovering = false;
    judge->lives++;
    if (!saved->count)
        judge->saved = 0;
    if (world_broken(life->world))
        return;
    hub_look(world_hub(life->world), world_now(life->world), &view);
    if (saved->count && (!view.founded || view.version != saved->version))
        life_complain(life,
                      "the hub starts with version %llu, and saved was %llu",
                      (ull)view.version, (ull)saved->version);
    count_resumed(life, &view, true);
}

/* N5. With a budget, uploads that wait for their merge are held to it. Each of
 * them has a chunk of credit at least, and may take one payload beyond it; of a
 * Byzantine node one more is let through before it is cut. Rules that must see
 * all of a round, such as a tournament's, and --miss cut, are outside of it
 * (hub/flow.c). */
static void judge_memory(struct life *life, const struct hub_view *view)
{
    const struct hub_config *hub = &life->config.hub;
    uint64_t chunk = hub->chunk_elements * sizeof(float) + 8;
    struct hub_uploads uploads;

    if (!hub->budget || !view->founded || hub->miss == MISS_CUT ||
        hub->policy.reduce->judge || hub->policy.receive->donors)
        return;
    hub_look_at_uploads(world_hub(life->world), &uploads);
    if (uploads.held <= hub->budget + 3 * chunk * uploads.partial)
        return;
    life_complain(life,
                  "the hub holds %llu bytes of %u uploads, with a budget of "
                  "%llu and chunks of %llu",
                  (ull)uploads.held, uploads.partial, (ull)hub->budget,
                  (ull)chunk);
}

/* NULL: the hub does not know it. */
static const struct hub_node_view *view_of(const struct hub_view *view,
                                           unsigned node)
{
    char name[16];

    (void)snprintf(name, sizeof name, "n%u", node + 1);
    for (unsigned i = 0; i < view->count; i++)
        if (strcmp(view->nodes[i].name, name) == 0)
            return &view->nodes[i];
    return NULL;
}

static bool is_with(const struct hub_view *view, unsigned node)
{
    const struct hub_node_view *known = view_of(view, node);

    return known && !known->gone && !known->silent;
}

bool judge_waits_for(struct life *life, unsigned node)
{
    const struct hub_node_view *known;
    struct hub_view view;

    hub_look(world_hub(life->world), world_now(life->world), &view);
    known = view_of(&view, node);
    return !known || !strstr(known->why, "rounds do not wait for it");
}

bool judge_is_founded(struct life *life)
{
    struct hub_view view;

    hub_look(world_hub(life->world), world_now(life->world), &view);
    return view.founded;
}

/* Whether what a node keeps is newer than what the hub goes on from: of a later
 * life, or of the same one and of a higher version. */
static bool is_newer(uint64_t epoch, uint64_t version,
                     const struct hub_view *view)
{
    uint64_t life = epoch >> 32, from = view->from >> 32;

    return life > from || (life == from && version > view->version);
}

/* The hub has found what it goes on from. If that is nothing, because who was
 * to give it has gone, its own run goes on, of which nobody keeps anything that
 * it has not got. */
static void judge_recovered(struct life *life, const struct hub_view *view)
{
    for (unsigned i = 0; i < life->honest; i++) {
        const struct node *node = world_node(life->world, i);
        uint64_t run = 0, epoch = 0;
        uint64_t keeps = node ? node_keeps(node, &run, &epoch) : 0;

        if (view->from && run == view->run && keeps &&
            is_newer(epoch, keeps - 1, view) && is_with(view, i))
            life_complain(life,
                          "the hub goes on from version %llu of life %llu, "
                          "and n%u keeps %llu of life %llu",
                          (ull)view->version, (ull)(view->from >> 32), i + 1,
                          (ull)keeps - 1, (ull)(epoch >> 32));
    }
}

void judge_hub_step(struct life *life)
{
    struct soak_judge *judge = &life->judge;
    const struct world_saved *saved = world_saved(life->world);
    struct hub_view view;

    hub_look(world_hub(life->world), world_now(life->world), &view);
    if (view.version < judge->version)
        life_complain(life, "the centre goes back from version %llu to %llu",
                      (ull)judge->version, (ull)view.version);
    if (view.epoch < judge->epoch)
        life_complain(life, "the epoch goes back from %llu to %llu",
                      (ull)judge->epoch, (ull)view.epoch);
    if (epoch_life(view.epoch) != epoch_life(judge->epoch))
        judge->lives++;
    if (saved->version < judge->saved)
        life_complain(life, "version %llu is saved after %llu",
                      (ull)saved->version, (ull)judge->saved);
    if (judge->recovering && !view.recovering) {
        judge_recovered(life, &view);
        count_resumed(life, &view, false);
    }
    judge->recovering = view.recovering;
    judge->version = view.version;
    judge->epoch = view.epoch;
    judge->saved = saved->version;
    judge_memory(life, &view);
    count_hub_step(life, &view);
}
