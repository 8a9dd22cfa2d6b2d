#include "net/trouble.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

static bool is_of(const struct net_trouble *trouble,
                  const struct notice *notice, const struct address *address)
{
    return trouble->hindrance == notice->hindrance &&
           trouble->port == address->port &&
           strcmp(trouble->host, address->host) == 0;
}

void trouble_add(struct net_trouble *trouble, const struct notice *notice,
                 const struct address *address)
{
    unsigned times = is_of(trouble, notice, address) ? trouble->times : 0;
    const char *words = "";

    if (notice->error)
        words = notice->hindrance == HINDRANCE_NAME ||
                        notice->hindrance == HINDRANCE_RESOLVER
                    ? gai_strerror(notice->error)
                    : strerror(notice->error);
    *trouble = (struct net_trouble){.hindrance = notice->hindrance,
                                    .times = times + 1,
                                    .port = address->port};
    (void)snprintf(trouble->host, sizeof trouble->host, "%.255s",
                   address->host);
    (void)snprintf(trouble->system, sizeof trouble->system, "%.79s", words);
}

void trouble_look_up(struct net_trouble *trouble, const struct address *address)
{
    const struct notice notice = {.hindrance = HINDRANCE_LOOK_UP};

    if (address->unanswered)
        trouble_add(trouble, &notice, address);
}

bool net_trouble_is_sure(const struct net_trouble *trouble)
{
    return trouble->hindrance != HINDRANCE_NONE &&
           (trouble->hindrance != HINDRANCE_UNPROVED ||
            trouble->times >= REFUSALS_BELIEVED);
}

void net_trouble_print(const struct net_trouble *trouble, bool advises,
                       char *out, size_t size)
{
    static const struct {
        const char *words, *advice;
    } of[] = {
#define HINDRANCE(NAME, words, advice) {words, advice},
#include "net/hindrances.def"
#undef HINDRANCE
    };
    const char *advice = of[trouble->hindrance].advice;

    if (trouble->hindrance == HINDRANCE_SYSTEM)
        advice = trouble->system;
    else if (!advises)
        advice = "";
    (void)snprintf(
        out, size, "the hub at %s%.48s%s:%u %s%s%.80s",
        endpoint_opens(trouble->host), trouble->host,
        endpoint_closes(trouble->host), trouble->port,
        of[trouble->hindrance].words,
        *advice ? trouble->hindrance == HINDRANCE_SYSTEM ? ": " : "; " : "",
        advice);
}
