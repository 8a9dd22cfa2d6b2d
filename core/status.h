/* How operations end: one list of outcomes, their words and exit codes.
 *
 * Errors are of three kinds. A bug is an assert. The outside world (files,
 * options, peers) is a status, with one sentence for people in a struct why.
 * Running out of memory at start-up exits; for payloads it is a status. */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

enum status {
#define STATUS(name, code, words) STATUS_##name,
#include "core/status.def"
#undef STATUS
    STATUSES
};

/* One sentence that says what is wrong and what to do next. */
struct why {
    char text[320];
};

#if defined(__GNUC__)
#define FORMAT(string, first) __attribute__((format(printf, string, first)))
#define MUST_CHECK __attribute__((warn_unused_result))
#else
#define FORMAT(string, first)
#define MUST_CHECK
#endif

const char *status_name(enum status status);
const char *status_words(enum status status);
int status_exit_code(enum status status);

/* Writes the sentence into `why`, which may be NULL. */
void explain(struct why *why, const char *format, ...) FORMAT(2, 3);
/* Explains and gives `outcome`, so that a function can end with
 * `return because(why, STATUS_IO, ...)`. A macro, so that analysers see it. */
#define because(why, outcome, ...)                                             \
    (explain((why), __VA_ARGS__), (enum status)(outcome))

#endif
