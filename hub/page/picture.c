#include "hub/page/picture.h"

#include <math.h>
#include <string.h>

#include "core/quote.h"
#include "report/axis.h"

enum { WIDTH = 1024, STAR_NODES = 32, ROWS = 12, COLOURS = 8 };
enum { NAME_COLUMNS = 18, ROOMY = 10 /* nodes that have room for two lines */ };
/* Of the star: its middle and its radii; of the curves: their corners. */
enum { X = 256, Y = 285, RX = 190, RY = 150 };
enum { LEFT = 580, RIGHT = 1000, TOP = 90, BOTTOM = 435 };
enum { TABLE = 510, ROW = 22 };

static const char *const colours[COLOURS] = {"#3477b8", "#c05a1c", "#2e8b57",
                                             "#9a4ac0", "#b8860b", "#c02058",
                                             "#008b8b", "#6b6b6b"};

/* Attributes and no style: a browser that has it from the hub allows none that
 * is not the page's. */
#define SMALL "font-size=\"11\" fill=\"#666\" "
#define LARGE "font-size=\"18\" font-weight=\"600\" "
#define MIDDLE "text-anchor=\"middle\" "
#define END "text-anchor=\"end\" "

/* ---- words ---- */

static void words(struct text *out, double x, double y, const char *looks,
                  const char *text)
{
    text_add(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, looks);
    quote_html(out, text);
    text_add(out, "</text>\n");
}

static void name_of(const char *name, char *bytes, size_t size)
{
    struct text text;

    text_init(&text, bytes, size);
    quote_short(&text, name, NAME_COLUMNS);
}

/* A number as people read it, or a dash. */
static void number(double value, int digits, char *bytes, size_t size)
{
    struct text text;

    text_init(&text, bytes, size);
    if (isfinite(value))
        text_add(&text, "%.*g", digits, value);
    else
        text_add(&text, "-");
}

static void loss_number(double loss, char *bytes, size_t size)
{
    number(score_known(loss) ? loss : NAN, 4, bytes, size);
}

/* ---- head ---- */

static void draw_head(const struct table_head *head, const struct snapshot *now,
                      struct text *out)
{
    const struct hub_view *view = &now->view;
    char line[512], loss[24];
    struct text text;

    words(out, 24, 34, LARGE, head->title);
    loss_number(view->score, loss, sizeof loss);
    text_init(&text, line, sizeof line);
    text_add(&text,
             "version %llu after %.0f s, %llu rounds, k = %llu, d = %llu, ",
             (unsigned long long)view->version,
             (double)(view->former + now->elapsed) / (double)SECOND,
             (unsigned long long)view->rounds, (unsigned long long)view->every,
             (unsigned long long)view->delay);
    text_add(&text, "loss %s", loss);
    if (view->accuracy >= 0)
        text_add(&text, ", %.1f %% right", 100 * view->accuracy);
    words(out, 24, 56, SMALL, line);
    text_init(&text, line, sizeof line);
    text_add(&text, "%s: %s", head->policy, view->state);
    words(out, 24, 72, SMALL, line);
}

/* ---- star ---- */

/* Bytes per second, up and down, over the last interval. */
static double rate_of(const struct timeline *timeline, unsigned node)
{
    unsigned last = timeline->count - 1;
    double up, down;

    if (!timeline->count || node >= timeline->nodes)
        return 0; /* whoever the view has behind those has no curve */
    up = (double)timeline->node[node].row[TIMELINE_UP][last];
    down = (double)timeline->node[node].row[TIMELINE_DOWN][last];
    return (isfinite(up) ? up : 0) + (isfinite(down) ? down : 0);
}

static void draw_link(const struct hub_node_view *node, double rate, double x,
                      double y, struct text *out)
{
    double hue = fmax(0, 150 - 22 * fmin((double)node->lag, 7));
    double width = fmin(18, 1.5 + 3 * sqrt(rate / 1e6));

    text_add(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" ", X, Y, x,
             y);
    if (node->gone || node->silent)
        text_add(out, "stroke=\"#999\" stroke-dasharray=\"5 5\"/>\n");
    else
        text_add(out,
                 "stroke=\"hsl(%.0f,62%%,40%%)\" stroke-width=\"%.1f\"/>\n",
                 hue, width);
}

/* Its name, and how it does where there is room: away from the link. */
static void draw_node(const struct hub_node_view *node, double rate, double x,
                      double y, bool roomy, struct text *out)
{
    char name[96], line[64];
    struct text text;

    text_add(out,
             "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"#fff\" "
             "stroke=\"%s\" stroke-width=\"2\"/>\n",
             x, y, roomy ? 13 : 9,
             node->gone || node->silent ? "#999" : "#333");
    if (node->best)
        text_add(out,
                 "<path d=\"M%.1f %.1fm-8 5h16l2-10-6 4-4-7-4 7-6-4z\" "
                 "fill=\"#d9a400\"/>\n",
                 x, y);
    name_of(node->name, name, sizeof name);
    if (!roomy) {
        words(out, x, y < Y - 20 ? y - 13 : y + 20, SMALL MIDDLE, name);
        return;
    }
    words(out, x, y < Y - 20 ? y - 34 : y + 28, MIDDLE, name);
    text_init(&text, line, sizeof line);
    if (node->gone || node->silent)
        text_add(&text, node->gone ? "gone" : "silent");
    else
        text_add(&text, "%.1f MB/s, %llu behind", rate / 1e6,
                 (unsigned long long)node->lag);
    words(out, x, y < Y - 20 ? y - 20 : y + 42, SMALL MIDDLE, line);
}

static void draw_star(const struct snapshot *now, const struct timeline *times,
                      struct text *out)
{
    unsigned count =
        now->view.count < STAR_NODES ? now->view.count : STAR_NODES;

    for (unsigned i = 0; i < 2 * count; i++) { /* all links, then all nodes */
        unsigned at = i < count ? i : i - count;
        const struct hub_node_view *node = &now->view.nodes[at];
        double rate = rate_of(times, at);
        double angle = 2 * M_PI * at / count - M_PI / 2;
        double x = X + RX * cos(angle), y = Y + RY * sin(angle);

        if (i < count)
            draw_link(node, rate, x, y, out);
        else
            draw_node(node, rate, x, y, count <= ROOMY, out);
    }
    text_add(out, "<circle cx=\"%d\" cy=\"%d\" r=\"30\" fill=\"#333\"/>\n", X,
             Y);
    text_add(out,
             "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#fff\">hub"
             "</text>\n",
             X, Y + 5);
}

/* ---- losses ---- */

/* The lowest and the highest loss that is drawn; false: there is none. */
static bool range_of(const struct timeline *timeline, double *low, double *high)
{
    *low = HUGE_VAL;
    *high = -HUGE_VAL;
    for (unsigned n = 0; n <= timeline->nodes; n++) {
        const float *loss = n < timeline->nodes
                                ? timeline->node[n].row[TIMELINE_LOSS]
                                : timeline->loss;

        for (unsigned i = 0; i < timeline->count; i++)
            if (isfinite(loss[i])) {
                *low = fmin(*low, (double)loss[i]);
                *high = fmax(*high, (double)loss[i]);
            }
    }
    return *low <= *high;
}

static void draw_curve(const struct timeline *timeline, const float *loss,
                       const struct axis *x, const struct axis *y,
                       const char *colour, struct text *out)
{
    text_add(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" ",
             colour, loss == timeline->loss ? "3" : "1.5");
    text_add(out, "points=\"");
    for (unsigned i = 0; i < timeline->count; i++)
        if (isfinite(loss[i]))
            text_add(out, "%.1f,%.1f ", axis_place(x, timeline->seconds[i]),
                     axis_place(y, (double)loss[i]));
    text_add(out, "\"/>\n");
}

static void draw_axes(const struct axis *x, const struct axis *y,
                      struct text *out)
{
    char label[32];
    struct text text;

    for (unsigned i = 0; i < axis_ticks(y); i++) {
        double at = axis_place(y, axis_tick(y, i));

        text_add(out,
                 "<line stroke=\"#ddd\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                 "y2=\"%.1f\"/>\n",
                 LEFT, RIGHT, at, at);
        text_init(&text, label, sizeof label);
        axis_label(y, i, &text);
        words(out, LEFT - 8, at + 4, SMALL END, label);
    }
    for (unsigned i = 0; i < axis_ticks(x); i++) {
        text_init(&text, label, sizeof label);
        axis_label(x, i, &text);
        words(out, axis_place(x, axis_tick(x, i)), BOTTOM + 18, SMALL MIDDLE,
              label);
    }
    words(out, RIGHT, BOTTOM + 34, SMALL END, x->name);
}

static void draw_losses(const struct timeline *timeline, struct text *out)
{
    double low, high;
    struct axis x, y;

    words(out, LEFT, TOP - 14, "", "Loss: of the centre (black), of nodes");
    if (!range_of(timeline, &low, &high)) {
        words(out, LEFT, TOP + 20, SMALL, "none yet");
        return;
    }
    x = axis_of_time(timeline->seconds[timeline->count - 1], 6);
    x.from = LEFT;
    x.to = RIGHT;
    y = axis_of_values(low, high, 6);
    y.from = BOTTOM;
    y.to = TOP;
    draw_axes(&x, &y, out);
    for (unsigned i = 0; i < timeline->nodes && i < STAR_NODES; i++)
        draw_curve(timeline, timeline->node[i].row[TIMELINE_LOSS], &x, &y,
                   colours[i % COLOURS], out);
    draw_curve(timeline, timeline->loss, &x, &y, "#111", out);
}

/* ---- nodes ---- */

static void draw_row(const struct hub_node_view *node, unsigned i, double rate,
                     struct text *out)
{
    double y = TABLE + ROW * (i + 1.0);
    char cell[96];

    text_add(out,
             "<rect x=\"24\" y=\"%.1f\" width=\"10\" height=\"10\" "
             "fill=\"%s\"/>\n",
             y - 10, colours[i % COLOURS]);
    name_of(node->name, cell, sizeof cell);
    words(out, 42, y, "", cell);
    number((double)node->iteration, 15, cell, sizeof cell);
    words(out, 320, y, END, cell);
    number(node->rate, 4, cell, sizeof cell);
    words(out, 420, y, END, cell);
    loss_number(node->loss, cell, sizeof cell);
    words(out, 520, y, END, cell);
    number((double)node->lag, 15, cell, sizeof cell);
    words(out, 620, y, END, cell);
    number(rate / 1e6, 3, cell, sizeof cell);
    words(out, 720, y, END, cell);
    words(out, 750, y, SMALL,
          node->gone     ? "gone"
          : node->silent ? "silent"
                         : activity_words[node->activity].text);
}

static void draw_table(const struct snapshot *now, const struct timeline *times,
                       struct text *out)
{
    static const struct {
        double x;
        const char *looks, *name;
    } columns[] = {{42, SMALL, "Node"},          {320, SMALL END, "Iterations"},
                   {420, SMALL END, "a second"}, {520, SMALL END, "Loss"},
                   {620, SMALL END, "Behind"},   {720, SMALL END, "MB/s"},
                   {750, SMALL, "Does"}};
    unsigned count = now->view.count < ROWS ? now->view.count : ROWS;
    char line[64];
    struct text text;

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        words(out, columns[i].x, TABLE, columns[i].looks, columns[i].name);
    for (unsigned i = 0; i < count; i++)
        draw_row(&now->view.nodes[i], i, rate_of(times, i), out);
    if (now->view.count == count)
        return;
    text_init(&text, line, sizeof line);
    text_add(&text, "and %u more", now->view.count - count);
    words(out, 42, TABLE + ROW * (count + 1.0), SMALL, line);
}

void picture_write(const struct table_head *head, const struct snapshot *now,
                   const struct timeline *timeline, struct text *out)
{
    unsigned rows = now->view.count < ROWS ? now->view.count : ROWS + 1;
    int height = TABLE + ROW * (int)(rows + 1);

    text_add(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
             "width=\"%d\" height=\"%d\" role=\"img\" font-size=\"13\" "
             "font-family=\"system-ui,sans-serif\" fill=\"#222\">\n<title>",
             WIDTH, height, WIDTH, height);
    quote_html(out, head->title);
    text_add(out, "</title><rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
             WIDTH, height);
    draw_head(head, now, out);
    draw_star(now, timeline, out);
    draw_losses(timeline, out);
    draw_table(now, timeline, out);
    text_add(out, "</svg>\n");
}
