#include "node/keep.h"

#include <stdlib.h>

#include "codec/manifest.h"
#include "core/need.h"
#include "node/state.h"

static void kept_clear(const struct node *node, struct kept *kept)
{
    for (uint32_t i = 0; kept->chunks && i < node->chunks; i++)
        blob_unref(&kept->chunks[i]);
    free((void *)kept->chunks);
    blob_unref(&kept->manifest);
    *kept = (struct kept){0};
}

void keep_free(struct node *node)
{
    struct keep *keep = &node->keep;

    for (uint32_t i = 0; keep->newest && i < node->chunks; i++)
        blob_unref(&keep->newest[i].values);
    free(keep->newest);
    bitset_free(&keep->fresh);
    kept_clear(node, &keep->whole);
    kept_clear(node, &keep->coming);
    *keep = (struct keep){.centre = keep->centre + 1};
}

/* A later life began with an older version than is kept of a former one: what
 * that had beyond it is given again now, and would count twice. Nor are chunks
 * of such a version those that the later life has under its number. */
static void leave_branch(struct node *node)
{
    const struct msg_welcome *welcome = &node->welcome;
    struct kept *kept[] = {&node->keep.whole, &node->keep.coming};

    for (unsigned i = 0; i < 2; i++)
        if (epoch_life(kept[i]->epoch) < epoch_life(welcome->epoch) &&
            kept[i]->version > welcome->origin)
            kept_clear(node, kept[i]);
    for (uint32_t i = 0; node->keep.newest && i < node->chunks; i++)
        if (node->keep.newest[i].former &&
            node->keep.newest[i].version > welcome->origin)
            blob_unref(&node->keep.newest[i].values);
}

void keep_enter(struct node *node)
{
    if (node->keep.run != node->welcome.run) {
        keep_free(node);
        promises_forget(node);
        node->keep.run = node->welcome.run;
    }
    keep_told(node, node->welcome.epoch);
    leave_branch(node);
}

/* Another life of the hub has the same values of a version, but not what a
 * codec had made of them, which it has never sent. */
static void leave_life(struct node *node)
{
    for (uint32_t i = 0; node->keep.newest && i < node->chunks; i++) {
        struct newest *newest = &node->keep.newest[i];

        newest->former = true;
        if (newest->lossy)
            blob_unref(&newest->values);
    }
}

void keep_told(struct node *node, uint64_t epoch)
{
    if (node->welcome.run != node->keep.run || epoch <= node->keep.epoch)
        return;
    if (epoch_life(epoch) != epoch_life(node->keep.epoch))
        leave_life(node);
    node->keep.epoch = epoch;
}

void keep_give_up(struct node *node)
{
    struct keep *keep = &node->keep;

    kept_clear(node, &keep->whole);
    kept_clear(node, &keep->coming);
    leave_life(node);
    keep->epoch = 0;
    node->promises.safe = 0; /* that was in what is kept */
}

uint64_t keep_hello(const struct node *node)
{
    return node->keep.whole.manifest ? 1 + node->keep.whole.version : 0;
}

void keep_spoiled(struct node *node)
{
    kept_clear(node, &node->keep.whole);
}

/* ---- a version ---- */

/* All of `coming` is here. */
static void arrive(struct node *node)
{
    struct keep *keep = &node->keep;

    kept_clear(node, &keep->whole);
    keep->whole = keep->coming;
    keep->coming = (struct kept){0};
    promises_kept(node, keep->whole.merged);
    effects_note(node->out, NOTE_KEPT, node->name, "version %llu, epoch %llu",
                 (unsigned long long)keep->whole.version,
                 (unsigned long long)keep->whole.epoch);
}

/* Whether the values are those that `coming` lists; takes them then. Who was
 * sent the whole centre has them as of a later version, up to the whole's. */
static bool fits(struct kept *coming, uint32_t chunk,
                 const struct newest *newest)
{
    struct manifest manifest;
    uint64_t listed;

    if (!newest->values || coming->chunks[chunk] ||
        !manifest_read(&manifest, coming->manifest->bytes,
                       coming->manifest->size))
        return false;
    listed = manifest_version(&manifest, chunk);
    if (newest->version < listed ||
        newest->version > (newest->former ? listed : coming->version))
        return false;
    coming->chunks[chunk] = blob_ref(newest->values);
    coming->missing--;
    return true;
}

static struct newest *newest_list(struct node *node)
{
    struct keep *keep = &node->keep;

    if (!keep->newest)
        keep->newest = need_memory(node->chunks, sizeof *keep->newest);
    return keep->newest;
}

/* What nodes that offer parameters are to take, or to be pulled to, may be
 * another node's; what draws them closer is the centre. */
static bool is_centre(const struct node *node, const struct msg_result *result)
{
    return !result->exchange || result->verb == VERB_REBASE ||
           node->welcome.exchange != EXCHANGE_PARAMETERS;
}

void keep_result(struct node *node, const struct msg_result *result,
                 struct blob *values)
{
    struct keep *keep = &node->keep;
    struct newest *newest;

    if (node->welcome.run != keep->run ||
        !verb_is_kept((enum verb)result->verb))
        return;
    newest = &newest_list(node)[result->chunk];
    blob_unref(&newest->values);
    newest->values = blob_ref(values);
    newest->version = result->version;
    newest->former = false;
    newest->lossy = node->welcome.codec_down != CODEC_RAW;
    bitset_set(&keep->fresh, (int)result->chunk, is_centre(node, result));
    if (keep->coming.manifest && fits(&keep->coming, result->chunk, newest) &&
        !keep->coming.missing)
        arrive(node);
}

void keep_gave(struct node *node)
{
    struct newest *newest = newest_list(node);

    if (node->start != START_FOUND || node->keep.given)
        return;
    node->keep.given = true;
    for (uint32_t i = 0; i < node->chunks; i++) {
        blob_unref(&newest[i].values);
        newest[i] = (struct newest){
            .values = blob_ref(node->initial_upload->chunks[i].encoded),
            .version = node->welcome.version};
        bitset_set(&node->keep.fresh, (int)i, true);
    }
}

void keep_founded(struct node *node, bool taken)
{
    for (uint32_t i = 0; node->keep.given && !taken && i < node->chunks; i++)
        blob_unref(&node->keep.newest[i].values);
    node->keep.centre += node->keep.given && !taken;
    node->keep.given = false;
}

/* Takes what is here of `coming`; false when the rest is not going to come: the
 * results were sent before KEEP was. */
static bool collect(struct node *node, const struct manifest *manifest)
{
    const struct newest *newest = newest_list(node);

    for (uint32_t i = 0; i < node->chunks; i++)
        if (!fits(&node->keep.coming, i, &newest[i]) &&
            !held_awaits(node, i, manifest_version(manifest, i),
                         node->keep.coming.version))
            return false;
    return true;
}

/* Whether it may take the place of what is kept. */
static bool is_newer(const struct keep *keep, const struct msg_keep *msg)
{
    const struct kept *whole = &keep->whole;

    return !whole->manifest || msg->epoch > whole->epoch ||
           (msg->epoch == whole->epoch && msg->version > whole->version);
}

void node_on_saving(struct node *node, const struct event *event)
{
    promises_saved(node, event->msg->saving.merged);
}

void node_on_keep(struct node *node, const struct event *event)
{
    const struct msg_keep *told = &event->msg->keep;
    struct blob *payload = event->payload;
    struct keep *keep = &node->keep;
    struct manifest manifest;

    if (!payload || !manifest_read(&manifest, payload->bytes, payload->size) ||
        manifest.chunks != node->chunks || told->version == UINT64_MAX) {
        node_drop(node, "a manifest of the centre makes no sense");
        return;
    }
    if (node->hub != HUB_MEMBER || node->welcome.run != keep->run ||
        !manifest_is_whole(&manifest))
        return;
    keep_told(node, told->epoch);
    promises_mark(&node->promises.kept, told->merged);
    if (!is_newer(keep, told))
        return;
    kept_clear(node, &keep->coming);
    keep->coming.manifest = blob_ref(payload);
    keep->coming.epoch = told->epoch;
    keep->coming.version = told->version;
    keep->coming.merged = told->merged;
    keep->coming.missing = node->chunks;
    keep->coming.chunks = need_memory(node->chunks, sizeof(struct blob *));
    if (!collect(node, &manifest))
        kept_clear(node, &keep->coming);
    else if (!keep->coming.missing)
        arrive(node);
}

/* ---- giving it ---- */

void keep_announce(struct node *node)
{
    struct msg msg = {.kind = MSG_KEPT};

    msg.kept.version = node->keep.whole.version;
    if (node->start == START_GIVE && node->initial_upload)
        node_to_hub(node, &msg, node->keep.whole.manifest);
}

const char *keep_check(const struct node *node)
{
    const struct kept *whole = &node->keep.whole;

    if (whole->manifest && whole->missing)
        return "a version is kept of which something is missing";
    if (node->keep.coming.manifest && !node->keep.coming.missing)
        return "a version is here and is not kept";
    if (node->keep.epoch < whole->epoch)
        return "what is kept is of an epoch that nobody has told";
    return NULL;
}

bool node_centre_next(struct node *node, struct node_chunk *out)
{
    struct keep *keep = &node->keep;
    int next;

    while ((next = bitset_next(&keep->fresh, 0)) >= 0) {
        const struct newest *newest = &keep->newest[next];

        bitset_set(&keep->fresh, next, false);
        if (!newest->values)
            continue;
        *out = (struct node_chunk){
            keep->centre,    node->chunks,
            (uint32_t)next,  (uint64_t)next * node->chunk_elements,
            newest->version, newest->values};
        return true;
    }
    return false;
}

uint64_t node_keeps(const struct node *node, uint64_t *run, uint64_t *epoch)
{
    *epoch = node->keep.whole.epoch;
    *run = node->keep.run;
    return keep_hello(node);
}
