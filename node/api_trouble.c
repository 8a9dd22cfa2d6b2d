/* Why there is no hub: told when that changes, and shown for as long as it is
 * so. */
#include <stdio.h>
#include <string.h>

#include "node/api_link.h"

/* Of several hubs one is tried after the other, each with its own reason. */
#define TELL_EVERY (10 * SECOND)

static bool is_same(const struct net_trouble *a, const struct net_trouble *b)
{
    return a->hindrance == b->hindrance && a->port == b->port &&
           strcmp(a->host, b->host) == 0;
}

void link_say_trouble(const struct net_trouble *trouble, char *out,
                      size_t size)
{
    bool system = trouble->system[0] && trouble->hindrance == HINDRANCE_SYSTEM;

    (void)snprintf(out, size, "the hub at %.48s:%u %s%s%.40s", trouble->host,
                   trouble->port, net_hindrance_words(trouble->hindrance),
                   system ? ": " : "", system ? trouble->system : "");
}

void link_hindered(struct star_link *link, nanos now)
{
    const struct net_trouble *trouble = net_trouble(link->net);
    bool same = is_same(trouble, &link->trouble);
    char text[NOTE_BYTES];

    if (same && link->told_trouble)
        return;
    (void)pthread_mutex_lock(&link->lock);
    link->trouble = *trouble;
    (void)pthread_mutex_unlock(&link->lock);
    link->told_trouble = trouble->hindrance == HINDRANCE_NONE;
    if (link->told_trouble || now < link->tell_trouble)
        return;
    link_say_trouble(trouble, text, sizeof text);
    link_tell(link, NOTE_UNREACHED, now, text);
    link->told_trouble = true;
    link->tell_trouble = now + TELL_EVERY;
}
