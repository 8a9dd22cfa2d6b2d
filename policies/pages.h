/* Policies in words: for --help, the manual page and the head of a run. */
#ifndef POLICIES_PAGES_H
#define POLICIES_PAGES_H

#include "core/text.h"
#include "policies/policy.h"

/* Every preset, then every rule by kind, with what it does: as --help has it,
 * and as sections of a manual page. */
void policies_print_help(struct text *out);
void policies_print_man(struct text *out);

/* What of the policy is not plain, each behind a blank: rules other than the
 * first of their kind, the exchange unless it is delta, and numbers other than
 * policy_defaults: " merge delayed outer-lr 0.25". */
void policy_describe(const struct policy *policy, struct text *out);

#endif
