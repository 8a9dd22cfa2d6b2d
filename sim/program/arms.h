/* Output of compare and sweep: the arms that they have run. */
#ifndef SIM_PROGRAM_ARMS_H
#define SIM_PROGRAM_ARMS_H

#include <stdbool.h>

#include "core/text.h"
#include "sim/study/arms.h"

enum { ARMS_HEAD_BYTES = 16 * 1024, ARMS_NAME_BYTES = 300 };

/* A command. */
struct arms_study {
    bool sweeps; /* else it compares policies */
    /* Reads the grid; USAGE. */
    enum status (*read)(const struct options *options, struct grid *grid,
                        struct why *why);
    /* Adds the lines that stand above all results: what is simulated, and what
     * is varied. Fails where nothing can be played. */
    enum status (*describe)(const struct arms *arms, struct text *out,
                            struct why *why);
    struct arms *arms;
    bool whole; /* it was not interrupted */
    char head[ARMS_HEAD_BYTES];
};

/* ---- words ---- */

/* The measure that arms are compared by: "seconds to loss 0.1", "loss at the
 * end". */
void arms_say_measure(const struct arms *arms, struct text *out);
/* A result as it stands in tables: 8.14, never. */
void arms_say_number(double value, struct text *out);
/* How the best is beside this one, seed by seed: a sentence without its full
 * stop. */
void arms_say_beside(const struct arms *arms, unsigned place, struct text *out);
/* The worth of one of the options: "every 10: 1, 20: 1.24, 50: 1.7". */
void arms_say_worth(const struct arms *arms, const struct worth *worth,
                    struct text *out);
/* Whether the difference to the best is below two standard errors. */
bool arms_are_alike(const struct arms *arms, unsigned place);

/* ---- tables ---- */

struct arms_column {
    const char *title;     /* NULL: what arms_say_measure says */
    bool words;            /* else numbers, which are put to the right */
    bool compares, sweeps; /* who has it */
    void (*add)(const struct arms *arms, unsigned place, struct text *out);
};

extern const struct arms_column arms_columns[];
extern const unsigned arms_column_count;

bool arms_has_column(const struct arms_study *study, unsigned column);
void arms_add_title(const struct arms_study *study, unsigned column,
                    struct text *out);

/* How many rows a table of so many at most has: the refused have none. */
unsigned arms_rows(const struct arms *arms, unsigned most);

/* ---- the commands ---- */

/* Plays what `read` and `describe` make of the words, and says all there is to
 * say: table or JSON, what went wrong, and the report that --report wants.
 * Returns the exit code. */
int arms_command(struct arms_study *study, int count, char **words);

void arms_print_json(const struct arms *arms);
/* A page of HTML with plots. IO, NO_MEMORY. */
enum status arms_report(const struct arms_study *study, const char *path,
                        struct why *why) MUST_CHECK;

#endif
