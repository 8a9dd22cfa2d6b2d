#include "sim/study/measures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/score.h"
#include "core/time.h"
#include "sim/trace/lines.h"

void measures_begin(struct measures *measures, struct goal goal)
{
    *measures =
        (struct measures){.goal = goal, .loss = NO_SCORE, .goal_time = -1};
}

/* ---- a line's parts ---- */

/* What stands behind "name=", as a number; false: it is not there. */
static bool number(const char *line, const char *name, double *out)
{
    char key[32];
    const char *at;
    char *end;

    (void)snprintf(key, sizeof key, " %s=", name);
    at = strstr(line, key);
    if (!at)
        return false;
    at += strlen(key);
    *out = strtod(at, &end);
    return end != at;
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* The size of the payload, "[1024 3f...]" at the end. */
static double payload(const char *line)
{
    const char *at = strrchr(line, '[');

    return at ? strtod(at + 1, NULL) : 0;
}

/* ---- nodes ---- */

static struct measured_node *node_of(const struct measures *measures,
                                     uint64_t peer)
{
    for (unsigned i = measures->node_count; i > 0; i--)
        if (measures->nodes[i - 1].peer == peer)
            return &measures->nodes[i - 1];
    return NULL;
}

/* The node of this name, made if it is not there. */
static struct measured_node *node_named(struct measures *measures,
                                        const char *name)
{
    struct measured_node *node;

    for (unsigned i = 0; i < measures->node_count; i++)
        if (strcmp(measures->nodes[i].name, name) == 0)
            return &measures->nodes[i];
    measures->nodes = realloc(measures->nodes, (measures->node_count + 1) *
                                                   sizeof *measures->nodes);
    if (!measures->nodes)
        abort();
    node = &measures->nodes[measures->node_count++];
    *node = (struct measured_node){.rate = 0};
    (void)snprintf(node->name, sizeof node->name, "%s", name);
    return node;
}

static void take_hello(struct measures *measures, uint64_t peer,
                       const char *line)
{
    static const char key[] = " name=\"";
    char name[MEASURED_NAME_BYTES];
    const char *at = strstr(line, key);

    if (!at)
        return;
    at += strlen(key);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
    node_named(measures, name)->peer = peer;
}

static void take_ping(struct measures *measures, uint64_t peer,
                      const char *line)
{
    struct measured_node *node = node_of(measures, peer);
    double sent, waited, iteration, missed;

    if (!node || measures->rounds < 1 || measures->ending ||
        !number(line, "sent", &sent) || !number(line, "waited", &waited) ||
        !number(line, "iteration", &iteration) ||
        !number(line, "missed", &missed))
        return;
    if (node->count < 1) {
        node->sent = sent;
        node->waited = waited;
        node->iteration = iteration;
    }
    node->time = (sent - node->sent) / (double)SECOND;
    node->waited_last = waited;
    node->missed = missed;
    iteration -= node->iteration;
    node->count++;
    node->sum_t += node->time;
    node->sum_i += iteration;
    node->sum_tt += node->time * node->time;
    node->sum_ti += node->time * iteration;
}

/* ---- the centre ---- */

static void take_round(struct measures *measures, const char *line)
{
    const char *at = strstr(line, "version ");
    struct measured_version *versions = measures->versions;

    if (measures->ending || !at)
        return;
    if (measures->version_count == measures->version_room) {
        measures->version_room = 2 * measures->version_room + 64;
        versions = realloc(versions, measures->version_room * sizeof *versions);
        if (!versions)
            abort();
        measures->versions = versions;
    }
    versions[measures->version_count++] = (struct measured_version){
        strtoull(at + strlen("version "), NULL, 10), measures->now};
    measures->last_round = measures->now;
    if (measures->rounds++ < 1)
        measures->first_round = measures->now;
}

/* When the centre got this version; versions rise. -1: not known. */
static double time_of(const struct measures *measures, uint64_t version)
{
    for (size_t i = measures->version_count; i > 0; i--)
        if (measures->versions[i - 1].version == version)
            return measures->versions[i - 1].time;
    return -1;
}

/* The centre was this good at this time; lower is better. */
static void take_point(struct measures *measures, double time, double score)
{
    double goal = measures->goal.kind == GOAL_ACCURACY ? -measures->goal.value
                                                       : measures->goal.value;
    double part = 1;

    if (measures->goal_time >= 0 || measures->goal.kind == GOAL_NONE)
        return;
    if (score <= goal) {
        if (measures->scored)
            part = (measures->score - goal) / (measures->score - score);
        else
            measures->score_time = time;
        measures->goal_time = measures->score_time +
                              part * (time - measures->score_time) -
                              measures->first_round;
    }
    measures->scored = true;
    measures->score = score;
    measures->score_time = time;
}

/* "version 5: loss 0.7260, test accuracy 71.50 %". */
static void take_score(struct measures *measures, const char *line)
{
    static const char version_word[] = "version ", loss_word[] = ": loss ";
    static const char digits[] = "0123456789";
    const char *at = strstr(line, version_word);
    uint64_t version;
    double loss, right, time;
    char *end;

    if (measures->ending || !at)
        return;
    version = strtoull(at + strlen(version_word), &end, 10);
    if (!begins(end, loss_word))
        return;
    loss = strtod(end + strlen(loss_word), &end);
    right = *end == ',' ? strtod(end + strcspn(end, digits), NULL) / 100 : 0;
    measures->loss = loss;
    time = time_of(measures, version);
    if (time >= 0)
        take_point(measures, time,
                   measures->goal.kind == GOAL_ACCURACY ? -right : loss);
}

/* ---- lines ---- */

static void take_effect(struct measures *measures, const char *line)
{
    if (begins(line, "  note round_done "))
        take_round(measures, line);
    else if (begins(line, "  note centre_scored "))
        take_score(measures, line);
    else if (begins(line, "  note run_ending "))
        measures->ending = true;
    else if (begins(line, "  send ") && strstr(line, " result ") &&
             measures->rounds >= 1 && !measures->ending)
        measures->bytes_down += payload(line);
}

/* What a message is, at `kind`, its line's end. */
static void take_message(struct measures *measures, uint64_t peer,
                         const char *kind)
{
    if (begins(kind, " hello "))
        take_hello(measures, peer, kind);
    else if (begins(kind, " ping "))
        take_ping(measures, peer, kind);
    else if (measures->rounds < 1 || measures->ending)
        return;
    else if (begins(kind, " offer "))
        measures->offers++;
    else if (begins(kind, " chunk "))
        measures->bytes_up += payload(kind);
}

void measures_add(struct measures *measures, const char *line)
{
    static const char message[] = " message ";
    uint64_t peer;
    char *end;
    double time;

    if (*line == ' ') {
        take_effect(measures, line);
        return;
    }
    time = strtod(line, &end);
    if (end == line)
        return;
    if (!measures->begun)
        measures->first = time;
    measures->begun = true;
    measures->now = time;
    if (!measures->ending)
        measures->end = time - measures->first;
    if (begins(end, message)) {
        peer = strtoull(end + strlen(message), &end, 10);
        take_message(measures, peer, end);
    }
}

static enum status take_line(void *of, struct line *line, struct why *why)
{
    (void)why;
    measures_add(of, line->text);
    return STATUS_OK;
}

enum status measures_add_all(struct measures *measures, const char *text,
                             size_t size, struct why *why)
{
    struct lines lines = lines_of(text, size);

    return lines_each(&lines, take_line, measures, why);
}

static void end_nodes(struct measures *measures)
{
    double time = 0, waited = 0, missed = 0;
    unsigned known = 0;

    for (unsigned i = 0; i < measures->node_count; i++) {
        struct measured_node *node = &measures->nodes[i];
        double spread = node->count * node->sum_tt - node->sum_t * node->sum_t;

        missed += node->missed;
        if (!(spread > 0))
            continue;
        node->rate =
            (node->count * node->sum_ti - node->sum_t * node->sum_i) / spread;
        measures->rate += node->rate;
        known++;
        time += node->time;
        waited += (node->waited_last - node->waited) / (double)SECOND;
    }
    measures->rate /= known ? known : 1;
    measures->idle = time > 0 ? waited / time : 0;
    measures->step =
        measures->rate > 0 ? (1 - measures->idle) / measures->rate : 0;
    measures->late = missed > 0 ? missed / fmax(missed, measures->offers) : 0;
}

void measures_end(struct measures *measures)
{
    double span = measures->end - (measures->first_round - measures->first);

    if (measures->rounds > 1)
        measures->round_time = (measures->last_round - measures->first_round) /
                               (measures->rounds - 1);
    if (measures->rounds >= 1 && span > 0) {
        measures->up = measures->bytes_up / span;
        measures->down = measures->bytes_down / span;
    }
    end_nodes(measures);
}

void measures_free(struct measures *measures)
{
    free(measures->nodes);
    free(measures->versions);
    *measures = (struct measures){.rounds = 0};
}
