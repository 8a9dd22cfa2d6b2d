#include "codec/pages.h"

enum { DOC = 17, WIDTH = 80 };

static const char *use_words(enum codec_use use)
{
    return use == CODEC_FOR_ALL ? "" : "; for changes and gradients";
}

static void add_words(const struct codec *codec, size_t column,
                      struct text *out)
{
    char bytes[256];
    struct text words;

    text_init(&words, bytes, sizeof bytes);
    text_add(&words, "%g bits: %s%s", codec->bits, codec->doc,
             use_words(codec->use));
    if (column) {
        text_wrap(out, bytes, column, WIDTH);
        return;
    }
    for (const char *at = bytes; *at; at++)
        text_add(out, *at == '-' ? "\\-" : "%c", *at);
}

void codecs_print_help(struct text *out)
{
    text_add(out, "\n--codec-up, --codec-down: how the values are encoded\n");
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        text_add(out, "  %s", codecs[i].name);
        text_pad(out, DOC);
        add_words(&codecs[i], DOC, out);
        text_add(out, "\n");
    }
}

void codecs_print_man(struct text *out)
{
    text_add(out, ".SH CODECS\n");
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        text_add(out, ".TP\n.B %s\n", codecs[i].name);
        add_words(&codecs[i], 0, out);
        text_add(out, "\n");
    }
}

void codecs_describe(enum codec_id up, enum codec_id down, struct text *out)
{
    if (up == down)
        text_add(out, " codec %s", codecs[up].name);
    else
        text_add(out, " codec-up %s codec-down %s", codecs[up].name,
                 codecs[down].name);
}
