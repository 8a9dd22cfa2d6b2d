/* Output shared by the commands that run scenarios. */
#ifndef SIM_PROGRAM_RUN_H
#define SIM_PROGRAM_RUN_H

#include "core/text.h"
#include "sim/study/scenario.h"

/* Reads the options of a command; words[0] is its name. False: there is
 * nothing more to do, and *code is what to end with: help was wanted, or the
 * options are wrong, which has been said. */
bool run_options(int count, char **words, struct options *out, int *code);

/* "starswitch-sim: SENTENCE" on standard error; and returns the exit code. */
void run_complain(void *of, const char *sentence);
int run_fail(enum status status, const struct why *why);

/* The lines above all results: the star that is simulated. */
void run_describe(const struct scenario *scenario, struct text *out);
/* These lines apart: compute and star, and the policy with its numbers. */
void run_describe_star(const struct scenario *scenario, struct text *out);
void run_describe_policy(const struct scenario *scenario, struct text *out);
/* The goal, as words: "loss 0.1", "87 % accuracy"; nothing where none is. */
void run_goal(const struct options *options, struct text *out);
/* An outcome as the members of a JSON object, without its braces. */
void run_json(const struct outcome *outcome, struct text *out);

#endif
