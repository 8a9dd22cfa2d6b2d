/* The table for people who ask once: all that the JSON of table_state holds. */
#include <inttypes.h>

#include "report/report.h"
#include "report/table.h"

enum { WIDTH = 120 };

static void add_open(const struct table *table,
                     const struct table_process *process, struct text *out)
{
    const struct hub_uploads *uploads = &process->uploads;

    text_add(out, " chunks  %" PRIu64 " offered", table->view->offered);
    if (table->view->offered)
        text_add(out, ": ");
    report_fates(table->view, out);
    text_add(out, "; %" PRIu64 " open, in %u round%s\n", uploads->open,
             uploads->rounds, uploads->rounds == 1 ? "" : "s");
    text_add(out, " uploads %u under way, ", uploads->partial);
    text_add_bytes(out, (double)uploads->held);
    text_add(out, " here\n");
    if (!table->view->preempted && !table->view->rollbacks)
        return;
    text_add(out, " undone  ");
    report_guards(table->view, out);
    text_add(out, "\n");
}

/* How often things have happened, those that have. */
static void add_count(struct text *out, const char *title, bool *any,
                      const char *name, uint64_t count)
{
    if (!count)
        return;
    if (*any)
        text_add(out, ", ");
    else
        text_add(out, " %-7s ", title);
    text_add(out, "%" PRIu64 " %s", count, name);
    *any = true;
}

static void add_events(const struct table_process *process, struct text *out)
{
    bool any = false;

    for (unsigned i = 0; i < NOTE_KINDS; i++)
        add_count(out, "events", &any, note_name((enum note_kind)i),
                  process->notes[i]);
    text_add(out, any ? "\n" : "");
    any = false;
    for (unsigned i = 0; i < process->reasons; i++)
        add_count(out, "refused", &any, process->refusals[i].name,
                  process->refusals[i].count);
    text_add(out, any ? "\n" : "");
}

void table_tell(const struct table *table, const struct table_process *process,
                struct text *out)
{
    const struct table_style style = {.width = WIDTH};

    table_draw(table, &style, out);
    text_add(out, " run     %016" PRIx64 ", epoch %" PRIu64 "\n",
             table->view->run, table->view->epoch);
    add_open(table, process, out);
    text_add(out, " memory  ");
    text_add_bytes(out, (double)process->resident);
    text_add(out, ", of them ");
    text_add_bytes(out, (double)process->pool);
    text_add(out, " for values on their way\n");
    add_events(process, out);
}
