#include "report/axis.h"

#include <math.h>

enum { MAX_TICKS = 20 };

/* 1, 2 or 5 times a power of ten, not below `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));

    if (least <= power)
        return power;
    if (least <= 2 * power)
        return 2 * power;
    return least <= 5 * power ? 5 * power : 10 * power;
}

struct axis axis_of_values(double low, double high, unsigned ticks)
{
    double most = fmax(fabs(low), fabs(high));
    double least = fmax(most * 1e-6, 1e-9);
    struct axis axis = {.unit = 1};

    if (high - low < least) {
        low -= least;
        high += least;
    }
    axis.step = round_step((high - low) / ticks);
    axis.low = floor(low / axis.step + 1e-9) * axis.step;
    axis.high = ceil(high / axis.step - 1e-9) * axis.step;
    return axis;
}

struct axis axis_of_time(double seconds, unsigned ticks)
{
    struct axis axis = {.unit = 1, .name = "s"};

    axis.high = fmax(seconds, 1e-3);
    if (axis.high > 3 * 3600) {
        axis.unit = 3600;
        axis.name = "h";
    } else if (axis.high > 300) {
        axis.unit = 60;
        axis.name = "min";
    }
    axis.step = axis.unit * round_step(axis.high / axis.unit / ticks);
    return axis;
}

double axis_place(const struct axis *axis, double value)
{
    double part = (value - axis->low) / (axis->high - axis->low);

    return axis->from + part * (axis->to - axis->from);
}

unsigned axis_ticks(const struct axis *axis)
{
    double count = floor((axis->high - axis->low) / axis->step + 1e-6) + 1;

    return count < MAX_TICKS ? (unsigned)count : MAX_TICKS;
}

double axis_tick(const struct axis *axis, unsigned tick)
{
    return axis->low + tick * axis->step;
}

void axis_label(const struct axis *axis, unsigned tick, struct text *out)
{
    double step = axis->step / axis->unit;
    double label = axis_tick(axis, tick) / axis->unit;
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

    if (fabs(label) < step / 2)
        label = 0;
    text_add(out, "%.*f", decimals < 9 ? decimals : 9, label);
}
