/* starswitch-sim view: a run that was, on the hub's page.
 *
 *     starswitch-sim view COURSE [--listen HOST[:PORT]]
 *                         [--page-token-file FILE] */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/endpoint.h"
#include "hub/page/web.h"
#include "sim/program/program.h"
#include "sim/program/run.h"

struct request {
    const char *file, *token_file;
    struct endpoint at;
    bool listen, help;
};

/* The word behind an option; NULL: there is none, and `why` says so. */
static const char *value_of(char **words, int at, struct why *why)
{
    if (!words[at + 1])
        (void)because(why, STATUS_USAGE, "view: %s needs a value", words[at]);
    return words[at + 1];
}

static enum status read_address(const char *word, struct request *out,
                                struct why *why)
{
    enum status status;

    if (!word)
        return STATUS_USAGE;
    out->listen = true;
    status = endpoint_parse(word, &out->at, why);
    if (status == STATUS_OK && out->at.port == DEFAULT_PORT)
        out->at.port = WEB_PORT; /* no hub is meant */
    return status;
}

static enum status read_word(char **words, int *at, struct request *out,
                             struct why *why)
{
    const char *word = words[*at];

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        out->help = true;
    else if (strcmp(word, "--listen") == 0)
        return read_address(value_of(words, (*at)++, why), out, why);
    else if (strcmp(word, "--page-token-file") == 0)
        return (out->token_file = value_of(words, (*at)++, why)) ? STATUS_OK
                                                                 : STATUS_USAGE;
    else if (word[0] == '-' && word[1])
        return because(why, STATUS_USAGE,
                       "view: there is no option '%.80s'; --help says what "
                       "there is",
                       word);
    else if (out->file)
        return because(why, STATUS_USAGE,
                       "view: '%.80s' is one word too many; it shows one run",
                       word);
    else
        out->file = word;
    return STATUS_OK;
}

static enum status read_words(int count, char **words, struct request *out,
                              struct why *why)
{
    enum status status = STATUS_OK;

    for (int i = 1; i < count && status == STATUS_OK; i++)
        status = read_word(words, &i, out, why);
    if (status != STATUS_OK || out->help || out->file)
        return status;
    return because(why, STATUS_USAGE,
                   "view: say which run, as in: starswitch-sim view "
                   "run.course; --course run.course of starswitch-hub and of "
                   "starswitch-sim run writes one");
}

static void print_help(void)
{
    (void)printf(
        "starswitch-sim view: a run that was, on the hub's page\n\n"
        "Usage: starswitch-sim view COURSE [--listen HOST[:PORT]] "
        "[--page-token-file FILE]\n\n"
        "Serves the page of what --course has written, with a slider for the "
        "time, until\nCtrl-C. Without --listen at 127.0.0.1:%d, or a free "
        "port if that is taken; an\naddress that others reach needs "
        "--page-token-file.\n"
        "\nExample:\n"
        "  starswitch-sim run --goal 0.1 --course run.course\n"
        "  starswitch-sim view run.course\n",
        WEB_PORT);
}

static enum status read_token(const struct request *request,
                              struct token *token, struct why *why)
{
    if (request->token_file)
        return token_read(request->token_file, token, why);
    if (endpoint_is_loopback(&request->at))
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--listen %.60s: others could look. Say --page-token-file "
                   "FILE: a file of mode 0600, with 16 characters or more",
                   request->at.host);
}

/* From before the server's thread begins until one of these comes. */
static sigset_t block_signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return set;
}

static void say_where(const struct web *web)
{
    char bytes[400];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    endpoint_print(web_at(web), &text);
    (void)printf("http://%s/ shows it until Ctrl-C\n", bytes);
    (void)fflush(stdout);
}

static void warn_of(const struct course_reader *course, const char *file)
{
    if (course->left_out == 1)
        (void)fprintf(stderr,
                      "starswitch-sim: %s: line %u cannot be read, and is left "
                      "out\n",
                      file, course->first_left_out);
    else if (course->left_out)
        (void)fprintf(stderr,
                      "starswitch-sim: %s: line %u and %u more cannot be read, "
                      "and are left out\n",
                      file, course->first_left_out, course->left_out - 1);
}

static enum status serve(const struct request *request,
                         const struct course_reader *course, struct why *why)
{
    static const struct table_head head = {.title = NULL};
    struct web_config config = {.at = request->at,
                                .any_port = !request->listen,
                                .head = &head,
                                .course = course};
    sigset_t set = block_signals();
    struct web *web = NULL;
    int number;
    enum status status = read_token(request, &config.token, why);

    if (status == STATUS_OK)
        status = web_open(&config, &web, why);
    token_forget(&config.token);
    if (status == STATUS_OK) {
        say_where(web);
        (void)sigwait(&set, &number);
    }
    web_close(&web);
    return status;
}

int sim_view(int count, char **words)
{
    struct request request = {.at = {.host = "127.0.0.1", .port = WEB_PORT}};
    struct course_reader course = {.text = NULL};
    struct why why = {""};
    enum status status = read_words(count, words, &request, &why);

    if (status == STATUS_OK && request.help) {
        print_help();
        return 0;
    }
    if (status == STATUS_OK)
        status = course_read(request.file, &course, &why);
    if (status == STATUS_OK)
        warn_of(&course, request.file);
    if (status == STATUS_OK)
        status = serve(&request, &course, &why);
    course_reader_free(&course);
    return status == STATUS_OK ? 0 : run_fail(status, &why);
}
