#include "hub/program/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hub/page/status.h"
#include "store/file.h"

/* Jobs of a large model take minutes; none of them is a task without end. */
#define STALLED (300 * SECOND)

static void write_state(struct display *display, const struct table *table,
                        const struct table_process *process)
{
    size_t size =
        TABLE_REST_BYTES + (size_t)table->view->count * TABLE_NODE_BYTES;
    char path[FILE_PATH_BYTES], *bytes = malloc(size);
    struct why why = {"no memory to write the state"};
    enum status status = STATUS_NO_MEMORY;
    struct text text;

    if (bytes) {
        text_init(&text, bytes, size);
        table_state(table, process, table->view->count, &text);
        (void)snprintf(path, sizeof path, "%s/state.json",
                       display->options->directory);
        status = file_replace_lightly(
            path, &(struct part){text.bytes, text.length}, 1, &why);
    }
    free(bytes);
    if (status != STATUS_OK)
        display_complain(display, why.text);
}

void state_refusals(const struct net *net,
                    struct table_count out[REFUSAL_COUNT])
{
    for (unsigned i = 0; i < REFUSAL_COUNT; i++)
        out[i] = (struct table_count){net_refusal_name((enum net_refusal)i),
                                      net_refusals(net)->count[i]};
}

/* All that is told, at one moment. */
struct moment_now {
    struct table table;
    struct table_process process;
    struct table_count refusals[REFUSAL_COUNT];
};

static void look(struct display *display, const struct net *net,
                 struct pool *pool, const struct hub *hub,
                 struct moment_now *out)
{
    static struct hub_view view;
    struct hub_uploads uploads;

    hub_look(hub, net_now(), &view);
    hub_look_at_uploads(hub, &uploads);
    out->table = display_table(display, net_now(), &view);
    out->process =
        (struct table_process){uploads,          resident_bytes(),
                               pool_bytes(pool), display->logger.notes,
                               out->refusals,    REFUSAL_COUNT};
    state_refusals(net, out->refusals);
}

void state_dump(struct display *display, const struct net *net,
                struct pool *pool, const struct hub *hub)
{
    static char line[TABLE_STATE_BYTES];
    struct moment_now now;
    struct text text;

    look(display, net, pool, hub, &now);
    text_init(&text, line, sizeof line);
    table_state(&now.table, &now.process, table_nodes(now.table.view), &text);
    screen_say(&display->screen, line);
    write_state(display, &now.table, &now.process);
}

void state_describe(struct display *display, const struct net *net,
                    struct pool *pool, const struct hub *hub,
                    struct text *people, struct text *json)
{
    struct moment_now now;

    look(display, net, pool, hub, &now);
    table_tell(&now.table, &now.process, people);
    table_state(&now.table, &now.process, table_nodes(now.table.view), json);
}

static void say_course(const struct hub_view *view)
{
    char line[200];
    unsigned here = 0;
    double rate = 0;

    for (unsigned i = 0; i < view->count; i++) {
        here += !view->nodes[i].gone;
        rate += view->nodes[i].gone ? 0 : view->nodes[i].rate;
    }
    (void)snprintf(line, sizeof line,
                   "%u node%s, version %" PRIu64 ", %.0f iterations/s; %s",
                   here, here == 1 ? "" : "s", view->version, rate,
                   view->state);
    service_say(line);
}

void state_tell(struct service *service, const struct net *net, nanos now,
                const struct hub_view *view)
{
    if (net_stalled(net, now) < STALLED)
        service_alive(service, now);
    if (view->ending || view->stopping)
        service_stopping(service, now);
    if (service_wants_status(service, now))
        say_course(view);
}
