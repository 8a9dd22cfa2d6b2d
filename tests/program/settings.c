#include "program/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

static struct options options;
static struct why why;

/* A config file with this text; the caller removes it. */
static char *write_file(const char *text, size_t size)
{
    static char path[64];
    int file;

    (void)snprintf(path, sizeof path, "/tmp/starswitch-settings-XXXXXX");
    file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, size) == (ssize_t)size);
    (void)close(file);
    return path;
}

static enum status read_with(const char *path, const char *every)
{
    char config[200], name[] = "starswitch-hub", flag[] = "--config";
    char last[100];
    char *arguments[] = {name, flag, config, last};

    (void)snprintf(config, sizeof config, "%s", path);
    (void)snprintf(last, sizeof last, "--every=%s", every);
    return settings_read(&options, PROGRAM_HUB, every[0] ? 4 : 3, arguments,
                         &why);
}

static void the_file_the_environment_and_the_arguments_are_read(void)
{
    const char *text = "every = 7\ndelay = 8\nwindow = 9MiB\n";
    char *path = write_file(text, strlen(text));

    CHECK_EQUAL(0, setenv("STARSWITCH_DELAY", "18", 1));
    CHECK_OK(read_with(path, "27"));
    CHECK_EQUAL(0, unsetenv("STARSWITCH_DELAY"));
    CHECK_EQUAL(0, unlink(path));
    CHECK_EQUAL(27, options.every);
    CHECK_EQUAL(18, options.delay);
    CHECK_EQUAL(9 << 20, options.window);
}

static void an_error_in_the_file_names_it(void)
{
    char *path = write_file("every = 0\n", 10);
    char sentence[100];

    CHECK_STATUS(STATUS_CONFIG, read_with(path, ""));
    CHECK_EQUAL(0, unlink(path));
    (void)snprintf(sentence, sizeof sentence, "%s: line 1: every = 0: must",
                   path);
    CHECK_CONTAINS(sentence, why.text);
}

static void a_file_that_cannot_be_read_is_said(void)
{
    CHECK_STATUS(STATUS_IO, read_with("/nowhere/at.all", ""));
    CHECK_TEXT("/nowhere/at.all: cannot be read: No such file or directory",
               why.text);
    CHECK_STATUS(STATUS_IO, read_with("/", ""));
    CHECK_TEXT("/: cannot be read: Is a directory", why.text);
}

static void a_file_too_large_is_refused(void)
{
    static char text[64 * 1024 + 1];
    char *path;

    memset(text, '\n', sizeof text);
    path = write_file(text, sizeof text);
    CHECK_STATUS(STATUS_CONFIG, read_with(path, ""));
    CHECK_EQUAL(0, unlink(path));
    CHECK_CONTAINS("a config file has at most 64 KiB", why.text);
    path = write_file(text, sizeof text - 1);
    CHECK_OK(read_with(path, ""));
    CHECK_EQUAL(0, unlink(path));
}

static void a_wrong_variable_is_named(void)
{
    CHECK_EQUAL(0, setenv("STARSWITCH_EVERY", "banana", 1));
    CHECK_STATUS(STATUS_CONFIG, read_with("/dev/null", ""));
    CHECK_EQUAL(0, unsetenv("STARSWITCH_EVERY"));
    CHECK_TEXT(
        "STARSWITCH_EVERY=banana: expected a whole number such as 20, or auto",
        why.text);
}

void add_program_settings_tests(CU_pSuite suite)
{
    TEST(the_file_the_environment_and_the_arguments_are_read);
    TEST(an_error_in_the_file_names_it);
    TEST(a_file_that_cannot_be_read_is_said);
    TEST(a_file_too_large_is_refused);
    TEST(a_wrong_variable_is_named);
}
