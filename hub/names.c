/* What nodes are called. No two have one name, so that an order, a line of a
 * log and a key's file mean one node: whom others precede has some digits of
 * its uuid behind it, the same ones whenever it comes. A name that the operator
 * knows a key by is that key's, whoever else has taken it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "hub/state.h"

enum { DIGITS = 4, DIGITS_MOST = 16 };

static struct member *other_of_name(const struct hub *hub,
                                    const struct member *member,
                                    const char *name)
{
    for (int i = 0; i < hub->member_count; i++)
        if (hub->members[i] != member && hub->members[i]->used &&
            strcmp(hub->members[i]->name, name) == 0)
            return hub->members[i];
    return NULL;
}

static void add_digits(const struct hub *hub, struct member *member,
                       const char *name)
{
    char *own = member->name;

    for (unsigned digits = DIGITS; digits <= DIGITS_MOST; digits += DIGITS) {
        (void)snprintf(own, NODE_NAME_BYTES, "%.*s-%0*" PRIx64,
                       (int)(NODE_NAME_BYTES - 2 - digits), name, (int)digits,
                       member->uuid_high >> (64 - 4 * digits));
        if (!other_of_name(hub, member, own))
            return;
    }
}

void member_name(struct hub *hub, struct member *member, const char *name)
{
    char plain[NODE_NAME_BYTES];
    struct member *other;
    struct text text;

    text_init(&text, plain, sizeof plain);
    quote_visible(&text, name[0] ? name : "node");
    other = other_of_name(hub, member, plain);
    if (other && !key_is_known(hub, member->key)) {
        add_digits(hub, member, plain);
        return;
    }
    (void)snprintf(member->name, sizeof member->name, "%s", plain);
    if (other)
        add_digits(hub, other, plain);
}
