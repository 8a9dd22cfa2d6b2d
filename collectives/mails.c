/* Messages from one member to another. A sender announces one, and its data
 * flow once the receiver has a place for it: part by part, on the receiver's
 * credit, through the hub, which neither keeps nor reads them. */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/inside.h"

static int place_of(const struct board *board, const struct seat *seat)
{
    return (int)(seat - board->seats);
}

static void tell_sender(struct board *board, const struct seat *seat,
                        uint64_t number, enum ending outcome,
                        const char *text)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = number;
    msg.outcome.outcome = outcome;
    (void)snprintf(msg.outcome.text, sizeof msg.outcome.text, "%s", text);
    effects_send(board->out, seat->control, &msg, NULL);
}

/* The message that this member sends, or receives, under this number. */
static struct mail *mail_from(struct board *board, const struct seat *seat,
                              uint64_t number)
{
    for (struct mail *mail = board->mails; mail; mail = mail->next)
        if (mail->from == place_of(board, seat) && mail->number_from == number)
            return mail;
    return NULL;
}

static struct mail *mail_to(struct board *board, const struct seat *seat,
                            uint64_t number)
{
    for (struct mail *mail = board->mails; mail; mail = mail->next)
        if (mail->to == place_of(board, seat) && mail->turn &&
            mail->number_to == number)
            return mail;
    return NULL;
}

static void send_credit(struct board *board, struct mail *mail, uint32_t parts)
{
    struct msg msg = {.kind = MSG_CREDIT};

    mail->credit += parts;
    msg.credit.exchange = mail->number_from;
    msg.credit.more = parts;
    effects_send(board->out, board->seats[mail->from].control, &msg, NULL);
}

void mails_flow(struct board *board, int to)
{
    struct mail *first = NULL;

    if (board->seats[to].bulk == PEER_NONE)
        return; /* its SIT may come after its TAKE */

    for (struct mail *mail = board->mails; mail; mail = mail->next) {
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
    send_credit(board, first, MAIL_WINDOW);
}

static void mail_free(struct board *board, struct mail *gone)
{
    struct mail **link = &board->mails;

    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    free(gone);
}

void mails_free(struct board *board)
{
    while (board->mails)
        mail_free(board, board->mails);
}

/* ---- a message's life ---- */

/* Whether one more is too much for one of the two. */
static bool is_full(const struct board *board, int from, int to)
{
    unsigned sent = 0, waiting = 0;

    for (const struct mail *mail = board->mails; mail; mail = mail->next) {
        sent += mail->from == from;
        waiting += mail->to == to;
    }
    return sent >= BOARD_MAILS || waiting >= BOARD_MAILS;
}

static struct mail *mail_add(struct board *board)
{
    struct mail **link = &board->mails;

    while (*link)
        link = &(*link)->next;
    *link = calloc(1, sizeof **link);
    if (!*link)
        abort();
    (*link)->id = board->next_id++;
    return *link;
}

void mails_on_send(struct board *board, struct seat *seat,
                   const struct event *event)
{
    const struct msg_send *send = &event->msg->send;
    int from = place_of(board, seat);
    int to = send->to < board->size ? board->roster[send->to] : -1;
    struct msg msg = {.kind = MSG_MAIL};
    struct mail *mail;

    if (to < 0 || !board->seats[to].present || !seat->listed) {
        tell_sender(board, seat, send->number, ENDING_FAIL,
                    "no member that is here has the receiver's rank");
        return;
    }
    if (is_full(board, from, to)) {
        tell_sender(board, seat, send->number, ENDING_FAIL,
                    "too many messages wait to be received");
        return;
    }
    mail = mail_add(board);
    mail->from = from;
    mail->to = to;
    mail->number_from = send->number;
    mail->bytes = send->bytes;
    msg.mail.id = mail->id;
    msg.mail.from = seat_rank(board, seat);
    msg.mail.tag = send->tag;
    msg.mail.bytes = send->bytes;
    effects_send(board->out, board->seats[to].control, &msg, NULL);
}

void mails_on_take(struct board *board, struct seat *seat,
                   const struct event *event)
{
    const struct msg_take *take = &event->msg->take;
    int to = place_of(board, seat);

    for (struct mail *mail = board->mails; mail; mail = mail->next)
        if (mail->id == take->id && mail->to == to && !mail->turn) {
            mail->turn = ++board->next_turn;
            mail->number_to = take->number;
            mails_flow(board, to);
            return;
        }
    tell_sender(board, seat, take->number, ENDING_FAIL,
                "the message has been withdrawn");
}

void mails_on_part(struct board *board, struct seat *seat,
                   const struct event *event)
{
    const struct msg_part *part = &event->msg->part;
    struct mail *mail = mail_from(board, seat, part->number);
    uint64_t offset = (uint64_t)part->part * board->config.part_bytes;
    uint64_t size = event->payload->size;
    struct msg msg = {.kind = MSG_PIECE};

    if (!mail)
        return; /* it has been received, or is lost */
    if (!mail->credit || offset >= mail->bytes ||
        size > board->config.part_bytes || size > mail->bytes - offset) {
        seat_lost(board, seat, "it sent a part that nobody wanted", false);
        return;
    }
    mail->credit--;
    msg.piece.number = mail->number_to;
    msg.piece.offset = offset;
    msg.piece.checksum = part->checksum;
    effects_send(board->out, board->seats[mail->to].bulk, &msg,
                 event->payload);
}

void mails_on_credit(struct board *board, struct seat *seat,
                     const struct msg_credit *credit)
{
    struct mail *mail = mail_to(board, seat, credit->exchange);

    if (mail && mail->active && credit->more <= MAIL_WINDOW - mail->credit)
        send_credit(board, mail, (uint32_t)credit->more);
}

void mails_on_end(struct board *board, struct seat *seat,
                  const struct event *event)
{
    struct mail *mail = mail_from(board, seat, event->msg->end.number);
    struct msg msg = {.kind = MSG_END};

    if (!mail || !mail->active)
        return;
    msg.end.number = mail->number_to;
    msg.end.checksum = event->msg->end.checksum;
    effects_send(board->out, board->seats[mail->to].control, &msg, NULL);
}

void mails_on_received(struct board *board, struct seat *seat,
                       const struct event *event)
{
    struct mail *mail = mail_to(board, seat, event->msg->received.number);
    bool good = event->msg->received.good;
    int to = place_of(board, seat);

    if (!mail)
        return;
    tell_sender(board, &board->seats[mail->from], mail->number_from,
                good ? ENDING_SUCCESS : ENDING_FAIL,
                good ? "" : "it did not match its checksum at the receiver");
    mail_free(board, mail);
    mails_flow(board, to);
}

/* ---- losing ---- */

static void withdraw(struct board *board, const struct mail *mail)
{
    struct msg msg = {.kind = MSG_WITHDRAW};

    msg.withdraw.id = mail->id;
    msg.withdraw.number = mail->turn ? mail->number_to : 0;
    effects_send(board->out, board->seats[mail->to].control, &msg, NULL);
}

void mails_forget(struct board *board, const struct seat *seat)
{
    struct mail *mail = board->mails, *next;
    int place = place_of(board, seat);

    for (; mail; mail = next) {
        int to = mail->to;
        bool active = mail->active;

        next = mail->next;
        if (mail->from != place && to != place)
            continue;
        if (mail->from != place)
            tell_sender(board, &board->seats[mail->from], mail->number_from,
                        ENDING_FAIL, "the receiver is lost");
        else if (to != place)
            withdraw(board, mail);
        mail_free(board, mail);
        if (active && to != place)
            mails_flow(board, to);
    }
}
