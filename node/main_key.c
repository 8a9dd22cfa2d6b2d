#include "node/main_key.h"

#include <stdio.h>

#include "keys/invitation.h"
#include "net/service.h"

enum status main_key_read(struct options *options, struct why *why)
{
    if (options->key[0] && options->key_file[0])
        return because(why, STATUS_CONFIG,
                       "--key and --key-file are the same thing: leave one of "
                       "them out");
    if (options->given.key == OPTION_ARGUMENT)
        (void)fprintf(stderr,
                      "starswitch-node: other users of this PC may have seen "
                      "--key: next time put the key into a file of mode 0600 "
                      "and say --key-file FILE\n");
    if (!options->key_file[0])
        return STATUS_OK;
    service_hide();
    return invitation_file(options->key_file, options->key, why);
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
