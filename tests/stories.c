/* Runs the stories: tests/stories/NAME.story, what happens in a star and what
 * hub and nodes must have to say about it.
 *
 *     # lines of people
 *     set k 4                 before the rest: k d required iterations save
 *     nodes 2                 n1 and n2, not started
 *     odd                     another node, of another model
 *     at 2.5s crash hub       what sim/study/script.h reads
 *     until 10s
 *     expect
 *     hub node_joined n1      a note: who says it, which, about whom
 *     n1 hub_attached ...     "..." stands for any number of lines
 *
 * An expected line is the beginning of what was said, whose sentence follows
 * a colon. Notes below INFO and those about saving and the best are left out.
 * STARSWITCH_STORY=1 prints what each story really says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/script.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { LINES = 512, LINE_BYTES = 280, NODES = 8, STORY_BYTES = 16384 };

struct story {
    const char *path;
    char text[STORY_BYTES];
    const char *expected; /* in text: the lines after `expect` */
    struct lab *lab;
    struct schema *odd;
    nanos until;
    struct script *script;
    char said[LINES][LINE_BYTES];
    unsigned said_count;
};

static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};

/* ---- what is said ---- */

static bool is_told(const struct effect *effect)
{
    return effect->kind == EFFECT_NOTE &&
           note_level(effect->note.kind) >= LEVEL_INFO &&
           effect->note.kind != NOTE_BEST && effect->note.kind != NOTE_SAVED;
}

static void keep_notes(struct lab *lab, const struct world_step *step)
{
    struct story *story = lab->own;
    char who[16] = "hub";

    if (step->process != WORLD_HUB)
        (void)snprintf(who, sizeof who, "n%u", step->process + 1);
    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];

        if (is_told(effect) && story->said_count < LINES)
            (void)snprintf(story->said[story->said_count++], LINE_BYTES,
                           "%s %s %s: %s", who, note_name(effect->note.kind),
                           effect->note.subject, effect->note.text);
    }
}

/* ---- the scenario ---- */

static nanos time_of(const char *text)
{
    return (nanos)(strtod(text, NULL) * 1000) * MILLISECOND;
}

static bool set(struct hub_config *hub, const char *key, const char *value)
{
    unsigned long number = strtoul(value, NULL, 10);

    if (strcmp(key, "k") == 0)
        hub->every = number;
    else if (strcmp(key, "d") == 0)
        hub->delay = number;
    else if (strcmp(key, "required") == 0)
        hub->nodes = (unsigned)number;
    else if (strcmp(key, "iterations") == 0)
        hub->iterations = number;
    else if (strcmp(key, "save") == 0)
        hub->save_interval = (nanos)number * SECOND;
    else
        return false;
    return true;
}

static void open_once(struct story *story)
{
    if (!story->lab->world)
        lab_open(story->lab, 1);
}

static void add_odd(struct story *story)
{
    static const float start[8];
    const uint64_t shape[1] = {8};
    struct world_node node = {.name = "odd",
                              .trainer = {.start = start,
                                          .elements = 8,
                                          .step = 100 * MILLISECOND,
                                          .rate = 1,
                                          .gradient = trainer_drift,
                                          .context = &drift}};

    if (!story->odd) {
        story->odd = schema_new();
        CHECK_OK(schema_add(story->odd, "other", 1, shape, NULL));
    }
    node.schema = story->odd;
    (void)world_add_node(story->lab->world, &node);
}

static void add_nodes(struct story *story, unsigned count)
{
    for (unsigned i = 0; i < count && i < NODES; i++) {
        char name[8];

        (void)snprintf(name, sizeof name, "n%u", i + 1);
        lab_describe(story->lab, name, &drifting);
    }
}

/* One line of the scenario; false: nobody understands it. */
static bool obey(struct story *story, char *line)
{
    char one[24], two[24];
    struct why why;

    if (line[0] == '#' || line[0] == '\0')
        return true;
    if (sscanf(line, "set %23s %23s", one, two) == 2)
        return set(&story->lab->config.hub, one, two);
    open_once(story);
    if (sscanf(line, "nodes %23s", one) == 1)
        add_nodes(story, (unsigned)strtoul(one, NULL, 10));
    else if (strcmp(line, "odd") == 0)
        add_odd(story);
    else if (sscanf(line, "until %23s", one) == 1)
        story->until = time_of(one);
    else
        return CHECK_OK(script_read_line(story->script, line, &why));
    return true;
}

static bool read_story(struct story *story)
{
    FILE *file = fopen(story->path, "r");
    size_t size;

    CHECK(file != NULL);
    if (!file)
        return false;
    size = fread(story->text, 1, sizeof story->text - 1, file);
    (void)fclose(file);
    story->text[size] = '\0';
    return true;
}

static bool run(struct story *story)
{
    char *line = story->text;

    while (*line) {
        char *end = line + strcspn(line, "\n");
        char *next = *end ? end + 1 : end;

        *end = '\0';
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "expect") == 0) {
            story->expected = next;
            break;
        }
        if (!CHECK(obey(story, line)))
            return false;
        line = next;
    }
    script_schedule(story->script, story->lab->world);
    return CHECK(story->expected != NULL) && lab_run(story->lab, story->until);
}

/* ---- what was expected ---- */

static bool begins(const char *line, const char *with, size_t length)
{
    return strncmp(line, with, length) == 0;
}

static void complain(const struct story *story, unsigned at,
                     const char *expected, size_t length)
{
    char sentence[700];

    (void)snprintf(sentence, sizeof sentence,
                   "%s: expected \"%.*s\", but was said \"%s\" after "
                   "\"%s\"",
                   story->path, (int)length, expected,
                   at < story->said_count ? story->said[at] : "nothing more",
                   at ? story->said[at - 1] : "nothing");
    CHECK_TEXT("", sentence);
}

static void compare(const struct story *story)
{
    const char *line = story->expected;
    bool gap = false;
    unsigned at = 0;

    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");

        if (length == 0)
            continue;
        if (length == 3 && begins(line, "...", 3)) {
            gap = true;
            continue;
        }
        while (gap && at < story->said_count &&
               !begins(story->said[at], line, length))
            at++;
        if (at == story->said_count || !begins(story->said[at], line, length)) {
            complain(story, at, line, length);
            return;
        }
        gap = false;
        at++;
    }
    if (!gap && at < story->said_count)
        complain(story, at, "nothing more", strlen("nothing more"));
}

static void tell(const char *path)
{
    struct story *story = calloc(1, sizeof *story);

    if (!story)
        abort();
    story->path = path;
    story->script = script_new();
    story->lab = lab_new(10);
    story->lab->own = story;
    story->lab->after_step = keep_notes;
    story->lab->config.hub.every = 4;
    story->lab->config.hub.delay = 2;
    story->lab->config.hub.save_interval = 3600 * SECOND;
    if (read_story(story) && run(story))
        compare(story);
    for (unsigned i = 0; getenv("STARSWITCH_STORY") && i < story->said_count;
         i++)
        (void)printf("%s\n", story->said[i]);
    lab_destroy(&story->lab);
    schema_destroy(&story->odd);
    script_destroy(&story->script);
    free(story);
}

#define STORY(name)                                                            \
    static void story_of_##name(void)                                          \
    {                                                                          \
        tell("tests/stories/" #name ".story");                                 \
    }
#include "tests/stories/stories.def"
#undef STORY

void add_stories_tests(CU_pSuite suite)
{
#define STORY(name) check_add(suite, #name, story_of_##name);
#include "tests/stories/stories.def"
#undef STORY
}
