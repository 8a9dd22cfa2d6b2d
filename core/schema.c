#include "core/schema.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/text.h"

/* The longest line: a name, and a shape whose product is below 2^37. */
enum { LINE_BYTES = 160, FIRST_CAPACITY = 16 };

static const char *const dtype_names[DTYPES] = {[DTYPE_F32] = "f32"};
static const char *const kind_names[TENSOR_KINDS] = {
    [TENSOR_TRAINED] = "",
    [TENSOR_AVERAGED] = " averaged",
    [TENSOR_LARGEST] = " largest"};

struct schema *schema_new(void)
{
    return calloc(1, sizeof(struct schema));
}

void schema_destroy(struct schema **schema)
{
    if (!*schema)
        return;
    free((*schema)->tensors);
    free((*schema)->statistics.list);
    free(*schema);
    *schema = NULL;
}

static bool is_name(const char *name)
{
    size_t length = strnlen(name, SCHEMA_NAME_BYTES);

    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return false;
    return length > 0 && length < SCHEMA_NAME_BYTES;
}

/* The product of the dimensions, or 0 when one is 0 or it is above `most`. */
static uint64_t elements_of(unsigned rank, const uint64_t *shape, uint64_t most)
{
    uint64_t elements = 1;

    for (unsigned i = 0; i < rank; i++) {
        if (shape[i] == 0 || shape[i] > most / elements)
            return 0;
        elements *= shape[i];
    }
    return elements <= most ? elements : 0;
}

static void print_type(const struct tensor *tensor, struct text *out)
{
    text_add(out, "%s ", dtype_names[tensor->dtype]);
    for (unsigned i = 0; i < tensor->rank; i++)
        text_add(out, "%s%llu", i ? "," : "",
                 (unsigned long long)tensor->shape[i]);
    if (tensor->rank == 0)
        text_add(out, "-");
    text_add(out, "%s", kind_names[tensor->kind]);
}

/* Whether a tensor has this name; *place is where it is, or would be, among
 * the sorted ones. */
static bool find_name(const struct schema *schema, const char *name,
                      unsigned *place)
{
    unsigned low = 0, high = schema->count;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        unsigned number = schema->by_name[middle];
        int order = strcmp(name, schema->tensors[number].name);

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *place = low;
    return false;
}

static bool make_room(struct schema *schema)
{
    unsigned capacity =
        schema->capacity ? 2 * schema->capacity : FIRST_CAPACITY;
    struct tensor *tensors;

    if (schema->count < schema->capacity)
        return true;
    tensors = realloc(schema->tensors, capacity * sizeof *tensors);
    if (!tensors)
        return false;
    schema->tensors = tensors;
    schema->capacity = capacity;
    return true;
}

/* Fills in a tensor that would come next, or says why it cannot. */
static enum status describe(const struct schema *schema, const char *name,
                            unsigned rank, const uint64_t *shape,
                            struct tensor *out, struct why *why)
{
    uint64_t left = SCHEMA_MAX_ELEMENTS - schema->elements;

    memset(out, 0, sizeof *out);
    if (schema->count == SCHEMA_MAX_TENSORS)
        return because(why, STATUS_CONFIG, "a model has at most %d tensors",
                       SCHEMA_MAX_TENSORS);
    if (!is_name(name))
        return because(why, STATUS_CONFIG,
                       "tensor %u: a name has 1 to %d printable ASCII "
                       "characters and no blanks",
                       schema->count, SCHEMA_NAME_BYTES - 1);
    if (rank > SCHEMA_MAX_RANK)
        return because(why, STATUS_CONFIG,
                       "tensor %u \"%s\" has %u dimensions, at most %d are "
                       "allowed",
                       schema->count, name, rank, SCHEMA_MAX_RANK);
    out->elements = elements_of(rank, shape, left);
    if (out->elements == 0)
        return because(why, STATUS_CONFIG,
                       "tensor %u \"%s\" is empty or makes the model larger "
                       "than %llu elements",
                       schema->count, name,
                       (unsigned long long)SCHEMA_MAX_ELEMENTS);
    memcpy(out->name, name, strlen(name) + 1);
    out->rank = rank;
    if (rank)
        memcpy(out->shape, shape, rank * sizeof *shape);
    out->first = schema->elements;
    return STATUS_OK;
}

uint64_t schema_hash(const char *text, size_t size)
{
    return XXH3_64bits(text, size);
}

/* What was before is left out on failure by whoever asks. */
static bool note_statistic(struct schema *schema, const struct tensor *tensor)
{
    struct statistics *all = &schema->statistics;
    uint64_t end = tensor->first + tensor->elements;
    struct statistic *last =
        all->list && all->count ? &all->list[all->count - 1] : NULL;

    if (tensor->kind == TENSOR_TRAINED)
        return true;
    if (last && last->end == tensor->first && last->kind == tensor->kind) {
        last->end = end;
        return true;
    }
    if (!all->list || all->count == all->capacity) {
        unsigned capacity = all->capacity ? 2 * all->capacity : FIRST_CAPACITY;
        struct statistic *list = realloc(all->list, capacity * sizeof *list);

        if (!list)
            return false;
        all->list = list;
        all->capacity = capacity;
    }
    all->list[all->count++] =
        (struct statistic){tensor->first, end, tensor->kind};
    return true;
}

bool statistics_next(const struct statistics *statistics, uint64_t first,
                     size_t count, struct statistic_part *part)
{
    uint64_t from = first + part->at + part->count, end = first + count;
    unsigned low = 0, high = statistics ? statistics->count : 0;
    unsigned all = high;
    const struct statistic *next;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (statistics->list[middle].end > from)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == all || from >= end || statistics->list[low].first >= end)
        return false;
    next = &statistics->list[low];
    from = next->first > from ? next->first : from;
    end = next->end < end ? next->end : end;
    *part = (struct statistic_part){(size_t)(from - first),
                                    (size_t)(end - from), next->kind};
    return true;
}

bool schema_part(const struct schema *schema, uint64_t first, size_t count,
                 struct tensor_part *part)
{
    uint64_t from = first + part->at + part->count, end = first + count;
    unsigned low = 0, high = schema->count;
    const struct tensor *next;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        next = &schema->tensors[middle];
        if (next->first + next->elements > from)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == schema->count || from >= end)
        return false;
    next = &schema->tensors[low];
    if (next->first + next->elements < end)
        end = next->first + next->elements;
    *part = (struct tensor_part){next, (size_t)(from - first),
                                 (size_t)(end - from)};
    return true;
}

/* schema_add but for the hash. */
static enum status append(struct schema *schema, const struct tensor *tensor,
                          struct why *why)
{
    char bytes[LINE_BYTES];
    struct text line;
    unsigned place;

    if (find_name(schema, tensor->name, &place))
        return because(why, STATUS_CONFIG,
                       "tensor %u: the name \"%s\" is taken", schema->count,
                       tensor->name);
    text_init(&line, bytes, sizeof bytes);
    text_add(&line, "%s ", tensor->name);
    print_type(tensor, &line);
    text_add(&line, "\n");
    if (line.length > SCHEMA_MAX_TEXT_BYTES - schema->text_bytes)
        return because(why, STATUS_CONFIG,
                       "tensor %u \"%s\": the list of tensors is longer than "
                       "%d bytes",
                       schema->count, tensor->name, SCHEMA_MAX_TEXT_BYTES);
    if (!make_room(schema) || !note_statistic(schema, tensor))
        return because(why, STATUS_NO_MEMORY, "not enough memory for tensor %u",
                       schema->count);
    assert(!line.cut);
    memcpy(schema->text + schema->text_bytes, bytes, line.length);
    schema->text_bytes += line.length;
    memmove(&schema->by_name[place + 1], &schema->by_name[place],
            (schema->count - place) * sizeof schema->by_name[0]);
    schema->by_name[place] = (uint16_t)schema->count;
    schema->tensors[schema->count++] = *tensor;
    schema->elements += tensor->elements;
    return STATUS_OK;
}

/* Appends what is described, if it is well. */
static enum status add(struct schema *schema, const struct tensor *tensor,
                       enum status status, struct why *why)
{
    if (!status)
        status = append(schema, tensor, why);
    if (!status)
        schema->hash = schema_hash(schema->text, schema->text_bytes);
    return status;
}

enum status schema_add(struct schema *schema, const char *name, unsigned rank,
                       const uint64_t *shape, struct why *why)
{
    struct tensor tensor;
    enum status status = describe(schema, name, rank, shape, &tensor, why);

    return add(schema, &tensor, status, why);
}

enum status schema_add_tensor(struct schema *schema, const struct tensor *like,
                              struct why *why)
{
    struct tensor tensor;
    enum status status =
        describe(schema, like->name, like->rank, like->shape, &tensor, why);

    tensor.kind = like->kind;
    return add(schema, &tensor, status, why);
}

size_t schema_print(const struct schema *schema, char *text, size_t size)
{
    if (schema->text_bytes > size)
        return 0;
    if (schema->text_bytes)
        memcpy(text, schema->text, schema->text_bytes);
    return schema->text_bytes;
}

/* Bytes of a text that are still to be read. */
struct rest {
    const char *at, *end;
};

/* Moves what stands before `mark` to `out` as a string; false if there is no
 * such mark or the word has no room or holds a NUL. */
static bool read_word(struct rest *rest, char mark, char *out, size_t size)
{
    size_t left = (size_t)(rest->end - rest->at);
    const char *end = left ? memchr(rest->at, mark, left) : NULL;
    size_t length = end ? (size_t)(end - rest->at) : 0;

    if (!end || length >= size || memchr(rest->at, '\0', length))
        return false;
    memcpy(out, rest->at, length);
    out[length] = '\0';
    rest->at = end + 1;
    return true;
}

/* A positive number as it is printed: digits, the first not 0. */
static bool read_dimension(const char **text, uint64_t *out)
{
    const char *at = *text;
    uint64_t value = 0;

    if (*at < '1' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > SCHEMA_MAX_ELEMENTS)
            return false;
    }
    *text = at;
    *out = value;
    return true;
}

static bool read_shape(const char *text, unsigned *rank,
                       uint64_t shape[SCHEMA_MAX_RANK])
{
    *rank = 0;
    if (strcmp(text, "-") == 0)
        return true;
    for (; *rank < SCHEMA_MAX_RANK; text++) {
        if (!read_dimension(&text, &shape[*rank]))
            return false;
        ++*rank;
        if (*text != ',')
            return *text == '\0';
    }
    return false;
}

/* Cuts the word of a statistic off a shape. */
static enum tensor_kind cut_kind(char *shape)
{
    char *word = strchr(shape, ' ');

    for (int kind = TENSOR_TRAINED + 1; word && kind < TENSOR_KINDS; kind++)
        if (strcmp(word, kind_names[kind]) == 0) {
            *word = '\0';
            return (enum tensor_kind)kind;
        }
    return TENSOR_TRAINED;
}

/* Reads one line and appends its tensor. */
static enum status read_line(struct rest *rest, struct schema *schema,
                             struct why *why)
{
    char name[SCHEMA_NAME_BYTES], dtype[8], numbers[LINE_BYTES];
    uint64_t shape[SCHEMA_MAX_RANK];
    enum tensor_kind kind = TENSOR_TRAINED;
    struct tensor tensor;
    enum status status;
    unsigned rank;

    if (!read_word(rest, ' ', name, sizeof name) ||
        !read_word(rest, ' ', dtype, sizeof dtype) ||
        !read_word(rest, '\n', numbers, sizeof numbers) ||
        strcmp(dtype, dtype_names[DTYPE_F32]) != 0 ||
        (kind = cut_kind(numbers), !read_shape(numbers, &rank, shape)))
        return because(why, STATUS_MALFORMED,
                       "tensor %u of the schema is not a line such as "
                       "\"w1 f32 784,128\"",
                       schema->count);
    status = describe(schema, name, rank, shape, &tensor, why);
    tensor.kind = kind;
    return status ? status : append(schema, &tensor, why);
}

struct schema *schema_parse(const char *text, size_t size, struct why *why)
{
    struct rest rest = {text, text + size};
    struct schema *schema;

    if (size == 0 || size > SCHEMA_MAX_TEXT_BYTES) {
        (void)because(why, STATUS_MALFORMED,
                      "a schema has 1 to %d bytes, this one has %zu",
                      SCHEMA_MAX_TEXT_BYTES, size);
        return NULL;
    }
    schema = schema_new();
    if (!schema) {
        (void)because(why, STATUS_NO_MEMORY, "not enough memory for a schema");
        return NULL;
    }
    while (schema && rest.at < rest.end)
        if (read_line(&rest, schema, why))
            schema_destroy(&schema);
    if (schema)
        schema->hash = schema_hash(schema->text, schema->text_bytes);
    return schema;
}

static bool tensors_equal(const struct tensor *a, const struct tensor *b)
{
    return strcmp(a->name, b->name) == 0 && a->dtype == b->dtype &&
           a->rank == b->rank && a->kind == b->kind &&
           memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

static enum status say_difference(const struct tensor *ours,
                                  const struct tensor *theirs, unsigned number,
                                  struct why *why)
{
    char bytes[sizeof(struct why)];
    struct text sentence;

    text_init(&sentence, bytes, sizeof bytes);
    text_add(&sentence, "tensor %u: \"%s\" ", number, ours->name);
    print_type(ours, &sentence);
    text_add(&sentence, " in the run, \"%s\" ", theirs->name);
    print_type(theirs, &sentence);
    return because(why, STATUS_CONFIG, "%s at the node", bytes);
}

enum status schema_compare(const struct schema *ours,
                           const struct schema *theirs, struct why *why)
{
    for (unsigned i = 0; i < ours->count && i < theirs->count; i++)
        if (!tensors_equal(&ours->tensors[i], &theirs->tensors[i]))
            return say_difference(&ours->tensors[i], &theirs->tensors[i], i,
                                  why);
    if (ours->count == theirs->count)
        return STATUS_OK;
    if (ours->count > theirs->count)
        return because(why, STATUS_CONFIG,
                       "tensor %u \"%s\" is missing at the node", theirs->count,
                       ours->tensors[theirs->count].name);
    return because(why, STATUS_CONFIG, "tensor %u \"%s\" is missing in the run",
                   ours->count, theirs->tensors[ours->count].name);
}
