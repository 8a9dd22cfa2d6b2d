#include "node/program/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keys/invitation.h"
#include "program/service.h"

/* What the service manager has been told to pass on, where nothing is said. */
static void take_credential(struct options *options)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    char path[sizeof options->key_file];

    if (folder && folder[0] &&
        snprintf(path, sizeof path, "%s/starswitch-node.key", folder) <
            (int)sizeof path &&
        access(path, F_OK) == 0)
        memcpy(options->key_file, path, sizeof path);
}

enum status main_key_check(const struct options *options, struct why *why)
{
    struct invitation invitation;
    enum status status = STATUS_OK;

    if (options->key[0])
        status = invitation_read(options->key, &invitation, why);
    invitation_wipe(&invitation);
    return status;
}

enum status main_key_read(struct options *options, struct why *why)
{
    struct why detail = {""};
    enum status status;

    if (options->key[0] && options->key_file[0])
        return because(why, STATUS_CONFIG,
                       "--key and --key-file are the same thing: leave one of "
                       "them out");
    if (options->given.key == OPTION_ARGUMENT)
        (void)fprintf(stderr,
                      "starswitch-node: other users of this PC may have seen "
                      "--key: next time put the key into a file of mode 0600 "
                      "and say --key-file FILE\n");
    if (!options->key[0] && !options->key_file[0])
        take_credential(options);
    if (!options->key_file[0])
        return STATUS_OK;
    service_hide();
    status = invitation_file(options->key_file, options->key, why);
    if (status == STATUS_OK)
        status = main_key_check(options, &detail);
    return detail.text[0] ? because(why, status, "%.150s: %s",
                                    options->key_file, detail.text)
                          : status;
}
