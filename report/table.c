#include "report/table.h"

#include <inttypes.h>
#include <string.h>

#include "core/quote.h"
#include "report/columns.h"
#include "report/stamp.h"

enum {
    MAX_NAME = 16,
    LINE_BYTES = 512,
    LEAST_STATE = 14, /* columns that the state should have */
    HALF = 48,        /* where the second fact of a head's line begins */
    LABEL = 8,        /* columns of its name */
    GAP = 2
};

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

/* How the table is laid out: what there is room for. */
struct layout {
    const struct table_style *style;
    unsigned width; /* columns that may be used */
    unsigned name;  /* columns of a name */
    unsigned spare; /* columns of a higher `spare` are left out */
    unsigned nodes; /* rows for nodes */
};

static unsigned width_used(const struct layout *layout)
{
    unsigned used = 1 + layout->name + 2;

    for (unsigned i = 0; i < column_count; i++)
        if (columns[i].spare <= layout->spare)
            used += GAP + columns[i].width;
    return used + GAP;
}

unsigned table_nodes(const struct hub_view *view)
{
    return view->count < TABLE_NODES ? view->count : TABLE_NODES;
}

static unsigned longest_name(const struct hub_view *view, unsigned most)
{
    char bytes[LINE_BYTES];
    size_t longest = 4;

    for (unsigned i = 0; i < table_nodes(view); i++) {
        struct text name;
        size_t length;

        text_init(&name, bytes, sizeof bytes);
        length = quote_name(&name, view->nodes[i].name, most);
        longest = length > longest ? length : longest;
    }
    return (unsigned)longest;
}

static unsigned rows_for_nodes(const struct table_style *style, unsigned rest,
                               unsigned count)
{
    unsigned most = style->height > rest + 2 ? style->height - rest - 2 : 1;

    if (!style->height || count + rest < style->height)
        most = count;
    return most < TABLE_NODES ? most : TABLE_NODES;
}

static struct layout start_layout(const struct table_style *style)
{
    unsigned width = style->width;
    struct layout layout = {.style = style, .spare = column_count};

    width = width < TABLE_MIN_WIDTH ? TABLE_MIN_WIDTH : width;
    layout.width = width > TABLE_MAX_WIDTH ? TABLE_MAX_WIDTH : width - 1;
    return layout;
}

/* `rest`: lines that are not of nodes. */
static void plan_nodes(struct layout *layout, const struct hub_view *view,
                       unsigned rest)
{
    unsigned quarter = layout->width / 4;

    layout->name = longest_name(view, quarter < MAX_NAME ? quarter : MAX_NAME);
    layout->nodes = rows_for_nodes(layout->style, rest, view->count);
    while (layout->spare > 0 &&
           width_used(layout) + LEAST_STATE > layout->width)
        layout->spare--;
}

/* ---- lines ---- */

/* Adds a line, cut to the width; `colour` is an escape sequence or NULL. */
static void add_line(const struct layout *layout, const struct text *line,
                     const char *colour, struct text *out)
{
    bool coloured = colour && layout->style->colour;

    text_add(out, "%s", coloured ? colour : "");
    (void)quote_plain(out, line->bytes, layout->width);
    text_add(out, "%s\n", coloured ? PLAIN : "");
}

static void add_right(struct text *line, const char *words, unsigned width)
{
    text_add(line, "%*s%*s", GAP, "", (int)width, words);
}

static void add_titles(const struct layout *layout, struct text *out)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, " %-*s", (int)layout->name + 2, "node");
    for (unsigned i = 0; i < column_count; i++)
        if (columns[i].spare <= layout->spare)
            add_right(&line, columns[i].title, columns[i].width);
    text_add(&line, "%*sstate", GAP, "");
    add_line(layout, &line, BOLD, out);
}

static const char *colour_of(const struct hub_node_view *node)
{
    if (node->gone)
        return DIM;
    if (node->silent || node->quarantined)
        return YELLOW;
    return node->best ? BOLD : NULL;
}

static void add_node(const struct layout *layout,
                     const struct hub_node_view *node, struct text *out)
{
    char bytes[LINE_BYTES], cell_bytes[32];
    struct text line, cell;
    size_t used;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, " ");
    used = quote_name(&line, node->name, layout->name);
    text_add(&line, "%-*s", (int)(layout->name + 2 - used),
             node->best ? " *" : "");
    for (unsigned i = 0; i < column_count; i++) {
        if (columns[i].spare > layout->spare)
            continue;
        text_init(&cell, cell_bytes, sizeof cell_bytes);
        columns[i].add(node, &cell);
        add_right(&line, cell_bytes, columns[i].width);
    }
    text_add(&line, "%*s", GAP, "");
    column_add_state(node, &line);
    add_line(layout, &line, colour_of(node), out);
}

/* Those that are gone only where there is room for all. */
static void add_nodes(const struct layout *layout, const struct hub_view *view,
                      struct text *out)
{
    bool crowded = layout->nodes < view->count;
    char bytes[LINE_BYTES];
    struct text line;
    unsigned shown = 0;

    for (unsigned i = 0; i < view->count && shown < layout->nodes; i++) {
        if (crowded && view->nodes[i].gone)
            continue;
        add_node(layout, &view->nodes[i], out);
        shown++;
    }
    if (!crowded)
        return;
    text_init(&line, bytes, sizeof bytes);
    text_add(&line, " ... and %u more", view->count - shown);
    add_line(layout, &line, DIM, out);
}

/* A fact with its name in front. */
struct fact {
    const char *name, *value; /* no value: it is left out */
};

static bool fit_beside(const struct layout *layout, const struct fact facts[2])
{
    return facts[0].value && facts[1].value &&
           LABEL + strlen(facts[0].value) < HALF &&
           HALF + LABEL + strlen(facts[1].value) <= layout->width;
}

/* Two facts beside each other, or below each other where they would not fit.
 * Returns the lines; none is written if `out` is NULL. */
static unsigned add_facts(const struct layout *layout,
                          const struct fact facts[2], struct text *out)
{
    bool beside = fit_beside(layout, facts);
    char bytes[LINE_BYTES];
    unsigned lines = 0;
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    for (unsigned i = 0; i < 2; i++) {
        if (!facts[i].value)
            continue;
        if (i == 1 && beside)
            text_pad(&line, HALF);
        text_add(&line, " %-*s%s", LABEL - 1, facts[i].name, facts[i].value);
        if (i == 0 && beside)
            continue;
        if (out)
            add_line(layout, &line, NULL, out);
        text_init(&line, bytes, sizeof bytes);
        lines++;
    }
    return lines;
}

void table_policy(const struct table_head *head, const struct hub_view *view,
                  struct text *out)
{
    if (!head->policy)
        return;
    text_add(out, "%s", head->policy);
    if (view->every)
        text_add(out, " k=%" PRIu64 " d=%" PRIu64, view->every, view->delay);
    text_add(out, "%s", head->rules ? head->rules : "");
}

void table_left(const struct hub_view *view, struct text *out)
{
    if (view->eta_by == ETA_NOTHING) {
        text_add(out, "end not known yet");
        return;
    }
    text_add(out, view->eta_at_most ? "at most " : "about ");
    stamp_add_span(out, (nanos)(view->eta.seconds * (double)SECOND));
    text_add(out, " left");
    if (view->eta.spread >= 1) {
        text_add(out, " +- ");
        stamp_add_span(out, (nanos)(view->eta.spread * (double)SECOND));
    }
    text_add(out, " (%s)", eta_end_words(view->eta_by));
}

/* Writes the head unless `out` is NULL; returns its lines. */
static unsigned add_head(const struct layout *layout, const struct table *table,
                         struct text *out)
{
    const struct table_head *head = table->head;
    char bytes[LINE_BYTES], policy[LINE_BYTES];
    const struct fact facts[2][2] = {
        {{"data", head->data}, {"model", head->model}},
        {{"policy", head->policy ? policy : NULL}, {"goal", head->goal}},
    };
    unsigned lines = head->title ? 1 : 0;
    struct text line;

    text_init(&line, policy, sizeof policy);
    table_policy(head, table->view, &line);
    if (out && head->title) {
        text_init(&line, bytes, sizeof bytes);
        text_add(&line, "starswitch  %s", head->title);
        add_line(layout, &line, BOLD, out);
    }
    for (unsigned i = 0; i < 2; i++)
        lines += add_facts(layout, facts[i], out);
    return lines;
}

static bool awaits_end(const struct hub_view *view)
{
    return view->has_end && !view->ending && !view->stopping;
}

/* What matters least comes last, where it may be cut. */
static void add_centre(const struct layout *layout, const struct table *table,
                       struct text *out)
{
    const struct hub_view *view = table->view;
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, " centre  version %" PRIu64 "  %s ", view->version,
             column_loss_name(view));
    column_add_loss(&line, view->score);
    if (view->error > 0)
        text_add(&line, " +-%.2g", view->error);
    if (view->accuracy >= 0)
        text_add(&line, "  test %.1f %%", 100 * view->accuracy);
    if (column_has_loss(view->best_score)) {
        text_add(&line, "  best ");
        column_add_loss(&line, view->best_score);
        text_add(&line, " (version %" PRIu64 ")", view->best_version);
    }
    if (!awaits_end(view)) {
        text_add(&line, "  ");
        stamp_add_span(&line, table->elapsed);
    }
    if (view->tasks)
        text_add(&line, "  epoch %" PRIu64 ": %u of %u tasks done",
                 view->task_epoch + 1, view->tasks_done, view->tasks);
    text_add(&line, "  rounds %" PRIu64, view->rounds);
    add_line(layout, &line, NULL, out);
}

static void add_time(const struct layout *layout, const struct table *table,
                     struct text *out)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, " time    ");
    stamp_add_span(&line, table->elapsed);
    text_add(&line, ", ");
    table_left(table->view, &line);
    add_line(layout, &line, NULL, out);
}

static void add_hub(const struct layout *layout, const struct hub_view *view,
                    struct text *out)
{
    char bytes[LINE_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, " hub     %s", view->state);
    if (view->ending && view->reason[0])
        text_add(&line, ": %s", view->reason);
    add_line(layout, &line, NULL, out);
}

void table_draw(const struct table *table, const struct table_style *style,
                struct text *out)
{
    struct layout layout = start_layout(style);
    bool timed = awaits_end(table->view);

    plan_nodes(&layout, table->view,
               add_head(&layout, table, NULL) + 3 + timed);
    (void)add_head(&layout, table, out);
    add_titles(&layout, out);
    add_nodes(&layout, table->view, out);
    add_centre(&layout, table, out);
    if (timed)
        add_time(&layout, table, out);
    add_hub(&layout, table->view, out);
}
