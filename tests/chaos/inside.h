/* What the files of the judge share. */
#ifndef TESTS_CHAOS_INSIDE_H
#define TESTS_CHAOS_INSIDE_H

#include "core/fragment.h"
#include "core/words.h"
#include "tests/chaos/chaos.h"
#include "tests/chaos/judge.h"

enum { MOST_CHUNKS = 8, OPEN = VERDICT_COUNT, ANSWERED_BY_WELCOME };

/* ---- lines ---- */

/* A line of a recording. */
struct entry {
    const char *path;
    unsigned line;
    nanos now;
    bool effect;
    const char *verb; /* join, leave, message, send, note ... */
    uint64_t peer;
    const char *kind; /* of a message or note */
    const char *rest; /* its fields, each behind a blank */
};

/* What is done at a line: of this verb, of this kind. */
struct reader {
    const char *verb, *kind;
    void (*read)(void *of, const struct entry *entry);
};

/* Reads all whole lines; false: there is no such file. `now` is what time it
 * was last. */
bool entries_read(const char *path, const struct reader *readers, void *of,
                  nanos *now);
uint64_t entry_number(const struct entry *entry, const char *field);
/* Whether the text of a field is this. */
bool entry_text_is(const struct entry *entry, const char *field,
                   const char *text);
/* Of a WELCOME: whether the hub has a centre, or is content without one. */
bool start_settles(const struct entry *entry);
/* The number behind `word` in a note; false: it is not there. */
bool entry_noted(const struct entry *entry, const char *word, uint64_t *out);

/* ---- what is known ---- */

struct chunk {
    unsigned told, sent; /* to the node, by the hub: verdict, or OPEN */
    uint64_t version;    /* that holds it; 0: not said */
};

struct offer {
    nanos offered;        /* 0: not yet */
    struct fragment part; /* the chunks that it holds */
    struct chunk chunks[MOST_CHUNKS];
};

/* One life of a process. */
struct life {
    unsigned actor, number;
    nanos begin, end; /* end NEVER: not told */
    int code;
    /* Of a node. */
    uint64_t incarnation;
    struct offer *exchanges; /* from number 0, which is none */
    size_t count, room;
    /* Of a hub. */
    nanos welcomed, merged;  /* first; 0: never */
    nanos settled;           /* first WELCOME by a hub with a centre */
    bool placed;             /* there was one */
    uint64_t from, saved;    /* version it went on with; newest saved */
    uint64_t kept[ACTORS];   /* newest that a node kept meanwhile */
    unsigned keeper[ACTORS]; /* in which life */
};

/* Time in which somebody had a fault. */
struct span {
    enum fault fault;
    unsigned actor, life;
    nanos from, to;
};

/* Where a node was, over all its lives. */
struct place {
    uint64_t run, epoch, version;
    nanos seen; /* when it was told so */
};

/* Numbers whose least, median and greatest are told. */
struct numbers {
    double *list;
    size_t count;
};

struct judge {
    const char *folder;
    const struct judge_limits *limits;
    FILE *out;
    unsigned violations;
    struct life *lives;
    size_t life_count;
    struct span *spans;
    size_t span_count;
    nanos quiet, close; /* NEVER: not reached */
    unsigned actors;
    struct place places[ACTORS];
    nanos alive[ACTORS]; /* when it was live after all was quiet; 0: never */
    uint64_t begins[FAULTS];
    /* Figures. */
    unsigned chunks; /* of an exchange */
    uint64_t exchanges, told[VERDICT_COUNT], by_welcome, open, agreed;
    uint64_t forgotten; /* chunks told merged, then not in the saved centre */
    uint64_t newest;    /* version */
    double most_memory;
    struct numbers pauses, loads, welcomes, merges, lives_again, verdicts;
};

/* Says a violation; the first of them are printed. */
void violated(struct judge *judge, const struct entry *entry,
              const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *actor_name(unsigned actor, char name[NAME_BYTES]);
unsigned actor_of(const char *name); /* ACTORS: nobody's */
void numbers_add(struct numbers *numbers, double number);
/* How long somebody was stopped between the two. */
nanos stopped_between(const struct judge *judge, const struct life *life,
                      nanos from, nanos to);
/* Whether a fault of its own kept somebody from being there. */
bool was_disturbed(const struct judge *judge, unsigned actor, nanos from,
                   nanos to);
/* The hub's life at that time, or NULL. */
struct life *hub_at(struct judge *judge, nanos now);
/* Makes room for the exchange. */
struct offer *exchange_at(struct life *life, uint64_t number);

void judge_chaos(struct judge *judge, const char *path);
void judge_node(struct judge *judge, struct life *life, const char *path);
/* All nodes have been judged, and the hub's lives before. */
void judge_hub(struct judge *judge, struct life *life, struct life *before,
               const char *path);
/* What only all together say. */
void judge_exchanges(struct judge *judge);
void judge_print(const struct judge *judge);

#endif
