#include "core/decimal.h"

#include <stdio.h>
#include <string.h>

enum { EXACT_DIGITS = 15, EXACT_POWER = 22, EXPONENT_MAX = 99 };

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool add_digit(struct decimal *decimal, char digit)
{
    uint64_t value = (uint64_t)(digit - '0');

    if (decimal->digits > (UINT64_MAX - value) / 10)
        return false;
    decimal->digits = decimal->digits * 10 + value;
    return true;
}

/* Digits, and after a point digits that each lower the exponent by one. */
static bool read_mantissa(const char **text, struct decimal *decimal)
{
    bool point = false, any = false;
    const char *at = *text;

    for (; is_digit(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (!add_digit(decimal, *at))
            return false;
        decimal->exponent -= point;
        any = true;
    }
    *text = at;
    return any;
}

/* An exponent if there is one; "5e" is 5 with the unit "e". */
static void read_exponent(const char **text, struct decimal *decimal)
{
    const char *at = *text + 1;
    bool negative = false;
    int exponent = 0;

    if (**text != 'e')
        return;
    if (*at == '-' || *at == '+')
        negative = *at++ == '-';
    if (!is_digit(*at))
        return;
    for (; is_digit(*at); at++)
        if (exponent < EXPONENT_MAX)
            exponent = exponent * 10 + (*at - '0');
    decimal->exponent += negative ? -exponent : exponent;
    *text = at;
}

bool decimal_read(const char **text, struct decimal *out)
{
    struct decimal decimal = {0, 0, **text == '-'};
    const char *at = *text + decimal.negative;

    if (!read_mantissa(&at, &decimal))
        return false;
    read_exponent(&at, &decimal);
    while (decimal.digits && decimal.digits % 10 == 0) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    *text = at;
    *out = decimal;
    return true;
}

bool decimal_number(const struct decimal *decimal, double *out)
{
    double power = 1, number = (double)decimal->digits;
    int exponent = decimal->digits ? decimal->exponent : 0;
    int places = exponent < 0 ? -exponent : exponent;

    if (decimal->digits >= 1000000000000000 || places > EXACT_POWER)
        return false;
    for (int i = 0; i < places; i++)
        power *= 10;
    number = exponent < 0 ? number / power : number * power;
    *out = decimal->negative ? -number : number;
    return true;
}

/* Divides the product a * b by a prime if that leaves no rest. */
static bool divide(uint64_t *a, uint64_t *b, uint64_t prime)
{
    uint64_t *divisible = *a % prime == 0 ? a : b;

    if (*divisible % prime)
        return false;
    *divisible /= prime;
    return true;
}

static enum measure scale(struct decimal decimal, uint64_t unit, uint64_t *out)
{
    uint64_t digits = decimal.digits;
    int exponent = digits ? decimal.exponent : 0;

    for (; exponent < 0; exponent++)
        if (!divide(&digits, &unit, 2) || !divide(&digits, &unit, 5))
            return MEASURE_FRACTION;
    for (; exponent > 0; exponent--) {
        if (unit > UINT64_MAX / 10)
            return MEASURE_TOO_LARGE;
        unit *= 10;
    }
    if (digits > UINT64_MAX / unit)
        return MEASURE_TOO_LARGE;
    *out = digits * unit;
    return MEASURE_WHOLE;
}

enum measure measure_read(const char *text, const struct unit *units,
                          size_t unit_count, uint64_t *out)
{
    struct decimal decimal;

    if (!decimal_read(&text, &decimal) || decimal.negative)
        return MEASURE_NONSENSE;
    text += strspn(text, " ");
    for (size_t i = 0; i < unit_count; i++)
        if (strcmp(text, units[i].name) == 0)
            return scale(decimal, units[i].size, out);
    return MEASURE_NONSENSE;
}

/* Whether the text, a number times `scale`, reads as the value. */
static bool reads_as(const char *text, double value, double scale)
{
    struct decimal decimal;
    double number;

    if (!decimal_read(&text, &decimal))
        return false;
    decimal.exponent -= scale > 1 ? 2 : 0;
    return decimal_number(&decimal, &number) && number <= value &&
           number >= value;
}

/* printf writes the decimal point of the locale; we write a point. */
static void use_point(char *text)
{
    size_t number = strspn(text, "-0123456789");
    size_t point = strcspn(text + number, "0123456789e");

    if (!point)
        return;
    text[number] = '.';
    memmove(text + number + 1, text + number + point,
            strlen(text + number + point) + 1);
}

void number_print(double value, double scale, struct text *out)
{
    char text[64], best[64] = "";

    for (int digits = 1; digits <= EXACT_DIGITS; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value * scale);
        use_point(text);
        if (reads_as(text, value, scale) &&
            (!*best || strlen(text) < strlen(best)))
            memcpy(best, text, sizeof best);
    }
    text_add(out, "%s", *best ? best : text);
}
