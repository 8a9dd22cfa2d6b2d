#include "collectives/mail.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/state.h"

enum {
    MOST_MAILS = 256, /* that wait, from a member or for one */
    MAIL_WINDOW = 4   /* segments of a message in flight */
};

/* ---- the list of messages ---- */

static bool is_end(const struct mail_end *end, const struct member *member)
{
    return end->member == member && end->session == member->session;
}

static bool is_lost(const struct mail_end *end)
{
    return end->member->session != end->session;
}

/* The message that this member sends, or receives, under this number. */
static struct mail *find_sent(const struct coordinator *coordinator,
                              const struct member *member, uint64_t number)
{
    struct mail *mail = coordinator->mails.list;

    while (mail &&
           (!is_end(&mail->from, member) || mail->from.number != number))
        mail = mail->next;
    return mail;
}

static struct mail *find_taken(const struct coordinator *coordinator,
                               const struct member *member, uint64_t number)
{
    struct mail *mail = coordinator->mails.list;

    while (mail && (!is_end(&mail->to, member) || !mail->turn ||
                    mail->to.number != number))
        mail = mail->next;
    return mail;
}

static struct mail *mail_new(struct coordinator *coordinator)
{
    struct mail **link = &coordinator->mails.list;

    while (*link)
        link = &(*link)->next;
    *link = calloc(1, sizeof **link);
    if (!*link)
        abort();
    (*link)->id = ++coordinator->mails.next_id;
    return *link;
}

static void mail_destroy(struct coordinator *coordinator, struct mail *gone)
{
    struct mail **link = &coordinator->mails.list;

    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    free(gone);
}

void mails_destroy(struct coordinator *coordinator)
{
    while (coordinator->mails.list)
        mail_destroy(coordinator, coordinator->mails.list);
}

/* ---- telling ---- */

static void tell_end(struct coordinator *coordinator,
                     const struct member *member, uint64_t number,
                     const char *failure)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = number;
    msg.outcome.outcome = failure ? ENDING_FAIL : ENDING_SUCCESS;
    (void)snprintf(msg.outcome.text, sizeof msg.outcome.text, "%s",
                   failure ? failure : "");
    effects_send(coordinator->out, member->control, &msg, NULL);
}

static void announce(struct coordinator *coordinator, const struct mail *mail,
                     uint32_t tag)
{
    struct msg msg = {.kind = MSG_MAIL};

    msg.mail.id = mail->id;
    msg.mail.from = group_rank(coordinator, mail->from.member);
    msg.mail.tag = tag;
    msg.mail.bytes = mail->bytes;
    effects_send(coordinator->out, mail->to.member->control, &msg, NULL);
}

static void withdraw(struct coordinator *coordinator, const struct mail *mail)
{
    struct msg msg = {.kind = MSG_WITHDRAW};

    msg.withdraw.id = mail->id;
    msg.withdraw.number = mail->turn ? mail->to.number : 0;
    effects_send(coordinator->out, mail->to.member->control, &msg, NULL);
}

static void send_credit(struct coordinator *coordinator, struct mail *mail,
                        uint32_t segments)
{
    struct msg msg = {.kind = MSG_CREDIT};

    mail->credit += segments;
    msg.credit.exchange = mail->from.number;
    msg.credit.more = segments;
    effects_send(coordinator->out, mail->from.member->control, &msg, NULL);
}

/* ---- a message's life ---- */

/* Whether one more is too much for one of the two. */
static bool is_full(const struct coordinator *coordinator,
                    const struct member *from, const struct member *to)
{
    unsigned sent = 0, waiting = 0;

    for (const struct mail *mail = coordinator->mails.list; mail;
         mail = mail->next) {
        sent += mail->from.member == from;
        waiting += mail->to.member == to;
    }
    return sent >= MOST_MAILS || waiting >= MOST_MAILS;
}

void mail_on_send(struct coordinator *coordinator, struct member *member,
                  const struct event *event)
{
    const struct msg_send *send = &event->msg->send;
    const struct group *group = &coordinator->group;
    struct member *to = send->to < group->size ? group->roster[send->to] : NULL;
    struct mail *mail;

    if (!to || !is_here(to) || !is_listed(member)) {
        tell_end(coordinator, member, send->number,
                 "no member that is here has the receiver's rank");
        return;
    }
    if (is_full(coordinator, member, to)) {
        tell_end(coordinator, member, send->number,
                 "too many messages wait to be received");
        return;
    }
    mail = mail_new(coordinator);
    mail->from = (struct mail_end){member, member->session, send->number};
    mail->to = (struct mail_end){to, to->session, 0};
    mail->bytes = send->bytes;
    announce(coordinator, mail, send->tag);
}

void mail_on_take(struct coordinator *coordinator, struct member *member,
                  const struct event *event)
{
    const struct msg_take *take = &event->msg->take;
    struct mails *mails = &coordinator->mails;

    for (struct mail *mail = mails->list; mail; mail = mail->next)
        if (mail->id == take->id && is_end(&mail->to, member) && !mail->turn) {
            mail->turn = ++mails->next_turn;
            mail->to.number = take->number;
            coordinator->dirty |= DIRTY_MAIL;
            return;
        }
    tell_end(coordinator, member, take->number,
             "the message has been withdrawn");
}

void mail_on_segment(struct coordinator *coordinator, struct member *member,
                     const struct event *event)
{
    const struct msg_part *part = &event->msg->part;
    struct mail *mail = find_sent(coordinator, member, part->number);
    uint64_t most = coordinator->config.segment_bytes;
    uint64_t offset = (uint64_t)part->part * most;
    uint64_t size = event->payload->size;
    struct msg msg = {.kind = MSG_PIECE};

    if (!mail)
        return; /* it has been received, or is lost */
    if (!mail->credit || offset >= mail->bytes || size > most ||
        size > mail->bytes - offset) {
        group_lose(coordinator, member, "it sent a segment that nobody wanted");
        return;
    }
    mail->credit--;
    msg.piece.number = mail->to.number;
    msg.piece.offset = offset;
    msg.piece.checksum = part->checksum;
    effects_send(coordinator->out, mail->to.member->bulk, &msg, event->payload);
}

void mail_on_credit(struct coordinator *coordinator,
                    const struct member *member,
                    const struct msg_credit *credit)
{
    struct mail *mail = find_taken(coordinator, member, credit->exchange);

    if (mail && mail->flows && credit->more <= MAIL_WINDOW - mail->credit)
        send_credit(coordinator, mail, (uint32_t)credit->more);
}

void mail_on_end(struct coordinator *coordinator, struct member *member,
                 const struct event *event)
{
    const struct mail *mail =
        find_sent(coordinator, member, event->msg->end.number);
    struct msg msg = {.kind = MSG_END};

    if (!mail || !mail->flows)
        return;
    msg.end.number = mail->to.number;
    msg.end.checksum = event->msg->end.checksum;
    effects_send(coordinator->out, mail->to.member->control, &msg, NULL);
}

void mail_on_received(struct coordinator *coordinator, struct member *member,
                      const struct event *event)
{
    struct mail *mail =
        find_taken(coordinator, member, event->msg->received.number);

    if (!mail)
        return;
    tell_end(coordinator, mail->from.member, mail->from.number,
             event->msg->received.good
                 ? NULL
                 : "it did not match its checksum at the receiver");
    mail_destroy(coordinator, mail);
    coordinator->dirty |= DIRTY_MAIL;
}

/* ---- the settle pass ---- */

static void drop_lost(struct coordinator *coordinator)
{
    struct mail *next;

    for (struct mail *mail = coordinator->mails.list; mail; mail = next) {
        bool from_lost = is_lost(&mail->from), to_lost = is_lost(&mail->to);

        next = mail->next;
        if (!from_lost && !to_lost)
            continue;
        if (!from_lost)
            tell_end(coordinator, mail->from.member, mail->from.number,
                     "the receiver is lost");
        else if (!to_lost)
            withdraw(coordinator, mail);
        mail_destroy(coordinator, mail);
    }
}

/* Lets the message flow that each receiver took first; one at a time, so that
 * what is on its way to it is bounded. Its SIT may come after its TAKE. */
static void start_next(struct coordinator *coordinator)
{
    const struct member *members = coordinator->group.members;
    struct mail *first[COORDINATOR_MEMBERS] = {NULL};
    bool busy[COORDINATOR_MEMBERS] = {false};

    for (struct mail *mail = coordinator->mails.list; mail; mail = mail->next) {
        size_t place = (size_t)(mail->to.member - members);

        busy[place] |= mail->flows;
        if (mail->turn && (!first[place] || mail->turn < first[place]->turn))
            first[place] = mail;
    }
    for (size_t i = 0; i < COORDINATOR_MEMBERS; i++)
        if (first[i] && !busy[i] && members[i].bulk != PEER_NONE) {
            first[i]->flows = true;
            send_credit(coordinator, first[i], MAIL_WINDOW);
        }
}

void mail_settle(struct coordinator *coordinator)
{
    drop_lost(coordinator);
    start_next(coordinator);
}
