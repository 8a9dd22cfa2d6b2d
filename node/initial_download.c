/* The hub's parameters, taken as a whole, and over several sessions: on a link
 * that breaks before all of them are here, each session brings some more.
 *
 * The node says which chunks it has (CLOSE of exchange 0), and the hub which of
 * them it does not send again (VERDICT): a hub that has gone back meanwhile, or
 * knows nothing of that, sends all of them. Of first parameters that the node
 * gives, the hub says so by itself. */
#include "node/state.h"

/* Chunks that have come one after the other. */
static uint32_t here(const struct node *node, const struct flight *flight)
{
    uint32_t count = 0;

    while (flight && count < node->chunks && flight->chunks[count].result)
        count++;
    return count;
}

static void keep_before(struct node *node)
{
    flight_destroy(node, &node->before);
    node->before = node->initial_download;
    node->initial_download = NULL;
}

void download_breaks(struct node *node)
{
    if (!node->initial_download ||
        node->initial_download->result == RESULT_HANDED)
        return;
    if (here(node, node->initial_download) >= here(node, node->before))
        keep_before(node);
    else
        flight_destroy(node, &node->initial_download);
}

void download_ends(struct node *node)
{
    flight_destroy(node, &node->initial_download);
    flight_destroy(node, &node->before);
}

/* What has come before is of the run and the centre that is to be taken. */
static bool goes_on(const struct node *node, bool fresh)
{
    const struct msg_welcome *welcome = &node->welcome;

    return fresh && node->takes == welcome->run && here(node, node->before) &&
           node->before->chunks[0].lineage == welcome->lineage;
}

static void claim(struct node *node)
{
    struct msg msg = {.kind = MSG_CLOSE};

    msg.close.chunks = here(node, node->before);
    node_to_hub(node, &msg, NULL);
}

void download_begins(struct node *node, bool fresh)
{
    const struct msg_local_offer nothing = {0};
    const struct msg forget = {.kind = MSG_LOCAL_VERDICT};
    const struct msg ready = {.kind = MSG_CREDIT};

    if (node->initial_download)
        keep_before(node);
    if (goes_on(node, fresh))
        claim(node);
    else
        flight_destroy(node, &node->before);
    node->takes = node->welcome.run;
    blob_unref(&node->last);
    node_to_trainer(node, &forget, NULL);
    tasks_fail(node);
    flights_drop(node);
    node->initial_download = flight_new(node, &nothing);
    node->dirty |= DIRTY_OFFERS; /* none is made now */
    node_to_hub(node, &ready, NULL);
}

void download_arrives(struct node *node, const struct msg_result *result)
{
    if (result->chunk == 0)
        flight_destroy(node, &node->before);
}

static void move(struct flight *to, struct flight *from, uint32_t chunk)
{
    struct flight_chunk *place = &to->chunks[chunk];
    struct flight_chunk *other = &from->chunks[chunk];

    if (place->result || !other->result)
        return;
    place->result = other->result;
    other->result = NULL;
    place->verb = other->verb;
    place->weight = other->weight;
    place->version = other->version;
    place->lineage = other->lineage;
    place->checksum = other->checksum;
    to->arrived++;
}

/* First parameters that the hub has need not be given again. */
static void give_rest(struct flight *upload, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        upload->chunks[i].judged = true;
        blob_unref(&upload->chunks[i].encoded);
    }
}

void download_resumes(struct node *node, const struct msg_verdict *verdict,
                      uint32_t end)
{
    if (verdict->verdict != VERDICT_MERGED)
        return;
    if (node->initial_upload)
        give_rest(node->initial_upload, verdict->first, end);
    if (!node->initial_download || !node->before)
        return;
    for (uint32_t i = verdict->first; i < end; i++)
        move(node->initial_download, node->before, i);
    flight_destroy(node, &node->before);
    node->dirty |= DIRTY_RESULTS;
}
