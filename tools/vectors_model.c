#include "tools/vectors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "codec/manifest.h"
#include "codec/payload.h"
#include "node/work.h"

/* ---- models and their chunks ---- */

static const struct model {
    const char *text;
    uint32_t chunk_elements;
} models[] = {{"w f32 3,100\nb f32 5\nv f32 2,60\ns f32 -\n", 280},
              {"m f32 5,1000\n", 5000},
              {"w f32 784,10\nb f32 10\ntemperature f32 -\n", 1000}};

static float value_of(uint64_t i)
{
    int whole = (int)((i * 40503 + 12345) % 65536) - 32768;

    return ldexpf((float)whole, -8 - (int)(i % 8));
}

static struct schema *parse(const struct model *model)
{
    struct schema *schema =
        schema_parse(model->text, strlen(model->text), NULL);

    if (!schema)
        failed("a schema cannot be read");
    return schema;
}

static float *vector_of(const struct schema *schema)
{
    float *values = calloc(schema->elements, sizeof *values);

    if (!values)
        failed("no memory");
    for (uint64_t i = 0; i < schema->elements; i++)
        values[i] = value_of(i);
    return values;
}

static void put_tensors(const struct schema *schema)
{
    printf("\"tensors\": [");
    for (unsigned i = 0; i < schema->count; i++) {
        const struct tensor *tensor = &schema->tensors[i];

        printf("%s\n    {\"name\": \"%s\", \"first\": %" PRIu64
               ", \"elements\": %" PRIu64 ", \"exempt\": %s}",
               i ? "," : "", tensor->name, tensor->first, tensor->elements,
               tensor->rank < 2 ? "true" : "false");
    }
    printf("]");
}

void put_models(void)
{
    printf("\"models\": [");
    for (size_t i = 0; i < LENGTH(models); i++) {
        struct schema *schema = parse(&models[i]);
        float *values = vector_of(schema);
        size_t size = schema->elements * sizeof *values;

        printf("%s\n  {", i ? "," : "");
        put_text("schema", schema->text);
        printf(", \"hash\": %" PRIu64 ", \"elements\": %" PRIu64
               ",\n   \"chunk_elements\": %" PRIu32 ", \"chunks\": %" PRIu32
               ", \"lineage\": %" PRIu64 ",\n   ",
               schema->hash, schema->elements, models[i].chunk_elements,
               chunks_of(schema->elements, models[i].chunk_elements),
               (uint64_t)XXH3_64bits(values, size) | 1);
        put_tensors(schema);
        printf("}");
        free(values);
        schema_destroy(&schema);
    }
    printf("\n]");
}

/* What others read from a payload, in float32. */
static void decode(const struct extent *extent, enum codec_id codec,
                   const unsigned char *payload, float *to)
{
    double tile[CODEC_GRAIN];

    for (size_t first = 0; first < extent->elements; first += CODEC_GRAIN) {
        size_t left = extent->elements - first;
        size_t count = left < CODEC_GRAIN ? left : CODEC_GRAIN;

        memset(tile, 0, sizeof tile);
        payload_add(extent, codec, payload, first, count, 1, tile);
        for (size_t i = 0; i < count; i++)
            to[first + i] = (float)tile[i];
    }
}

/* A long one by its hashes. */
static void put_chunk(const struct model *model, uint32_t chunk,
                      enum codec_id codec)
{
    struct schema *schema = parse(model);
    struct exempt *exempt = exempt_new(schema);
    struct extent extent =
        extent_of(exempt, schema->elements, model->chunk_elements, chunk);
    size_t size = payload_bytes(&extent, codec);
    unsigned char *payload = calloc(1, size);
    float *values = vector_of(schema);
    float *decoded = calloc(extent.elements, sizeof *decoded);

    if (!exempt || !payload || !decoded)
        failed("no memory");
    payload_encode(&extent, codec, values + extent.first, payload);
    decode(&extent, codec, payload, decoded);
    printf("\n  {\"model\": %d, \"chunk\": %" PRIu32 ", \"codec\": \"%s\", "
           "\"bytes\": %zu, ",
           (int)(model - models), chunk, codecs[codec].name, size);
    put_hash("checksum", payload, size);
    if (extent.elements < CODEC_GRAIN) {
        printf(",\n   ");
        put_hex("payload", payload, size);
        printf(",\n   ");
        put_hex("decoded", decoded, extent.elements * sizeof *decoded);
    } else {
        printf(",\n   ");
        put_hash("decoded_hash", decoded, extent.elements * sizeof *decoded);
    }
    printf("}");
    free(values);
    free(payload);
    free(decoded);
    exempt_destroy(&exempt);
    schema_destroy(&schema);
}

void put_chunks(void)
{
    printf("\"chunks\": [");
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        printf("%s", codec ? "," : "");
        put_chunk(&models[0], 0, codec);
        printf(",");
        put_chunk(&models[0], 1, codec);
        printf(",");
        put_chunk(&models[1], 0, codec);
    }
    printf("\n]");
}

/* ---- what a result does ---- */

static struct blob *blob_of(struct pool *pool, const float *values,
                            size_t count)
{
    struct blob *blob = blob_new(pool, count * sizeof *values);

    if (blob) {
        memcpy(blob->bytes, values, count * sizeof *values);
        blob_seal(blob);
    } else {
        failed("no memory");
    }
    return blob;
}

static void put_rebase(double weight, bool last)
{
    static const float before[] = {1.1F, -2.3F, 3e-5F, 1e6F},
                       sent[] = {1, -2.25F, 2.9e-5F, 1e6F},
                       result[] = {.7F, -2.2F, -1e-4F, 1000001.5F};
    enum { COUNT = LENGTH(before) };
    struct pool *pool = pool_new();
    struct job *job = job_new(&work_correct, pool, 2);
    float after[COUNT];

    job->in[0] =
        (struct input){blob_of(pool, result, COUNT), weight, CODEC_RAW};
    job->in[1] = (struct input){blob_of(pool, sent, COUNT), -weight, CODEC_RAW};
    job->extent.elements = COUNT;
    job->tag[2] = job->in[0].blob->checksum;
    job_run(job);
    if (job->status != STATUS_OK)
        failed("a result cannot be worked out");
    for (unsigned i = 0; i < COUNT; i++)
        after[i] = before[i] + blob_floats(job->out[0])[i];
    printf("\n  {\"weight\": %.17g,\n   ", weight);
    put_hex("x", before, sizeof before);
    printf(",\n   ");
    put_hex("x_sent", sent, sizeof sent);
    printf(",\n   ");
    put_hex("v", result, sizeof result);
    printf(",\n   ");
    put_hex("c", job->out[0]->bytes, job->out[0]->size);
    printf(",\n   ");
    put_hex("after", after, sizeof after);
    printf("}%s", last ? "" : ",");
    job_destroy(&job);
    pool_destroy(&pool);
}

void put_rebases(void)
{
    printf("\"rebase\": [");
    put_rebase(1, false);
    put_rebase(.3, true);
    printf("]");
}

/* ---- a manifest ---- */

void put_manifest(void)
{
    static const char state[] = "run 7\nepoch 4294967298\nversion 9\n";
    static const uint64_t versions[] = {7, 9};
    struct schema *schema = parse(&models[0]);
    float *values = vector_of(schema);
    size_t size = manifest_bytes(2, sizeof state - 1);
    unsigned char *bytes = calloc(1, size), key[MANIFEST_KEY_BYTES];

    if (!bytes)
        failed("no memory");
    for (unsigned i = 0; i < sizeof key; i++)
        key[i] = (unsigned char)i;
    manifest_begin(bytes, 2, state, sizeof state - 1);
    for (uint32_t i = 0; i < 2; i++)
        manifest_add(bytes, i, versions[i],
                     values + (size_t)i * models[0].chunk_elements,
                     sizeof *values * chunk_length(schema->elements,
                                                   models[0].chunk_elements,
                                                   i));
    manifest_seal(bytes, key);
    printf("\"manifest\": {\"model\": 0, \"versions\": [7, 9], ");
    put_text("state", state);
    printf(",\n  ");
    put_hex("key", key, sizeof key);
    printf(",\n  ");
    put_hex("bytes", bytes, size);
    printf("}");
    free(bytes);
    free(values);
    schema_destroy(&schema);
}
