/* How fast codecs encode and add on one thread, in GB of float32 per second,
 * beside memcpy of the same bytes (counted once) in the same round. A line of
 * JSON for each codec and operation, medians of the rounds. Encoding goes grain
 * by grain, adding into a tile that stays in the cache, as the machines' jobs
 * do it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "bench/kit/kit.h"
#include "codec/codec.h"
#include "core/cpu.h"
#include "core/prng.h"

enum { MOST_ROUNDS = 1000 };

static const char *const level_names[CPU_COUNT] = {"plain", "base", "avx2",
                                                   "avx512"};

struct stream {
    size_t elements;
    float *values, *copy;
    unsigned char *bytes; /* room for any payload of them */
};

struct work {
    const char *name, *operation;
    double target; /* GB/s over those of memcpy; 0: none */
    void (*run)(const struct stream *stream, const struct codec *codec);
    const struct codec *codec; /* NULL: no codec's */
};

/* Of this thread, so that what else the machine does counts less. */
static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- what is measured ---- */

/* Seen by nobody, so that no compiler leaves out what is measured. */
static volatile double sink;

static size_t grain_at(const struct stream *stream, size_t first)
{
    size_t left = stream->elements - first;

    return left < CODEC_GRAIN ? left : CODEC_GRAIN;
}

static void encode(const struct stream *stream, const struct codec *codec)
{
    for (size_t at = 0; at < stream->elements; at += CODEC_GRAIN)
        codec->encode(stream->values + at, at, grain_at(stream, at),
                      stream->elements, stream->bytes);
}

static void add(const struct stream *stream, const struct codec *codec)
{
    double tile[CODEC_GRAIN];

    for (size_t at = 0; at < stream->elements; at += CODEC_GRAIN) {
        size_t count = grain_at(stream, at);

        memset(tile, 0, count * sizeof *tile);
        codec->add(stream->bytes, at, count, stream->elements, 0.5, tile);
        sink = tile[count - 1];
    }
}

static void check_sum(const struct stream *stream, const struct codec *codec)
{
    (void)codec;
    sink = (double)XXH3_64bits(stream->values,
                               stream->elements * sizeof *stream->values);
}

static void copy(const struct stream *stream)
{
    memcpy(stream->copy, stream->values,
           stream->elements * sizeof *stream->values);
    sink = (double)stream->copy[stream->elements - 1];
}

/* ---- medians of rounds ---- */

/* The first round, which warms up, does not count. */
static void measure(const struct stream *stream, const struct work *work,
                    unsigned rounds)
{
    static double speed[MOST_ROUNDS], copying[MOST_ROUNDS], ratio[MOST_ROUNDS];
    double gigabytes = 1e-9 * (double)stream->elements * (double)sizeof(float);

    for (unsigned i = 0; i <= rounds; i++) {
        unsigned place = i ? i - 1 : 0;
        double begin = now(), middle;

        work->run(stream, work->codec);
        middle = now();
        copy(stream);
        speed[place] = gigabytes / (middle - begin);
        copying[place] = gigabytes / (now() - middle);
        ratio[place] = speed[place] / copying[place];
    }
    (void)printf("{\"bench\":\"codec_speed\",\"codec\":\"%s\","
                 "\"operation\":\"%s\",\"level\":\"%s\",\"gb_per_s\":%.2f,"
                 "\"memcpy_gb_per_s\":%.2f,\"ratio\":%.3f",
                 work->name, work->operation, level_names[cpu_level()],
                 median(speed, rounds), median(copying, rounds),
                 median(ratio, rounds));
    if (work->target > 0)
        (void)printf(",\"target\":%.2f", work->target);
    (void)printf("}\n");
    (void)fflush(stdout);
}

static double encode_target(enum codec_id codec)
{
    switch (codec) {
    case CODEC_F16:
    case CODEC_BF16:
    case CODEC_SIGN:
        return 0.5;
    case CODEC_INT8:
        return 0.4;
    case CODEC_INT4:
        return 0.35;
    case CODEC_TOP1:
        return 0.1;
    default:
        return 0;
    }
}

static void measure_all(const struct stream *stream, unsigned rounds)
{
    for (int i = 0; i < CODEC_COUNT; i++) {
        enum codec_id id = (enum codec_id)i;
        double target = encode_target(id);
        struct work encoding = {codecs[i].name, "encode", target, encode,
                                &codecs[i]};
        struct work adding = {codecs[i].name, "add",
                              id == CODEC_TOP1 ? 0 : target, add, &codecs[i]};

        measure(stream, &encoding, rounds);
        measure(stream, &adding, rounds);
    }
    measure(stream, &(struct work){"xxh3", "checksum", 0, check_sum, NULL},
            rounds);
}

/* ---- the stream ---- */

static void fill(const struct stream *stream)
{
    enum { PERIOD = 1 << 20 };
    struct prng prng;

    prng_seed(&prng, 1);
    for (size_t i = 0; i < stream->elements; i++)
        stream->values[i] =
            i < PERIOD ? (float)prng_normal(&prng) : stream->values[i - PERIOD];
    memset(stream->bytes, 0, stream->elements * sizeof *stream->values);
}

static void make(struct stream *stream, size_t megabytes)
{
    stream->elements = megabytes << 18;
    stream->values = malloc(stream->elements * sizeof *stream->values);
    stream->copy = malloc(stream->elements * sizeof *stream->copy);
    stream->bytes = malloc(codecs[CODEC_RAW].bound(stream->elements));
    if (!stream->values || !stream->copy || !stream->bytes)
        give_up("codec_speed: no memory for %zu MiB", megabytes);
    fill(stream);
    copy(stream);
}

static void drop(struct stream *stream)
{
    free(stream->bytes);
    free(stream->copy);
    free(stream->values);
}

/* ---- what is asked for ---- */

static void limit(const char *name)
{
    for (int i = 0; i < CPU_COUNT; i++)
        if (strcmp(level_names[i], name) == 0) {
            (void)cpu_limit((enum cpu_level)i);
            return;
        }
    give_up("codec_speed: --level %s: say plain, base, avx2 or avx512", name);
}

int main(int argc, char **argv)
{
    unsigned megabytes = 256, rounds = 5;
    const char *level = NULL;
    const struct setting settings[] = {
        {"megabytes", SETTING_COUNT, &megabytes, "MiB of float32 (256)"},
        {"rounds", SETTING_COUNT, &rounds, "rounds of each figure (5)"},
        {"level", SETTING_TEXT, &level,
         "plain, base, avx2 or avx512 (the machine's best)"},
    };
    struct stream stream;

    (void)settings_read(argc, argv, "How fast do codecs encode and add?",
                        settings, sizeof settings / sizeof *settings);
    if (rounds > MOST_ROUNDS)
        give_up("codec_speed: at most %d rounds", MOST_ROUNDS);
    if (level)
        limit(level);
    make(&stream, megabytes);
    measure_all(&stream, rounds);
    drop(&stream);
    return 0;
}
