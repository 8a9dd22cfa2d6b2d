/* The text that is saved with the centre, read: what it says, until all of it
 * makes sense. Inside hub/. */
#ifndef HUB_SAVED_H
#define HUB_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/schema.h"
#include "core/status.h"
#include "core/words.h"
#include "hub/hub.h"

struct saved {
    uint64_t run, epoch, version, lineage, best_version, turned;
    uint32_t chunk_elements;
    double best_score, best_measure, best_accuracy;
    uint64_t tested;       /* 1: by the hub's data, 0: by what nodes said;
                              SAVED_UNTOLD: by a hub that did not say */
    double first_score;    /* NO_SCORE: not known */
    const char *merge;     /* the merge rule's line, or NULL; in the text */
    const char *norms;     /* their line, or NULL; in the text */
    uint64_t live;         /* nodes of the last round; 0: not known */
    double usual;          /* and of late; 0: not known */
    uint64_t time;         /* for which the run has had a hub, in ns */
    uint64_t samples;      /* that it was trained on */
    struct hub_moved left; /* by nodes that are not listed */
    const char *kinds; /* the tensors', or NULL: all are trained; in the text */
    const char *tasks; /* the ledger's line, or NULL; in the text */
    const char *nodes; /* lines of each; in the text */
};

/* What the lines about a node say. */
struct saved_node {
    uint64_t high, low, incarnation, merged, key, iteration;
    struct hub_moved did; /* all 0: not known */
    const char *name;     /* up to the end of the line */
    const char *parted;   /* lines of its exchanges that were merged in part */
    unsigned parts;       /* how many */
    bool drained, pinned;
    uint64_t left, term, since; /* of a quarantine; term 0: there was none */
};

/* One of those exchanges. */
struct saved_part {
    uint64_t exchange;
    const char *verdicts; /* see saved_next_verdict */
};

#define SAVED_UNTOLD UINT64_MAX
enum { SAVED_MERGE_BYTES = 48 };

/* The word for what the merge rule keeps: its name, and of what if not of
 * progress. */
void saved_merge(const struct hub *hub, char word[SAVED_MERGE_BYTES]);
/* `text` ends with NUL. MALFORMED: it makes no sense; `saved` is undefined. */
enum status saved_read(struct saved *saved, const char *text, struct why *why);
/* Reads what is said of a node and goes to the next; false: there is none. */
bool saved_next_node(const char **text, struct saved_node *node);
/* The same for its exchanges, node->parts times. */
void saved_next_part(const char **text, struct saved_part *part);
/* A run of its chunks; false: there is none, or it makes no sense. */
bool saved_next_verdict(const char **text, enum verdict *verdict,
                        uint64_t *count);
/* A schema as the centre's file has it, with the kinds that the line says;
 * NULL: that makes no sense. */
struct schema *saved_schema(const struct saved *saved,
                            const struct schema *plain, struct why *why);
/* Reads the word `key`, if there is one, and a number behind it. */
bool saved_number(const char **text, const char *key, uint64_t *out);

#endif
