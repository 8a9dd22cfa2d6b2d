#include "report/screen.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/report/sample.h"
#include "tests/store/folder.h"

/* A screen of which all that is shown lands in one file. */
struct fixture {
    struct folder folder;
    struct screen screen;
    struct hub_view view;
    int file;
};

static bool set_up(struct fixture *fixture, bool live, bool json)
{
    struct screen_setup setup = {.json = json, .live = live, .together = true};

    if (!CHECK(folder_new(&fixture->folder)))
        return false;
    fixture->file = open(folder_file(&fixture->folder, "shown"),
                         O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    setup.out = setup.err = fixture->file;
    (void)setenv("COLUMNS", "80", 1);
    sample_view(&fixture->view);
    fixture->view.count = 1;
    screen_init(&fixture->screen, &setup);
    return CHECK(fixture->file >= 0);
}

static void tear_down(struct fixture *fixture)
{
    (void)unsetenv("COLUMNS");
    (void)close(fixture->file);
    folder_remove(&fixture->folder);
}

static void show(struct fixture *fixture, nanos now, bool now_or_never)
{
    struct table table = sample_table(&fixture->view);

    screen_show(&fixture->screen, &table, now, now_or_never);
}

/* What was shown since the last call; valid until the next. */
static const char *shown(struct fixture *fixture)
{
    static char *content;
    size_t size;

    free(content);
    content = file_content(folder_file(&fixture->folder, "shown"), &size);
    CHECK(ftruncate(fixture->file, 0) == 0);
    return content;
}

static void a_terminal_is_redrawn_in_place(void)
{
    struct fixture fixture;
    const char *text;

    if (!set_up(&fixture, true, false))
        return;
    show(&fixture, 0, false);
    text = shown(&fixture);
    CHECK(strncmp(text, "starswitch  hub on", 18) == 0);
    CHECK_CONTAINS("\033[K\n", text);
    show(&fixture, 100 * MILLISECOND, false);
    CHECK_TEXT("", shown(&fixture));
    show(&fixture, 250 * MILLISECOND, false);
    CHECK(strncmp(shown(&fixture), "\r\033[8Astarswitch", 15) == 0);
    tear_down(&fixture);
}

static void the_log_appears_above_the_table(void)
{
    struct fixture fixture;
    const char *text;

    if (!set_up(&fixture, true, false))
        return;
    screen_say(&fixture.screen, "early\n");
    CHECK_TEXT("early\n", shown(&fixture));
    show(&fixture, 0, false);
    (void)shown(&fixture);
    screen_say(&fixture.screen, "a line\n");
    text = shown(&fixture);
    CHECK(strncmp(text, "\r\033[8A\033[Ja line\nstarswitch", 25) == 0);
    CHECK_CONTAINS(" hub     1 of 3", text);
    tear_down(&fixture);
}

static void elsewhere_a_line_comes_every_five_seconds(void)
{
    struct fixture fixture;

    if (!set_up(&fixture, false, false))
        return;
    show(&fixture, 0, false);
    CHECK_CONTAINS("time=31 version=212", shown(&fixture));
    show(&fixture, 4999 * MILLISECOND, false);
    CHECK_TEXT("", shown(&fixture));
    show(&fixture, 5 * SECOND, false);
    CHECK_CONTAINS("time=31 version=212", shown(&fixture));
    show(&fixture, 5 * SECOND, true);
    CHECK_CONTAINS("time=31 version=212", shown(&fixture));
    tear_down(&fixture);
}

static void json_is_asked_for_and_never_redrawn(void)
{
    struct fixture fixture;

    if (!set_up(&fixture, false, true))
        return;
    show(&fixture, 0, false);
    CHECK_CONTAINS("{\"time\":\"2026-11-21T13:00:00Z\"", shown(&fixture));
    tear_down(&fixture);
}

static void another_width_begins_a_new_table(void)
{
    struct fixture fixture;

    if (!set_up(&fixture, true, false))
        return;
    show(&fixture, 0, false);
    (void)shown(&fixture);
    (void)setenv("COLUMNS", "60", 1);
    show(&fixture, SECOND, false);
    CHECK(strncmp(shown(&fixture), "starswitch", 10) == 0);
    tear_down(&fixture);
}

static void a_reader_that_stops_holds_nobody_up(void)
{
    int pipes[2];
    struct screen screen;
    struct screen_setup setup = {0};
    char line[1000], bytes[1 << 16];

    if (!CHECK(pipe2(pipes, O_CLOEXEC) == 0))
        return;
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    setup.out = setup.err = pipes[1];
    screen_init(&screen, &setup);
    for (int i = 0; i < 500; i++)
        screen_say(&screen, line);
    CHECK(screen.lost > 400);
    CHECK(read(pipes[0], bytes, sizeof bytes) > 0);
    screen_say(&screen, "on we go\n");
    CHECK_EQUAL(0, screen.lost);
    memset(bytes, 0, sizeof bytes);
    CHECK(read(pipes[0], bytes, sizeof bytes - 1) > 0);
    CHECK_CONTAINS(" lines were lost", bytes);
    CHECK_CONTAINS("on we go\n", bytes);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
}

static void a_reader_that_is_gone_holds_nobody_up(void)
{
    int pipes[2];
    struct screen screen;
    struct screen_setup setup = {0};

    if (!CHECK(pipe2(pipes, O_CLOEXEC) == 0))
        return;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)close(pipes[0]);
    setup.out = setup.err = pipes[1];
    screen_init(&screen, &setup);
    screen_say(&screen, "hello\n");
    CHECK_EQUAL(1, screen.lost);
    (void)close(pipes[1]);
    (void)signal(SIGPIPE, SIG_DFL);
}

void add_report_screen_tests(CU_pSuite suite)
{
    TEST(a_terminal_is_redrawn_in_place);
    TEST(the_log_appears_above_the_table);
    TEST(elsewhere_a_line_comes_every_five_seconds);
    TEST(json_is_asked_for_and_never_redrawn);
    TEST(another_width_begins_a_new_table);
    TEST(a_reader_that_stops_holds_nobody_up);
    TEST(a_reader_that_is_gone_holds_nobody_up);
}
