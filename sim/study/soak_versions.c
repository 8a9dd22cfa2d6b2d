/* What the versions of the centre were, number by number, and what hubs that
 * went on from them have lost by it. */
#include <math.h>
#include <string.h>

#include "sim/study/soak_inside.h"

/* For printf. */
#define ull unsigned long long
#define ROUNDING 0.01

static size_t numbers_of(const struct life *life)
{
    return (size_t)life->plan->nodes * SOAK_STINTS;
}

/* What a chunk was at a version, as a hub of this life or the last one before
 * that came to that version had it; NULL: nobody knows any more. Who goes on
 * from an earlier version has later ones of its own. */
static const struct soak_version *version_of(const struct life *life,
                                             uint32_t chunk, uint64_t run,
                                             uint64_t hub_life,
                                             uint64_t version)
{
    const struct soak_version *best = NULL;

    for (unsigned i = 0; i < SOAK_VERSIONS; i++) {
        const struct soak_version *place = &life->count.versions[chunk][i];

        if (place->used && place->run == run && place->version == version &&
            place->life <= hub_life && (!best || place->life >= best->life))
            best = place;
    }
    return best;
}

static void widen(struct soak_margin *margin, const struct soak_margin *founded,
                  float apart)
{
    margin->more = fmaxf(margin->more, founded->more + apart);
    margin->less = fmaxf(margin->less, founded->less - apart);
}

static void record(struct life *life, uint32_t chunk,
                   const struct hub_view *view, uint64_t version,
                   const float *theta)
{
    struct soak_count *count = &life->count;
    struct soak_version *place =
        &count->versions[chunk][count->next_version[chunk]++ % SOAK_VERSIONS];
    const float *sent = hub_sent(world_hub(life->world), chunk);

    *place = (struct soak_version){.run = view->run,
                                   .life = epoch_life(view->epoch),
                                   .version = version,
                                   .used = true};
    for (size_t i = 0; i < numbers_of(life); i++) {
        place->lost[i] = count->lost[chunk][i];
        place->stands[i] = theta[i] + place->lost[i];
        widen(&count->sent[chunk][i], &count->founded[chunk][i],
              sent[i] - place->stands[i]);
    }
}

/* Another run begins with what its founder holds: by a lossy codec down that is
 * not what was merged, by no more than what was sent ever was not. */
static void found(struct life *life, uint32_t chunk)
{
    struct soak_count *count = &life->count;

    memset(count->lost[chunk], 0, sizeof count->lost[chunk]);
    memcpy(count->founded[chunk], count->sent[chunk],
           sizeof count->founded[chunk]);
}

void count_versions(struct life *life, const struct hub_view *view)
{
    for (uint32_t i = 0; i < life->chunks && !view->recovering; i++) {
        uint64_t version = 0, next, *now = &life->count.now[i];
        const float *theta = hub_centre(world_hub(life->world), i, &version);

        if (!theta || *now == version + 1)
            continue;
        if (!*now)
            found(life, i);
        /* In one step a chunk changes once, for the first of several
         * versions. */
        next = *now && *now <= version ? *now : version;
        while (next <= version)
            record(life, i, view, next++, theta);
        *now = version + 1;
    }
}

/* What a chunk that the hub goes on from has less than it had; from its disk it
 * has the same. */
static void compare(struct life *life, uint32_t chunk,
                    const struct hub_view *view, bool exact)
{
    uint64_t version = 0;
    const float *theta = hub_centre(world_hub(life->world), chunk, &version);
    const struct soak_version *was;

    if (!theta)
        return;
    was = version_of(life, chunk, view->run, epoch_life(view->from), version);
    if (!was) {
        life->count.blind = true;
        return;
    }
    for (size_t i = 0; i < numbers_of(life); i++) {
        float *lost = &life->count.lost[chunk][i];

        *lost = was->stands[i] - theta[i];
        if (exact && fabsf(*lost - was->lost[i]) > (float)ROUNDING)
            life_complain(life,
                          "the hub goes on from version %llu, which had %g "
                          "more in chunk %u",
                          (ull)version, (double)(*lost - was->lost[i]), chunk);
    }
    record(life, chunk, view, version, theta); /* as it is saved, and sent */
    life->count.now[chunk] = version + 1;
}

void count_resumed(struct life *life, const struct hub_view *view, bool started)
{
    struct soak_count *count = &life->count;
    bool again = started || (count->disk_run == view->run &&
                             count->disk_version == view->version);

    if (!life->plan->counts)
        return;
    memset(count->now, 0, sizeof count->now);
    if (started) {
        count->disk_run = view->founded ? view->run : 0;
        count->disk_version = view->version;
    }
    if (!view->founded)
        return;
    for (uint32_t i = 0; i < life->chunks; i++)
        compare(life, i, view,
                again || life->config.hub.codec_down == CODEC_RAW);
}

double count_held(const struct life *life, unsigned node, unsigned stint,
                  uint32_t chunk)
{
    const struct world_saved *saved = world_saved(life->world);
    size_t number = (size_t)node * SOAK_STINTS + stint;
    size_t at = (size_t)chunk * life->config.hub.chunk_elements + number;

    return at < saved->elements ? (double)saved->theta[at] +
                                      (double)life->count.lost[chunk][number]
                                : 0;
}

const struct soak_margin *count_founded(const struct life *life, unsigned node,
                                        unsigned stint, uint32_t chunk)
{
    size_t number = (size_t)node * SOAK_STINTS + stint;

    return &life->count.founded[chunk][number];
}
