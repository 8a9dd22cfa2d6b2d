/* The text behind "mlp:", "cnn:", "lm:" or "gpt:", read into numbers.
 *
 * Parts are separated by commas: NAME=VALUE with a name of numbers.def,
 * optimizer=NAME of optimizers.def, but for gpt hidden=128-64 (widths of the
 * hidden layers), for cnn channels=16-32 (of what each block gives), and but
 * for lm a first part without a name. That of mlp: 784-128-10 is all widths, a
 * single 128 is one hidden layer, input and output as the data wants. That of
 * cnn: C16-C32-H64, channels, then hidden layers. That of gpt: L4-D128-H4-T64,
 * layers, width, heads and context in any order. What is left out has its
 * default. */
#ifndef TRAIN_SPEC_H
#define TRAIN_SPEC_H

#include "core/status.h"
#include "train/convolution.h"
#include "train/dense.h"
#include "train/optimizer.h"

enum spec_model { SPEC_MLP, SPEC_CNN, SPEC_LM, SPEC_GPT, SPEC_MODELS };

enum spec_number {
#define NUMBER(ID, name, kind, models, least, most, mlp, cnn, lm, gpt, doc)    \
    SPEC_##ID,
#include "train/numbers.def"
#undef NUMBER
    SPEC_NUMBERS
};

struct spec {
    double number[SPEC_NUMBERS];
    enum optimizer_kind optimizer;
    size_t channels[CONVOLUTION_BLOCKS_MAX];
    unsigned channel_count;
    size_t widths[DENSE_LAYERS_MAX + 1];
    unsigned width_count;
    int complete; /* the widths include input and output */
};

/* STATUS_USAGE says which part is wrong and what is possible. */
enum status spec_parse(const char *text, enum spec_model model,
                       struct spec *out, struct why *why) MUST_CHECK;
/* Puts input and output around hidden widths; STATUS_CONFIG when the complete
 * widths say otherwise: the input must be equal, the output not smaller. */
enum status spec_complete(struct spec *spec, size_t inputs, size_t outputs,
                          struct why *why) MUST_CHECK;
/* Writes "784-128-10"; cut off at `size` bytes with the final zero. */
void spec_print_widths(const struct spec *spec, char *out, size_t size);
struct optimizer_settings spec_optimizer(const struct spec *spec);

#endif
