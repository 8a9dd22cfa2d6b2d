#include "hub/program/display.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codec/pages.h"
#include "net/net.h"
#include "policies/pages.h"
#include "report/report.h"
#include "store/file.h"

static nanos wall_of(const struct display *display, nanos now)
{
    return display->wall + (now - display->begun);
}

static void start_clocks(struct display *display)
{
    display->wall = net_wall();
    display->begun = net_now();
}

/* The words above the table. */
static void write_head(struct display *display, const struct hub_config *config,
                       const char *summary)
{
    const struct options *options = display->options;
    struct text goal, words;

    (void)snprintf(display->title, sizeof display->title, "hub on %s%s%s:%u",
                   endpoint_opens(options->listen.host), options->listen.host,
                   endpoint_closes(options->listen.host), options->listen.port);
    text_init(&words, display->policy, sizeof display->policy);
    policy_describe(&config->policy, &words);
    codecs_describe(config->codec_up, config->codec_down, &words);
    (void)snprintf(display->model, sizeof display->model, "%s",
                   summary ? summary : "whatever the first node trains");
    text_init(&goal, display->goal, sizeof display->goal);
    if (options->goal.kind == GOAL_ACCURACY)
        text_add(&goal, "%.4g %% test accuracy", 100 * options->goal.value);
    else if (options->goal.kind == GOAL_LOSS)
        text_add(&goal, "loss %.4g", options->goal.value);
    display->head = (struct table_head){
        .title = display->title,
        .data = options->data[0] ? options->data : NULL,
        .model = display->model,
        .policy = options->policy,
        .rules = display->policy,
        .goal = goal.length ? display->goal : NULL,
    };
}

void display_complain(void *of, const char *sentence)
{
    struct display *display = of;
    struct note note = {.kind = NOTE_FILE_FAILED};

    (void)snprintf(note.text, sizeof note.text, "%s", sentence);
    log_note(&display->logger, wall_of(display, net_now()), &note);
}

static enum status open_record(struct display *display, struct why *why)
{
    const struct options *options = display->options;
    const struct spool_complaint complaint = {display_complain, display};
    enum status status;

    if (!options->record[0])
        return STATUS_OK;
    status = file_make_way(options->record, why);
    if (status == STATUS_OK)
        status = record_open(options->record, "hub", complaint,
                             &display->record, why);
    if (status == STATUS_OK)
        record_set(display->record, options, PROGRAM_HUB);
    return status;
}

static enum status open_journal(struct display *display,
                                const struct hub_config *config,
                                const struct hub_saved *saved, struct why *why)
{
    static char settings[OPTIONS_PAGE_BYTES];
    const struct options *options = display->options;
    const struct spool_complaint complaint = {display_complain, display};
    const struct journal_of of = {settings, config, saved};
    enum status status;
    struct text text;

    if (!options->journal[0])
        return STATUS_OK;
    text_init(&text, settings, sizeof settings);
    options_print_config(options, PROGRAM_HUB, &text);
    status = file_make_way(options->journal, why);
    if (status == STATUS_OK)
        status = journal_open(options->journal, &of, complaint,
                              &display->journal, why);
    return status;
}

static enum status open_board(struct display *display, struct why *why)
{
    const struct spool_complaint complaint = {display_complain, display};
    const char *folder = display->options->tensorboard;

    if (!folder[0])
        return STATUS_OK;
    return tensorboard_open(folder, display->wall, complaint, &display->board,
                            why);
}

enum status display_open(struct display *display, const struct options *options,
                         const struct hub_config *config,
                         const struct hub_saved *saved, const char *summary,
                         struct why *why)
{
    struct screen_setup setup = screen_look_around(options->json);
    struct log_config log = {.least = LEVEL_INFO,
                             .json = options->json,
                             .write = screen_say,
                             .of = &display->screen};
    enum status status;

    display->options = options;
    start_clocks(display);
    write_head(display, config, summary);
    screen_init(&display->screen, &setup);
    log_init(&display->logger, &log);
    display->course = course_new();
    if (!display->course)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    status = open_record(display, why);
    if (status == STATUS_OK && options->report[0])
        status = file_try(options->report, why);
    if (status == STATUS_OK)
        status = open_journal(display, config, saved, why);
    if (status == STATUS_OK)
        status = open_board(display, why);
    return status;
}

void display_note(struct display *display, nanos now, const struct note *note)
{
    course_note(display->course, now - display->begun, note);
    log_note(&display->logger, wall_of(display, now), note);
}

void display_watch(struct display *display, const struct event *event,
                   const struct effects *effects)
{
    record_step(display->record, event, effects);
    journal_step(display->journal, event, effects);
}

struct table display_table(struct display *display, nanos now,
                           const struct hub_view *view)
{
    return (struct table){&display->head, view, now - display->begun,
                          wall_of(display, now)};
}

void display_view(struct display *display, nanos now,
                  const struct hub_view *view)
{
    struct table table = display_table(display, now, view);

    course_look(display->course, table.elapsed, view);
    tensorboard_look(display->board, table.elapsed, view, false);
    log_tick(&display->logger, table.wall);
    screen_show(&display->screen, &table, now, false);
}

static enum status write_report(struct display *display,
                                const struct report *report, struct why *why)
{
    enum status status;

    if (!display->options->report[0])
        return STATUS_OK;
    status = report_write(report, display->options->report, why);
    if (status != STATUS_OK)
        display_complain(display, why->text);
    return status;
}

static bool say_file(const char *what, const char *folder, const char *name)
{
    char path[FILE_PATH_BYTES];

    path_join(path, folder, name);
    if (access(path, F_OK) != 0)
        return false;
    (void)printf(" %-7s %s\n", what, path);
    return true;
}

static void say_name(const char *what, const char *path)
{
    if (path[0])
        (void)printf(" %-7s %s\n", what, path);
}

/* The line that goes on with the run, as it was typed and where; what has ended
 * the run would end it again, and files of this part be replaced. A goal that
 * is not reached is still one. */
static void say_next(const struct options *options, const struct hub_view *view)
{
    char bytes[2048 + 4 * FILE_PATH_BYTES], folder[FILE_PATH_BYTES];
    struct options next = *options;
    struct text line;

    if (!view->stopping)
        next.given.time = next.given.iterations = next.given.epochs =
            OPTION_DEFAULT;
    if (!view->stopping && view->reached)
        next.given.goal = OPTION_DEFAULT;
    next.given.report = next.given.record = next.given.journal = OPTION_DEFAULT;
    next.given.course = OPTION_DEFAULT;
    next.given.directory = OPTION_ARGUMENT;
    text_init(&line, bytes, sizeof bytes);
    if (getcwd(folder, sizeof folder)) {
        text_add(&line, "cd ");
        options_print_word(folder, &line);
        text_add(&line, " && ");
    }
    options_print_word(program_invocation_name, &line);
    options_print_line(&next, PROGRAM_HUB, &line);
    (void)printf("To go on with it, in any folder:\n    %s\n", bytes);
}

static void say_where(const struct options *options, bool reported,
                      const struct hub_view *view)
{
    bool model =
        say_file("model", options->directory, "current/centre.safetensors");

    (void)say_file("best", options->directory, "best.safetensors");
    say_name("report", reported ? options->report : "");
    say_name("record", options->record);
    say_name("journal", options->journal);
    say_name("course", options->course);
    say_name("curves", options->tensorboard);
    if (model)
        say_next(options, view);
    (void)fflush(stdout);
}

enum status display_end(struct display *display, nanos now,
                        const struct hub_view *view, const char *words,
                        struct why *why)
{
    enum status status;
    static char page[OPTIONS_PAGE_BYTES], summary[REPORT_SUMMARY_BYTES];
    struct setting settings[REPORT_SETTINGS];
    struct table table = display_table(display, now, view);
    struct report report = {
        .head = &display->head,
        .view = view,
        .course = display->course,
        .elapsed = table.elapsed,
        .wall = table.wall,
        .goal = display->options->goal,
        .words = words,
        .settings = settings,
        .setting_count =
            report_settings(display->options, PROGRAM_HUB, page, settings),
    };
    struct text text;

    course_look(display->course, table.elapsed, view);
    tensorboard_look(display->board, table.elapsed, view, true);
    log_tick(&display->logger, NEVER);
    screen_show(&display->screen, &table, now, true);
    status = write_report(display, &report, why);
    if (display->options->json)
        return status;
    text_init(&text, summary, sizeof summary);
    report_text(&report, &text);
    (void)fputs(summary, stdout);
    say_where(display->options, status == STATUS_OK, view);
    return status;
}

void display_close(struct display *display)
{
    record_close(&display->record);
    journal_close(&display->journal);
    tensorboard_close(&display->board);
    course_destroy(&display->course);
}
