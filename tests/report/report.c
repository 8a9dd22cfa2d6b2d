#include "report/report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/report/sample.h"
#include "tests/store/folder.h"

/* A report with all that belongs to it. */
struct fixture {
    struct hub_view view;
    struct course *course;
    struct report report;
    struct text text;
};

static const struct setting settings[] = {{"every", "20"}, {"data", "a<b>&c"}};

static void set_up(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->course = course_new();
    sample_course(fixture->course, &fixture->view, 31);
    fixture->report = (struct report){
        .head = &sample_head,
        .view = &fixture->view,
        .course = fixture->course,
        .elapsed = 31 * SECOND,
        .wall = SAMPLE_WALL,
        .goal = {GOAL_ACCURACY, 0.87},
        .settings = settings,
        .setting_count = 2,
        .model = "demo/best.safetensors",
        .record = "demo/run.trace",
        .words = "The program\nis <free>\033[2J software",
    };
    text_init(&fixture->text, malloc(REPORT_BYTES), REPORT_BYTES);
}

static void tear_down(struct fixture *fixture)
{
    free(fixture->text.bytes);
    course_destroy(&fixture->course);
}

/* ---- a reader of tags, as strict as one of XML ---- */

enum { MAX_DEPTH = 40, TAG_BYTES = 24 };

struct reader {
    char open[MAX_DEPTH][TAG_BYTES];
    unsigned depth;
};

/* Behind the tag's last character; quotes must be closed and hold no `<`. */
static const char *skip_tag(const char *at)
{
    for (; *at && *at != '>'; at++) {
        if (*at == '<')
            return NULL;
        if (*at != '"')
            continue;
        at += strcspn(at + 1, "\"<") + 1;
        if (*at != '"')
            return NULL;
    }
    return *at ? at + 1 : NULL;
}

static bool close_tag(struct reader *reader, const char *name)
{
    return reader->depth > 0 &&
           strcmp(reader->open[--reader->depth], name) == 0;
}

static bool open_tag(struct reader *reader, const char *name)
{
    if (reader->depth == MAX_DEPTH)
        return false;
    (void)snprintf(reader->open[reader->depth++], TAG_BYTES, "%s", name);
    return true;
}

/* Reads the tag at `at`, a `<`; returns what is behind it, or NULL. */
static const char *read_tag(struct reader *reader, const char *at)
{
    bool closing = at[1] == '/';
    const char *name = at + 1 + closing, *end = skip_tag(at + 1);
    char tag[TAG_BYTES];
    size_t length = 0;

    while (length < TAG_BYTES - 1 && isalnum((unsigned char)name[length]))
        length++;
    (void)snprintf(tag, sizeof tag, "%.*s", (int)length, name);
    if (!end || length == 0)
        return NULL;
    if (closing)
        return close_tag(reader, tag) ? end : NULL;
    if (end[-2] == '/')
        return end;
    return open_tag(reader, tag) ? end : NULL;
}

static bool is_entity(const char *at)
{
    size_t length = strcspn(at, ";<& ");

    return length < 8 && at[length] == ';';
}

static bool is_well_formed(const char *page)
{
    static const char doctype[] = "<!doctype html>\n";
    struct reader reader = {.depth = 0};

    if (strncmp(page, doctype, sizeof doctype - 1) != 0)
        return false;
    page += sizeof doctype - 1;
    while (*page) {
        if (*page == '&' && !is_entity(page + 1))
            return false;
        if (*page == '<')
            page = read_tag(&reader, page);
        else
            page++;
        if (!page)
            return false;
    }
    return reader.depth == 0;
}

static void the_reader_of_tags_is_strict(void)
{
    CHECK(is_well_formed("<!doctype html>\n<a b=\"c>\"><d/>&lt;</a>"));
    CHECK(!is_well_formed("<!doctype html>\n<a>"));
    CHECK(!is_well_formed("<!doctype html>\n<a><b></a></b>"));
    CHECK(!is_well_formed("<!doctype html>\n<a b=\"></a>"));
    CHECK(!is_well_formed("<!doctype html>\n<a>&</a>"));
    CHECK(!is_well_formed("<!doctype html>\n<a><</a>"));
}

/* ---- the page ---- */

static void the_page_is_well_formed_and_asks_nobody(void)
{
    struct fixture fixture;

    set_up(&fixture);
    report_html(&fixture.report, &fixture.text);
    CHECK(!fixture.text.cut);
    CHECK(is_well_formed(fixture.text.bytes));
    CHECK(!strstr(fixture.text.bytes, "<script"));
    CHECK(!strstr(fixture.text.bytes, "http"));
    CHECK(!strstr(fixture.text.bytes, "url("));
    CHECK(!strstr(fixture.text.bytes, "nan"));
    CHECK(!strstr(fixture.text.bytes, "inf,"));
    tear_down(&fixture);
}

static void words_of_nodes_are_escaped(void)
{
    struct fixture fixture;

    set_up(&fixture);
    (void)snprintf(fixture.view.nodes[0].name, NODE_NAME_BYTES, "%s",
                   HOSTILE_NAME);
    (void)snprintf(fixture.course->node[0].name, NODE_NAME_BYTES, "%s",
                   HOSTILE_NAME);
    (void)snprintf(fixture.view.reason, sizeof fixture.view.reason,
                   "<script>alert(1)</script>");
    report_html(&fixture.report, &fixture.text);
    CHECK(is_well_formed(fixture.text.bytes));
    CHECK(!strstr(fixture.text.bytes, "<b>'"));
    CHECK(!strstr(fixture.text.bytes, "<script"));
    CHECK(!strchr(fixture.text.bytes, '\033'));
    CHECK_CONTAINS("&lt;script&gt;", fixture.text.bytes);
    CHECK_CONTAINS("a&lt;b&gt;&amp;c", fixture.text.bytes);
    tear_down(&fixture);
}

static void the_page_shows_what_happened(void)
{
    struct fixture fixture;

    set_up(&fixture);
    report_html(&fixture.report, &fixture.text);
    CHECK_CONTAINS("goal 87 % reached after 31 s, by the best model: 87.1 % "
                   "test accuracy",
                   fixture.text.bytes);
    CHECK_CONTAINS(">goal 87</text>", fixture.text.bytes);
    CHECK_CONTAINS("time, s", fixture.text.bytes);
    CHECK_CONTAINS("version 70: No space left", fixture.text.bytes);
    CHECK_CONTAINS("demo/run.trace", fixture.text.bytes);
    CHECK_CONTAINS("The program\nis &lt;free&gt;?[2J software\n</pre>",
                   fixture.text.bytes);
    tear_down(&fixture);
}

static void a_run_without_any_value_has_a_page_too(void)
{
    struct fixture fixture;
    static const struct table_head empty;

    set_up(&fixture);
    memset(&fixture.view, 0, sizeof fixture.view);
    memset(fixture.course, 0, sizeof *fixture.course);
    fixture.view.score = fixture.view.best_score = NO_SCORE;
    fixture.view.accuracy = -1;
    fixture.report = (struct report){
        .head = &empty, .view = &fixture.view, .course = fixture.course};
    report_html(&fixture.report, &fixture.text);
    CHECK(is_well_formed(fixture.text.bytes));
    CHECK_CONTAINS("There is nothing to draw", fixture.text.bytes);
    tear_down(&fixture);
}

/* As many curves, points, events and escapes as there can be. */
static void fill(struct fixture *fixture)
{
    struct note note = {.kind = NOTE_REFUSED};

    memset(note.subject, '"', SUBJECT_BYTES - 1);
    memset(note.text, '"', NOTE_BYTES - 1);
    for (unsigned i = 0; i < 2 * COURSE_MOMENTS; i++)
        course_note(fixture->course, (nanos)i * SECOND, &note);
    for (unsigned i = 4; i < TABLE_NODES; i++)
        fixture->view.nodes[i] = fixture->view.nodes[0];
    fixture->view.count = TABLE_NODES;
    for (unsigned i = 0; i < TABLE_NODES; i++) {
        memset(fixture->view.nodes[i].name, '"', NODE_NAME_BYTES - 1);
        fixture->view.nodes[i].gone = false;
    }
    for (int i = 0; i < 2 * SERIES_POINTS - 1; i++) {
        for (unsigned j = 0; j < TABLE_NODES; j++)
            fixture->view.nodes[j].iteration++;
        course_look(fixture->course, (32 + i) * SECOND, &fixture->view);
    }
    fixture->report.elapsed = 4032 * SECOND;
}

static void the_largest_page_fits(void)
{
    struct fixture fixture;

    set_up(&fixture);
    fill(&fixture);
    report_html(&fixture.report, &fixture.text);
    CHECK(!fixture.text.cut);
    CHECK(is_well_formed(fixture.text.bytes));
    CHECK_CONTAINS("time, min", fixture.text.bytes);
    CHECK_CONTAINS("and 49 more", fixture.text.bytes);
    tear_down(&fixture);
}

static void the_page_is_written_to_its_file(void)
{
    struct fixture fixture;
    struct folder folder;
    struct why why;

    if (!CHECK(folder_new(&folder)))
        return;
    set_up(&fixture);
    CHECK_OK(
        report_write(&fixture.report, folder_file(&folder, "r.html"), &why));
    CHECK(file_exists(folder_file(&folder, "r.html")));
    CHECK_STATUS(STATUS_IO,
                 report_write(&fixture.report, "/nowhere/r.html", &why));
    CHECK_CONTAINS("/nowhere/r.html", why.text);
    tear_down(&fixture);
    folder_remove(&folder);
}

/* ---- the summary ---- */

static void the_summary_is_some_lines(void)
{
    struct fixture fixture;

    set_up(&fixture);
    sample_view(&fixture.view);
    (void)snprintf(fixture.view.reason, sizeof fixture.view.reason,
                   "the goal is met");
    report_text(&fixture.report, &fixture.text);
    CHECK_TEXT(
        " done: goal 87 % reached after 31 s, by the best model: 87.1 % test "
        "accuracy\n"
        " why     the goal is met\n"
        " centre  version 212, loss 0.2791, test 87.00 %; 212 rounds\n"
        " best    version 208, loss 0.2788, test 87.12 %\n"
        " time    1.5 s pending until the first round, then 29.5 s of "
        "training\n"
        " nodes   4 (1 gone): 9820 iterations, 440 exchanges merged, 4 results "
        "late\n"
        " chunks  1320 merged, 3 stale\n"
        " undone  2 preemptions, 1 roll-back\n"
        " moved   2.94 MB up, 2.94 MB down\n"
        " n1                    4120 iterations   1.4 MB up  1.41 MB down"
        "  loss 0.294  test 86.4 %\n"
        " n2                    4390 iterations  1.45 MB up  1.45 MB down"
        "  loss 0.281  test 86.9 %  best\n"
        " n3                     310 iterations   100 kB up    90 kB down"
        "  loss 0.900\n"
        " laborat~est-pc17         0 iterations      0 B up      0 B down"
        "  gone\n"
        " notes   1 node_lost, 1 save_failed\n"
        " writes  \"The program\\nis <free>\\u001b[2J software\"\n"
        " model   demo/best.safetensors\n"
        " record  demo/run.trace\n",
        fixture.text.bytes);
    tear_down(&fixture);
}

static void what_the_run_has_come_to_is_said_as_it_is(void)
{
    struct fixture fixture;

    set_up(&fixture);
    sample_view(&fixture.view);
    fixture.view.reached = false;
    report_outcome(&fixture.report, &fixture.text);
    CHECK_TEXT("87.0 % test accuracy after 31 s; goal 87 % NOT reached",
               fixture.text.bytes);
    fixture.view.stopping = true;
    text_init(&fixture.text, fixture.text.bytes, REPORT_BYTES);
    report_text(&fixture.report, &fixture.text);
    CHECK_CONTAINS(" stopped: 87.0 % test accuracy after 31 s; goal 87 % not "
                   "reached yet\n",
                   fixture.text.bytes);
    /* started again: the run has taken longer than this hub was there */
    fixture.view.former = 60 * SECOND;
    text_init(&fixture.text, fixture.text.bytes, REPORT_BYTES);
    report_text(&fixture.report, &fixture.text);
    CHECK_CONTAINS("test accuracy after 91 s;", fixture.text.bytes);
    tear_down(&fixture);
}

static void a_loss_that_nobody_has_tested_is_called_training_loss(void)
{
    struct fixture fixture;

    set_up(&fixture);
    sample_view(&fixture.view);
    fixture.view.tested = false;
    fixture.view.accuracy = fixture.view.best_accuracy = -1;
    report_text(&fixture.report, &fixture.text);
    CHECK_CONTAINS(" centre  version 212, training loss 0.2791;",
                   fixture.text.bytes);
    CHECK_CONTAINS(" best    version 208, training loss 0.2788; the hub tests "
                   "none",
                   fixture.text.bytes);
    tear_down(&fixture);
}

void add_report_report_tests(CU_pSuite suite)
{
    TEST(the_reader_of_tags_is_strict);
    TEST(the_page_is_well_formed_and_asks_nobody);
    TEST(words_of_nodes_are_escaped);
    TEST(the_page_shows_what_happened);
    TEST(a_run_without_any_value_has_a_page_too);
    TEST(the_largest_page_fits);
    TEST(the_page_is_written_to_its_file);
    TEST(the_summary_is_some_lines);
    TEST(what_the_run_has_come_to_is_said_as_it_is);
    TEST(a_loss_that_nobody_has_tested_is_called_training_loss);
}
