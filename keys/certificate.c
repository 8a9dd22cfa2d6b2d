#include "keys/certificate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/text.h"
#include "net/net.h"
#include "store/file.h"

enum { FILE_MOST = 4096, PRIVATE = 077 };

#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ"

enum section { SECTION_NONE, SECTION_METADATA, SECTION_CURVE };

bool key_name_fits(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-";
    size_t length = strspn(name, letters);

    return length && length < KEY_NAME_BYTES && !name[length] &&
           !strchr("._-", *name);
}

static void print_time(int64_t seconds, char out[KEY_TIME_BYTES])
{
    time_t time = (time_t)seconds;
    struct tm parts;

    if (!gmtime_r(&time, &parts) ||
        !strftime(out, KEY_TIME_BYTES, TIME_FORMAT, &parts))
        *out = '\0';
}

static bool take_time(const char *value, size_t length, int64_t *out)
{
    char text[KEY_TIME_BYTES];
    struct tm parts = {.tm_mday = 1};
    const char *end;

    if (length >= sizeof text)
        return false;
    memcpy(text, value, length);
    text[length] = '\0';
    end = strptime(text, TIME_FORMAT, &parts);
    *out = timegm(&parts);
    return end && !*end && *out > 0;
}

static bool take_number(const char *value, size_t length, int base,
                        uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(value, &end, base);
    return length && *value != '-' && end == value + length && errno == 0;
}

void certificate_date(struct certificate *certificate)
{
    print_time((time_t)(net_wall() / SECOND), certificate->time);
}

void certificate_wipe(struct certificate *certificate)
{
    explicit_bzero(certificate, sizeof *certificate);
}

/* ---- reading ---- */

/* What has been read, and where. */
struct reading {
    struct certificate *to;
    enum section section;
    bool has_public;
};

static bool take_text(char *to, size_t size, const char *value, size_t length)
{
    if (length >= size)
        return false;
    memcpy(to, value, length);
    to[length] = '\0';
    return true;
}

static bool take_curve(struct reading *reading, const char *name,
                       const char *value, size_t length)
{
    struct certificate *to = reading->to;

    if (strcmp(name, "public-key") == 0 && !reading->has_public)
        return reading->has_public = key_parse(value, length, &to->pair.shown);
    if (strcmp(name, "secret-key") == 0 && !to->has_secret)
        return to->has_secret = key_parse(value, length, &to->pair.secret);
    return false;
}

/* What others have put there is no matter of ours. */
static bool take_metadata(struct reading *reading, const char *name,
                          const char *value, size_t length)
{
    struct certificate *to = reading->to;

    if (strcmp(name, "name") == 0)
        return take_text(to->name, sizeof to->name, value, length);
    if (strcmp(name, "time") == 0)
        return take_text(to->time, sizeof to->time, value, length);
    if (strcmp(name, "hub") == 0)
        return to->enrolled = key_parse(value, length, &to->hub);
    if (strcmp(name, "line") == 0)
        return take_number(value, length, 16, &to->line);
    if (strcmp(name, "until") == 0)
        return take_time(value, length, &to->until);
    if (strcmp(name, "nodes") == 0)
        return take_number(value, length, 10, &to->most);
    return true;
}

/* `    NAME = "VALUE"`, in place. */
static bool take_setting(struct reading *reading, char *line)
{
    char *equals = strstr(line, " = \"");
    char *value = equals ? equals + strlen(" = \"") : NULL;
    char *end = value ? strrchr(value, '"') : NULL;
    const char *name = line + strspn(line, " ");

    if (!end || end < value || end[1])
        return false;
    *equals = '\0';
    switch (reading->section) {
    case SECTION_CURVE:
        return take_curve(reading, name, value, (size_t)(end - value));
    case SECTION_METADATA:
        return take_metadata(reading, name, value, (size_t)(end - value));
    case SECTION_NONE:
        break;
    }
    return false;
}

static bool take_line(struct reading *reading, char *line)
{
    size_t blanks = strspn(line, " ");

    if (!line[blanks] || line[blanks] == '#')
        return true;
    if (blanks)
        return take_setting(reading, line);
    if (strcmp(line, "metadata") == 0)
        reading->section = SECTION_METADATA;
    else if (strcmp(line, "curve") == 0)
        reading->section = SECTION_CURVE;
    else
        return false;
    return true;
}

static enum status take_lines(const char *path, char *text,
                              struct certificate *out, struct why *why)
{
    struct reading reading = {.to = out};
    unsigned number = 0;
    char *line, *rest = text;

    while ((line = strsep(&rest, "\n")) != NULL) {
        number++;
        if (!take_line(&reading, line))
            return because(why, STATUS_MALFORMED,
                           "%.120s: line %u is none of a certificate; put "
                           "the file back from a copy, or make a new one",
                           path, number);
    }
    if (!reading.has_public)
        return because(why, STATUS_MALFORMED,
                       "%.120s: there is no public key in it; put the file "
                       "back from a copy, or make a new one",
                       path);
    return STATUS_OK;
}

static enum status check_mode(const char *path,
                              const struct certificate *certificate,
                              struct why *why)
{
    struct stat file;

    if (!certificate->has_secret)
        return STATUS_OK;
    if (stat(path, &file) != 0)
        return file_failed("read", path, why);
    if (file.st_mode & PRIVATE)
        return because(why, STATUS_CONFIG,
                       "%.120s: others may read this secret key; say chmod "
                       "600 of it, or, if somebody did read it, make a new "
                       "one",
                       path);
    return STATUS_OK;
}

enum status certificate_read(const char *path, struct certificate *out,
                             struct why *why)
{
    struct certificate read = {.has_secret = false};
    enum status status;
    char *text;
    size_t size;
    struct stat file;

    if (stat(path, &file) != 0 && errno == ENOENT)
        return because(why, STATUS_UNAVAILABLE, "there is no %.150s", path);
    status = file_read_saved(path, FILE_MOST, &text, &size, why);
    if (status != STATUS_OK)
        return status;
    status = take_lines(path, text, &read, why);
    explicit_bzero(text, size);
    free(text);
    if (status == STATUS_OK)
        status = check_mode(path, &read, why);
    if (status == STATUS_OK)
        *out = read;
    certificate_wipe(&read);
    return status;
}

/* ---- writing ---- */

static void add_value(struct text *out, const char *name, const char *value)
{
    if (*value)
        text_add(out, "    %s = \"%s\"\n", name, value);
}

static void add_key(struct text *out, const char *name, const struct key *key)
{
    char text[KEY_TEXT_BYTES];

    key_print(key, text);
    add_value(out, name, text);
    explicit_bzero(text, sizeof text);
}

static void add_metadata(struct text *out, const struct certificate *of)
{
    char until[KEY_TIME_BYTES];

    text_add(out, "metadata\n");
    add_value(out, "name", of->name);
    add_value(out, "time", of->time);
    if (of->enrolled)
        add_key(out, "hub", &of->hub);
    if (of->line)
        text_add(out, "    line = \"%016" PRIx64 "\"\n", of->line);
    if (of->until) {
        print_time(of->until, until);
        add_value(out, "until", until);
    }
    if (of->most)
        text_add(out, "    nodes = \"%" PRIu64 "\"\n", of->most);
}

/* Replaces the file; with `made`, only a secret's that is not there is made. */
static enum status write_certificate(const char *path,
                                     const struct certificate *certificate,
                                     bool *made, struct why *why)
{
    char bytes[FILE_MOST];
    struct text text;
    struct part part = {.bytes = bytes};
    enum status status;

    text_init(&text, bytes, sizeof bytes);
    text_add(&text, "#   ZeroMQ CURVE %s Certificate, of starswitch\n%s\n",
             certificate->has_secret ? "**Secret**" : "Public",
             certificate->has_secret
                 ? "#   Give it to nobody, and keep its mode of 0600.\n"
                 : "");
    add_metadata(&text, certificate);
    text_add(&text, "curve\n");
    add_key(&text, "public-key", &certificate->pair.shown);
    if (certificate->has_secret)
        add_key(&text, "secret-key", &certificate->pair.secret);
    part.size = text.length;
    status = made ? file_create_private(path, &part, 1, made, why)
             : certificate->has_secret
                 ? file_replace_private(path, &part, 1, why)
                 : file_replace(path, &part, 1, why);
    explicit_bzero(bytes, sizeof bytes);
    return status;
}

enum status certificate_write(const char *path,
                              const struct certificate *certificate,
                              struct why *why)
{
    return write_certificate(path, certificate, NULL, why);
}

/* ---- one's own ---- */

static enum status make_folder_of(const char *path, struct why *why)
{
    char folder[FILE_PATH_BYTES];
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return STATUS_OK;
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return folder_make(folder, why);
}

static enum status read_own(const char *path, struct certificate *out,
                            struct why *why)
{
    enum status status = certificate_read(path, out, why);

    if (status == STATUS_OK && !out->has_secret)
        status = because(why, STATUS_CONFIG,
                         "%.120s: there is no secret key in it; name the file "
                         "that has it",
                         path);
    return status;
}

enum status certificate_own(const char *path, const char *name,
                            struct certificate *out, bool *made,
                            struct why *why)
{
    struct certificate own = {.has_secret = true};
    enum status status = read_own(path, out, why);
    bool is_new = false;

    if (status == STATUS_UNAVAILABLE) {
        (void)snprintf(own.name, sizeof own.name, "%s", name);
        certificate_date(&own);
        status = key_pair_make(&own.pair, why);
        if (status == STATUS_OK)
            status = make_folder_of(path, why);
        if (status == STATUS_OK)
            status = write_certificate(path, &own, &is_new, why);
        certificate_wipe(&own);
        /* What is there now: another program may have been faster. */
        if (status == STATUS_OK)
            status = read_own(path, out, why);
    }
    if (made)
        *made = is_new;
    return status;
}
