/* Orders to a running hub, over a Unix socket in its folder.
 *
 * One order per connection: a line comes in, `drain pc1`, and one line of JSON
 * goes out, {"ok":true,"version":17,"text":"..."} or {"ok":false,"code":64,
 * "text":"..."} with an exit code of core/status.def; in the answer to status
 * all that state.json holds stands beside the text. What can be asked is
 * command_words. The socket is
 * the user's alone (mode 0600); there is no other key.
 *
 * The server is on the loop's thread and waits for nobody: it looks at its
 * sockets when the driver ticks, gives the machine an ORDER, and writes when
 * the ANSWER comes. A client that asks nothing is sent away after 5 s, and
 * before that when others need its place. */
#ifndef HUB_PROGRAM_CTL_H
#define HUB_PROGRAM_CTL_H

#include <sys/un.h>

#include "core/options.h"
#include "hub/hub.h"
#include "net/net.h"

enum { CTL_LINE_BYTES = 256 }; /* the longest order, with its end */

struct ctl;

/* Who answers what the machine does not. */
struct ctl_owner {
    void *self;
    /* Does at once what RELOAD asks; what it returns is the order's answer. */
    enum status (*reload)(void *self, struct why *why);
    /* What STATUS is answered: lines for people, and a line of JSON, an
     * object. */
    void (*describe)(void *self, struct text *people, struct text *json);
    /* Answers what is no order, such as "table 80 24", at once and in words;
     * false: it is no such line. */
    bool (*query)(void *self, const char *line, struct text *out);
};

/* Listens; a socket that a hub left behind is replaced, so the caller holds
 * the folder's lock. CONFIG: the name of the folder is too long; IO. What the
 * owner's self points at must outlive it; the struct is copied. */
enum status ctl_open(const char *directory, const struct ctl_owner *owner,
                     struct ctl **out, struct why *why) MUST_CHECK;
/* Whoever waits for an answer gets none. Accepts NULL. */
void ctl_close(struct ctl **ctl);
/* Takes clients in, reads their orders and posts them. */
void ctl_tick(struct ctl *ctl, struct net *net, nanos now);
/* What the machine sends to PEER_OPERATOR. */
void ctl_answer(struct ctl *ctl, const struct msg *msg);

/* Gives an order to the hub that runs in this folder, and returns how that
 * ended; says nothing. OK also if none runs there: *runs says whether. */
enum status ctl_tell(const char *directory, const char *line, bool *runs,
                     struct why *why) MUST_CHECK;

enum { CTL_ANSWER_BYTES = 192 * 1024 };
/* Asks a line of the hub that runs in this folder, which may take so many
 * seconds: its answer, a line of JSON as above, or how that failed. */
enum status ctl_ask(const char *directory, const char *line, int patience,
                    char answer[CTL_ANSWER_BYTES], bool *runs,
                    struct why *why) MUST_CHECK;
/* The text of an answer. */
void ctl_text(const char *answer, struct text *out);

/* What client and server share: where the socket is, and what a line
 * says. CONFIG: the name of the folder is too long; USAGE. */
enum status ctl_address(const char *directory, struct sockaddr_un *out,
                        struct why *why) MUST_CHECK;
enum status ctl_read(const char *line, struct msg_order *out,
                     struct why *why) MUST_CHECK;

#endif
