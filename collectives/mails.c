/* Messages from one member to another. A sender announces one, and its data
 * flow once the receiver has a place for it: segment by segment, on the
 * receiver's credit, through the hub, which neither keeps nor reads them. */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/inside.h"

static int place_of(const struct coordinator *coordinator,
                    const struct member *member)
{
    return (int)(member - coordinator->members);
}

static void tell_sender(struct coordinator *coordinator,
                        const struct member *member, uint64_t number,
                        enum ending outcome, const char *text)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = number;
    msg.outcome.outcome = outcome;
    (void)snprintf(msg.outcome.text, sizeof msg.outcome.text, "%s", text);
    effects_send(coordinator->out, member->control, &msg, NULL);
}

/* The message that this member sends, or receives, under this number. */
static struct mail *mail_from(struct coordinator *coordinator,
                              const struct member *member, uint64_t number)
{
    for (struct mail *mail = coordinator->mails; mail; mail = mail->next)
        if (mail->from == place_of(coordinator, member) &&
            mail->number_from == number)
            return mail;
    return NULL;
}

static struct mail *mail_to(struct coordinator *coordinator,
                            const struct member *member, uint64_t number)
{
    for (struct mail *mail = coordinator->mails; mail; mail = mail->next)
        if (mail->to == place_of(coordinator, member) && mail->turn &&
            mail->number_to == number)
            return mail;
    return NULL;
}

static void send_credit(struct coordinator *coordinator, struct mail *mail,
                        uint32_t segments)
{
    struct msg msg = {.kind = MSG_CREDIT};

    mail->credit += segments;
    msg.credit.exchange = mail->number_from;
    msg.credit.more = segments;
    effects_send(coordinator->out, coordinator->members[mail->from].control,
                 &msg, NULL);
}

void mails_flow(struct coordinator *coordinator, int to)
{
    struct mail *first = NULL;

    if (coordinator->members[to].bulk == PEER_NONE)
        return; /* its SIT may come after its TAKE */

    for (struct mail *mail = coordinator->mails; mail; mail = mail->next) {
        if (mail->to != to || !mail->turn)
            continue;
        if (mail->active)
            return;
        if (!first || mail->turn < first->turn)
            first = mail;
    }
    if (!first)
        return;
    first->active = true;
    send_credit(coordinator, first, MAIL_WINDOW);
}

static void mail_free(struct coordinator *coordinator, struct mail *gone)
{
    struct mail **link = &coordinator->mails;

    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    free(gone);
}

void mails_free(struct coordinator *coordinator)
{
    while (coordinator->mails)
        mail_free(coordinator, coordinator->mails);
}

/* ---- a message's life ---- */

/* Whether one more is too much for one of the two. */
static bool is_full(const struct coordinator *coordinator, int from, int to)
{
    unsigned sent = 0, waiting = 0;

    for (const struct mail *mail = coordinator->mails; mail;
         mail = mail->next) {
        sent += mail->from == from;
        waiting += mail->to == to;
    }
    return sent >= COORDINATOR_MAILS || waiting >= COORDINATOR_MAILS;
}

static struct mail *mail_add(struct coordinator *coordinator)
{
    struct mail **link = &coordinator->mails;

    while (*link)
        link = &(*link)->next;
    *link = calloc(1, sizeof **link);
    if (!*link)
        abort();
    (*link)->id = coordinator->next_id++;
    return *link;
}

void mails_on_send(struct coordinator *coordinator, struct member *member,
                   const struct event *event)
{
    const struct msg_send *send = &event->msg->send;
    int from = place_of(coordinator, member);
    int to = send->to < coordinator->size ? coordinator->roster[send->to] : -1;
    struct msg msg = {.kind = MSG_MAIL};
    struct mail *mail;

    if (to < 0 || !coordinator->members[to].present || !member->listed) {
        tell_sender(coordinator, member, send->number, ENDING_FAIL,
                    "no member that is here has the receiver's rank");
        return;
    }
    if (is_full(coordinator, from, to)) {
        tell_sender(coordinator, member, send->number, ENDING_FAIL,
                    "too many messages wait to be received");
        return;
    }
    mail = mail_add(coordinator);
    mail->from = from;
    mail->to = to;
    mail->number_from = send->number;
    mail->bytes = send->bytes;
    msg.mail.id = mail->id;
    msg.mail.from = member_rank(coordinator, member);
    msg.mail.tag = send->tag;
    msg.mail.bytes = send->bytes;
    effects_send(coordinator->out, coordinator->members[to].control, &msg,
                 NULL);
}

void mails_on_take(struct coordinator *coordinator, struct member *member,
                   const struct event *event)
{
    const struct msg_take *take = &event->msg->take;
    int to = place_of(coordinator, member);

    for (struct mail *mail = coordinator->mails; mail; mail = mail->next)
        if (mail->id == take->id && mail->to == to && !mail->turn) {
            mail->turn = ++coordinator->next_turn;
            mail->number_to = take->number;
            mails_flow(coordinator, to);
            return;
        }
    tell_sender(coordinator, member, take->number, ENDING_FAIL,
                "the message has been withdrawn");
}

void mails_on_part(struct coordinator *coordinator, struct member *member,
                   const struct event *event)
{
    const struct msg_part *part = &event->msg->part;
    struct mail *mail = mail_from(coordinator, member, part->number);
    uint64_t offset = (uint64_t)part->part * coordinator->config.segment_bytes;
    uint64_t size = event->payload->size;
    struct msg msg = {.kind = MSG_PIECE};

    if (!mail)
        return; /* it has been received, or is lost */
    if (!mail->credit || offset >= mail->bytes ||
        size > coordinator->config.segment_bytes ||
        size > mail->bytes - offset) {
        member_lost(coordinator, member, "it sent a segment that nobody wanted",
                    false);
        return;
    }
    mail->credit--;
    msg.piece.number = mail->number_to;
    msg.piece.offset = offset;
    msg.piece.checksum = part->checksum;
    effects_send(coordinator->out, coordinator->members[mail->to].bulk, &msg,
                 event->payload);
}

void mails_on_credit(struct coordinator *coordinator, struct member *member,
                     const struct msg_credit *credit)
{
    struct mail *mail = mail_to(coordinator, member, credit->exchange);

    if (mail && mail->active && credit->more <= MAIL_WINDOW - mail->credit)
        send_credit(coordinator, mail, (uint32_t)credit->more);
}

void mails_on_end(struct coordinator *coordinator, struct member *member,
                  const struct event *event)
{
    struct mail *mail = mail_from(coordinator, member, event->msg->end.number);
    struct msg msg = {.kind = MSG_END};

    if (!mail || !mail->active)
        return;
    msg.end.number = mail->number_to;
    msg.end.checksum = event->msg->end.checksum;
    effects_send(coordinator->out, coordinator->members[mail->to].control, &msg,
                 NULL);
}

void mails_on_received(struct coordinator *coordinator, struct member *member,
                       const struct event *event)
{
    struct mail *mail =
        mail_to(coordinator, member, event->msg->received.number);
    bool good = event->msg->received.good;
    int to = place_of(coordinator, member);

    if (!mail)
        return;
    tell_sender(coordinator, &coordinator->members[mail->from],
                mail->number_from, good ? ENDING_SUCCESS : ENDING_FAIL,
                good ? "" : "it did not match its checksum at the receiver");
    mail_free(coordinator, mail);
    mails_flow(coordinator, to);
}

/* ---- losing ---- */

static void withdraw(struct coordinator *coordinator, const struct mail *mail)
{
    struct msg msg = {.kind = MSG_WITHDRAW};

    msg.withdraw.id = mail->id;
    msg.withdraw.number = mail->turn ? mail->number_to : 0;
    effects_send(coordinator->out, coordinator->members[mail->to].control, &msg,
                 NULL);
}

void mails_forget(struct coordinator *coordinator, const struct member *member)
{
    struct mail *mail = coordinator->mails, *next;
    int place = place_of(coordinator, member);

    for (; mail; mail = next) {
        int to = mail->to;
        bool active = mail->active;

        next = mail->next;
        if (mail->from != place && to != place)
            continue;
        if (mail->from != place)
            tell_sender(coordinator, &coordinator->members[mail->from],
                        mail->number_from, ENDING_FAIL, "the receiver is lost");
        else if (to != place)
            withdraw(coordinator, mail);
        mail_free(coordinator, mail);
        if (active && to != place)
            mails_flow(coordinator, to);
    }
}
