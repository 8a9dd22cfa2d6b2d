#include "report/columns.h"

#include <inttypes.h>
#include <math.h>

/* A number in at most five columns. */
static void add_amount(struct text *out, double amount)
{
    if (amount < 99999.5)
        text_add(out, "%.0f", amount);
    else if (amount < 9999.5e3)
        text_add(out, "%.0fk", amount / 1e3);
    else if (amount < 9999.5e6)
        text_add(out, "%.0fM", amount / 1e6);
    else
        text_add(out, "many");
}

static void add_fine(struct text *out, double amount, int decimals)
{
    if (amount < 1000)
        text_add(out, "%.*f", decimals, amount);
    else
        add_amount(out, amount);
}

static void add_iterations(const struct hub_node_view *node, struct text *out)
{
    if (node->iteration < 9999999999)
        text_add(out, "%" PRIu64, node->iteration);
    else
        text_add(out, "many");
}

static void add_rate(const struct hub_node_view *node, struct text *out)
{
    add_fine(out, fmax(node->rate, 0), node->rate < 9.95 ? 1 : 0);
}

bool column_has_loss(double loss)
{
    return isfinite(loss) && loss < NO_SCORE;
}

const char *column_loss_name(const struct hub_view *view)
{
    return view->tested || !column_has_loss(view->score) ? "loss"
                                                         : "training loss";
}

void column_add_loss(struct text *out, double loss)
{
    if (!column_has_loss(loss))
        text_add(out, "-");
    else if (fabs(loss) < 99.9995)
        text_add(out, "%.3f", loss);
    else
        text_add(out, "%.0e", loss);
}

static void add_loss(const struct hub_node_view *node, struct text *out)
{
    column_add_loss(out, node->iteration ? node->loss : NO_SCORE);
}

static void add_accuracy(const struct hub_node_view *node, struct text *out)
{
    if (node->accuracy < 0)
        text_add(out, "-");
    else
        text_add(out, "%.1f", 100 * node->accuracy);
}

static void add_lag(const struct hub_node_view *node, struct text *out)
{
    if (node->lag < 100)
        text_add(out, "%" PRIu64, node->lag);
    else
        text_add(out, "99+");
}

/* Small models move some kB. */
static void add_megabytes(struct text *out, uint64_t bytes)
{
    add_fine(out, (double)bytes / 1e6, bytes && bytes < 999500 ? 3 : 1);
}

static void add_up(const struct hub_node_view *node, struct text *out)
{
    add_megabytes(out, node->moved.up_bytes);
}

static void add_down(const struct hub_node_view *node, struct text *out)
{
    add_megabytes(out, node->moved.down_bytes);
}

static void add_round_trip(const struct hub_node_view *node, struct text *out)
{
    double milliseconds = (double)node->round_trip / (double)MILLISECOND;

    if (node->round_trip <= 0)
        text_add(out, "-");
    else
        add_fine(out, milliseconds, milliseconds < 9.995 ? 2 : 1);
}

void column_add_state(const struct hub_node_view *node, struct text *out)
{
    if (node->gone)
        text_add(out, "gone");
    else if (node->silent)
        text_add(out, "silent");
    else if (node->quarantined)
        text_add(out, "quarantined");
    else
        text_add(out, "%s", activity_words[node->activity].text);
    if (node->best)
        text_add(out, ", best");
    if (node->why[0])
        text_add(out, ", last offer %s", node->why);
}

const struct column columns[] = {
    {"iterations", 10, 3, add_iterations},
    {"it/s", 5, 5, add_rate},
    {"loss", 6, 1, add_loss},
    {"test%", 5, 2, add_accuracy},
    {"lag", 3, 6, add_lag},
    {"up MB", 6, 4, add_up},
    {"down MB", 7, 7, add_down},
    {"rtt ms", 6, 8, add_round_trip},
};

const unsigned column_count = sizeof columns / sizeof *columns;
