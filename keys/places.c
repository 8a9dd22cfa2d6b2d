#include "keys/places.h"

#include <stdio.h>
#include <stdlib.h>

static enum status place(const char *variable, const char *at_home,
                         char folder[FILE_PATH_BYTES], struct why *why)
{
    const char *set = getenv(variable), *home = getenv("HOME");
    bool is_set = set && set[0] == '/';
    int length;

    if (!is_set && (!home || !home[0]))
        return because(why, STATUS_CONFIG,
                       "there is no home directory: set HOME or %s", variable);
    length = snprintf(folder, FILE_PATH_BYTES, "%s%s/starswitch",
                      is_set ? set : home, is_set ? "" : at_home);
    if (length < FILE_PATH_BYTES)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "the name of the home directory is too long: set %s",
                   variable);
}

enum status place_of_config(char folder[FILE_PATH_BYTES], struct why *why)
{
    return place("XDG_CONFIG_HOME", "/.config", folder, why);
}

enum status place_of_state(char folder[FILE_PATH_BYTES], struct why *why)
{
    return place("XDG_STATE_HOME", "/.local/state", folder, why);
}

void place_name(const char *name, char out[KEY_NAME_BYTES])
{
    (void)snprintf(out, KEY_NAME_BYTES, "%.*s", KEY_NAME_BYTES - 1, name);
    for (char *c = out; *c; c++)
        if (*c == '/' || (unsigned char)*c <= ' ' || *c == 0x7f)
            *c = '_';
    if (out[0] == '.')
        out[0] = '_';
}
