#include "sim/trace/date.h"

#include <stdint.h>

/* Reads exactly `digits` digits. */
static bool take(const char **at, unsigned digits, int64_t *out)
{
    int64_t value = 0;

    for (; digits; digits--, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        value = 10 * value + (**at - '0');
    }
    *out = value;
    return true;
}

static bool pass(const char **at, char character)
{
    bool is_there = **at == character;

    *at += is_there;
    return is_there;
}

/* Days since 1970 of a date of the Gregorian calendar: years begin in March,
 * so that the leap day is their last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t from_march = (month + 9) % 12;
    int64_t full = year - (month < 3);

    return 365 * full + full / 4 - full / 100 + full / 400 +
           (153 * from_march + 2) / 5 + day - 1 - 719468;
}

static bool take_day(const char **at, nanos *out)
{
    int64_t year, month, day;

    if (!take(at, 4, &year) || !pass(at, '-') || !take(at, 2, &month) ||
        !pass(at, '-') || !take(at, 2, &day) || year < 1970 || year > 2200 ||
        month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    *out = days_of(year, month, day) * 86400 * SECOND;
    return true;
}

/* Decimals of a second, to nine. */
static nanos take_decimals(const char **at)
{
    nanos value = 0, place = SECOND / 10;

    if (!pass(at, '.') && !pass(at, ','))
        return 0;
    for (; **at >= '0' && **at <= '9'; (*at)++, place /= 10)
        value += place * (**at - '0');
    return value;
}

static bool take_zone(const char **at, nanos *out)
{
    int64_t hours = 0, minutes = 0;
    bool east = **at == '+';

    *out = 0;
    if (!**at || pass(at, 'Z'))
        return true;
    if (!pass(at, '+') && !pass(at, '-'))
        return false;
    if (!take(at, 2, &hours))
        return false;
    (void)pass(at, ':');
    if (**at && !take(at, 2, &minutes))
        return false;
    *out = (hours * 60 + minutes) * 60 * SECOND * (east ? 1 : -1);
    return true;
}

bool date_read(const char *text, nanos *out)
{
    int64_t hours, minutes, seconds;
    nanos day, decimals, zone;

    if (!take_day(&text, &day) || (!pass(&text, 'T') && !pass(&text, ' ')) ||
        !take(&text, 2, &hours) || !pass(&text, ':') ||
        !take(&text, 2, &minutes) || !pass(&text, ':') ||
        !take(&text, 2, &seconds) || hours > 23 || minutes > 59 || seconds > 60)
        return false;
    decimals = take_decimals(&text);
    if (!take_zone(&text, &zone) || *text)
        return false;
    *out = day + ((hours * 60 + minutes) * 60 + seconds) * SECOND + decimals -
           zone;
    return true;
}
