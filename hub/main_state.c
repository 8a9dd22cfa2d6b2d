#include "hub/main_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/file.h"

/* Jobs of a large model take minutes; none of them is a task without end. */
#define STALLED (300 * SECOND)

/* The second number there: pages. */
static uint64_t resident_bytes(void)
{
    char line[100] = "", *end = line;
    FILE *file = fopen("/proc/self/statm", "re");

    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    (void)fclose(file);
    (void)strtoull(line, &end, 10);
    return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_state(struct display *display, const struct table *table,
                        const struct table_process *process)
{
    size_t size = TABLE_REST_BYTES +
                  (size_t)table->view->count * TABLE_NODE_BYTES;
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

static void count_refusals(const struct net *net,
                           struct table_count out[REFUSAL_COUNT])
{
    for (unsigned i = 0; i < REFUSAL_COUNT; i++)
        out[i] = (struct table_count){net_refusal_name((enum net_refusal)i),
                                      net_refusals(net)->count[i]};
}

void state_dump(struct display *display, const struct net *net,
                struct pool *pool, const struct hub_view *view,
                const struct hub_uploads *uploads)
{
    char line[TABLE_BYTES];
    struct table_count refusals[REFUSAL_COUNT];
    const struct table table = display_table(display, net_now(), view);
    const struct table_process process = {*uploads,
                                          resident_bytes(),
                                          pool_bytes(pool),
                                          display->logger.notes,
                                          refusals,
                                          REFUSAL_COUNT};
    struct text text;

    count_refusals(net, refusals);
    text_init(&text, line, sizeof line);
    table_state(&table, &process, table_nodes(view), &text);
    screen_say(&display->screen, line);
    write_state(display, &table, &process);
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
                   "%u nodes, version %" PRIu64 ", %.0f iterations/s; %s",
                   here, view->version, rate, view->state);
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
