/* Traces and scenarios from their files; errors name the file. */
#ifndef SIM_STUDY_FILES_H
#define SIM_STUDY_FILES_H

#include <stddef.h>

#include "core/status.h"

struct trace;
struct script;

/* No file of these kinds is longer: they are held in memory. */
#define LONGEST_FILE ((size_t)1 << 30)

/* MALFORMED: the file is compressed. */
enum status files_check(const char *path, const char *text, size_t size,
                        struct why *why) MUST_CHECK;

/* IO, MALFORMED, NO_MEMORY; CONFIG: longer than LONGEST_FILE. An empty path is
 * no file: OK, and `out` unchanged. */
enum status trace_load(const char *path, struct trace **out,
                       struct why *why) MUST_CHECK;
enum status script_load(const char *path, struct script **out,
                        struct why *why) MUST_CHECK;

#endif
