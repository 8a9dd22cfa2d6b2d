/* The codecs in words: for --help and the manual pages. */
#ifndef CODEC_PAGES_H
#define CODEC_PAGES_H

#include "codec/codec.h"
#include "core/text.h"

/* Every codec, what it takes and what it is: as --help has it, and as a
 * section of a manual page. */
void codecs_print_help(struct text *out);
void codecs_print_man(struct text *out);

/* Which codecs a run has, as its head shows it: " codec int8", or " codec-up
 * int8 codec-down raw". */
void codecs_describe(enum codec_id up, enum codec_id down, struct text *out);

#endif
