#include "hub/program/page.h"

#include <stdio.h>
#include <string.h>

#include "hub/program/ctl.h"
#include "hub/program/state.h"
#include "store/file.h"

#define TELL_EVERY (200 * MILLISECOND)
#define COUNT_EVERY (2 * SECOND) /* it takes time with the chunks of rounds */

static_assert((int)REFUSAL_COUNT <= (int)FEED_REFUSALS,
              "every reason has its place");

/* A HOST without a port has that of hubs, where no page is. */
static struct endpoint endpoint_of(const struct options *options)
{
    struct endpoint at = options->page;

    if (at.port == DEFAULT_PORT)
        at.port = WEB_PORT;
    return at;
}

enum status hub_page_plan(struct hub_page *page, const struct options *options,
                          struct why *why)
{
    if (options->no_page)
        return STATUS_OK;
    if (options->page_token_file[0])
        return token_read(options->page_token_file, &page->token, why);
    if (endpoint_is_loopback(&options->page))
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--page %.60s: others could stop the run. Say "
                   "--page-token-file FILE: a file of mode 0600, with 16 "
                   "characters or more",
                   options->page.host);
}

/* What ctl may be asked, too, but what it answers by itself. */
static enum status take_order(void *owner, const char *line, uint64_t ticket,
                              struct why *why)
{
    struct msg msg = {.kind = MSG_ORDER};
    enum status status = ctl_read(line, &msg.order, why);

    if (status == STATUS_OK && (msg.order.command == COMMAND_STATUS ||
                                msg.order.command == COMMAND_RELOAD))
        status = because(why, STATUS_USAGE, "this is asked of ctl alone");
    if (status != STATUS_OK)
        return status;
    msg.order.ticket = ticket;
    if (!net_post(owner, &msg, NULL))
        return because(why, STATUS_NO_MEMORY, "no memory for the order");
    return STATUS_OK;
}

static void say_where(struct display *display, const struct web *web,
                      bool taken)
{
    struct note note = {.kind = NOTE_PAGE};
    struct text words;

    text_init(&words, note.text, sizeof note.text);
    text_add(&words, "http://");
    endpoint_print(web_at(web), &words);
    text_add(&words, "/%s", taken ? ", as its usual port is taken" : "");
    display_note(display, net_now(), &note);
}

static void say_why_not(struct display *display, const struct why *why)
{
    struct note note = {.kind = NOTE_NO_PAGE};

    (void)snprintf(note.text, sizeof note.text, "%.199s", why->text);
    display_note(display, net_now(), &note);
}

static void open_course(struct hub_page *page, const struct options *options,
                        struct display *display)
{
    const struct spool_complaint complaint = {display_complain, display};
    struct why why = {""};

    if (options->course[0] &&
        (file_make_way(options->course, &why) != STATUS_OK ||
         course_writer_open(options->course, &display->head, options->goal,
                            complaint, &page->course, &why) != STATUS_OK))
        display_complain(display, why.text);
}

void hub_page_open(struct hub_page *page, const struct options *options,
                   struct display *display, struct net *net)
{
    struct web_config config = {.at = endpoint_of(options),
                                .any_port = !options->given.page,
                                .token = page->token,
                                .head = &display->head,
                                .goal = options->goal,
                                .order = &take_order,
                                .owner = net};
    struct why why = {""};
    enum status status;

    open_course(page, options, display);
    if (options->no_page)
        return;
    status = web_open(&config, &page->web, &why);
    token_forget(&config.token);
    token_forget(&page->token);
    if (status == STATUS_OK)
        say_where(display, page->web,
                  web_at(page->web)->port != config.at.port);
    else
        say_why_not(display, &why);
}

void hub_page_close(struct hub_page *page)
{
    course_writer_close(&page->course);
    web_close(&page->web);
    token_forget(&page->token);
}

void hub_page_note(struct hub_page *page, const struct display *display,
                   nanos now, const struct note *note)
{
    nanos elapsed = now - display->begun;

    if (note->kind == NOTE_SAVED)
        page->saved = display->wall + elapsed;
    if (note_level(note->kind) == LEVEL_DEBUG)
        return;
    course_writer_note(page->course, elapsed, display->wall + elapsed, note);
    if (page->web)
        feed_note(web_feed(page->web), elapsed, display->wall + elapsed, note);
}

bool hub_page_answer(struct hub_page *page, const struct msg *msg)
{
    if (!page->web || msg->kind != MSG_ANSWER ||
        msg->answer.ticket < WEB_TICKETS)
        return false;
    feed_answer(web_feed(page->web), &msg->answer);
    return true;
}

void hub_page_tick(struct hub_page *page, const struct page_sources *sources,
                   nanos now, const struct hub_view *view)
{
    static struct snapshot snapshot;
    struct display *display = sources->display;

    if ((!page->web && !page->course) ||
        (now - page->told < TELL_EVERY && !view->ended))
        return;
    page->told = now;
    if (now - page->counted >= COUNT_EVERY) {
        page->counted = now;
        hub_look_at_uploads(sources->hub, &snapshot.uploads);
    }
    snapshot.view = *view;
    snapshot.now = now;
    snapshot.elapsed = now - display->begun;
    snapshot.wall = display->wall + snapshot.elapsed;
    snapshot.saved = page->saved;
    snapshot.pool = pool_bytes(sources->pool);
    memcpy(snapshot.notes, display->logger.notes, sizeof snapshot.notes);
    snapshot.reasons = REFUSAL_COUNT;
    state_refusals(sources->net, snapshot.refusals);
    snapshot.stalled = net_stalled(sources->net, now);
    if (page->web)
        (void)feed_publish(web_feed(page->web), &snapshot);
    if (view->ended || course_writer_due(page->course, snapshot.elapsed))
        course_writer_look(page->course, &snapshot);
}
