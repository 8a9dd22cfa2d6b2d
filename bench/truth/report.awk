# The lines of bench/truth.sh as one of three forms: -v form=text, table (of
# Markdown) or svg. Errors are those of the means over the seeds; the scenario
# that was calibrated on is shown, and not counted.

function value(world, key, at, rest) {
    rest = substr($0, index($0, "\"" world "\":{"))
    at = index(rest, "\"" key "\":")
    return at ? substr(rest, at + length(key) + 3) + 0 : -1
}

function word(key, rest) {
    rest = substr($0, index($0, "\"" key "\":\"") + length(key) + 4)
    return substr(rest, 1, index(rest, "\"") - 1)
}

/"calibrated":/ {
    calibrated = word("calibrated")
    next
}

/"scenario":/ {
    scenario = word("scenario")
    if (!(scenario in seen))
        order[++scenarios] = scenario
    seen[scenario]++
    add(scenario, "round", value("real", "round_time"),
        value("simulated", "round_time"))
    add(scenario, "goal", value("real", "goal_time"),
        value("simulated", "goal_time"))
}

function add(scenario, what, real, simulated) {
    if (real <= 0 || simulated <= 0) {
        lost[scenario, what]++
        return
    }
    n[scenario, what]++
    sum[scenario, what, 1] += real
    squares[scenario, what, 1] += real * real
    sum[scenario, what, 2] += simulated
    squares[scenario, what, 2] += simulated * simulated
}

function mean(scenario, what, world) {
    return sum[scenario, what, world] / n[scenario, what]
}

# The standard error of the mean.
function doubt(scenario, what, world, count, m, v) {
    count = n[scenario, what]
    m = mean(scenario, what, world)
    v = squares[scenario, what, world] / count - m * m
    return count > 1 && v > 0 ? sqrt(v / (count - 1)) : 0
}

function error(scenario, what) {
    return 100 * (mean(scenario, what, 2) / mean(scenario, what, 1) - 1)
}

function size(x) { return x < 0 ? -x : x }

# ---- all errors of one kind ----

function collect(what, i, j, x) {
    count = 0
    for (i = 1; i <= scenarios; i++)
        if (order[i] != calibrated && n[order[i], what]) {
            x = size(error(order[i], what))
            for (j = count++; j > 0 && sorted[j] > x; j--)
                sorted[j + 1] = sorted[j]
            sorted[j + 1] = x
        }
}

function quantile(part, at, low) {
    if (!count)
        return 0
    at = 1 + part * (count - 1)
    low = int(at)
    if (low >= count)
        return sorted[count]
    return sorted[low] + (at - low) * (sorted[low + 1] - sorted[low])
}

# Kendall's tau of the ranked scenarios in both worlds.
function tau(what, i, j, a, b, pairs, agree) {
    for (i = 1; i <= scenarios; i++)
        for (j = i + 1; j <= scenarios; j++) {
            if (order[i] !~ /^rank/ || order[j] !~ /^rank/ ||
                !n[order[i], what] || !n[order[j], what])
                continue
            a = mean(order[i], what, 1) - mean(order[j], what, 1)
            b = mean(order[i], what, 2) - mean(order[j], what, 2)
            pairs++
            agree += a * b > 0 ? 1 : -1
        }
    return pairs ? agree / pairs : 0
}

function summary(what, words) {
    collect(what)
    return sprintf("%s: median error %.1f %%, 95th percentile %.1f %%, " \
        "%d predicted, Kendall's tau of the policies %.2f", words,
        quantile(0.5), quantile(0.95), count, tau(what))
}

# ---- forms ----

function both(scenario, what, world) {
    return n[scenario, what] ? sprintf("%.3f ± %.3f", mean(scenario, what, world),
        doubt(scenario, what, world)) : "-"
}

function off(scenario, what) {
    return n[scenario, what] ? sprintf("%+.1f %%", error(scenario, what)) : "-"
}

function print_table(i, s) {
    print "| run | seeds | a round, s | simulated | error |" \
        " to the loss, s | simulated | error |"
    print "|---|--:|--:|--:|--:|--:|--:|--:|"
    for (i = 1; i <= scenarios; i++) {
        s = order[i]
        printf "| %s%s | %d | %s | %s | %s | %s | %s | %s |\n", s,
            s == calibrated ? " (calibrated on)" : "", seen[s],
            both(s, "round", 1), both(s, "round", 2), off(s, "round"),
            both(s, "goal", 1), both(s, "goal", 2), off(s, "goal")
    }
    print ""
    print "- " summary("round", "Time per round") "."
    print "- " summary("goal", "Time to the loss") "."
}

function print_text(i, s) {
    printf "%-16s %18s %18s %8s %18s %18s %8s\n", "", "a round, s",
        "simulated", "error", "to the loss, s", "simulated", "error"
    for (i = 1; i <= scenarios; i++) {
        s = order[i]
        printf "%-16s %18s %18s %8s %18s %18s %8s%s\n", s,
            both(s, "round", 1), both(s, "round", 2), off(s, "round"),
            both(s, "goal", 1), both(s, "goal", 2), off(s, "goal"),
            lost[s, "goal"] ? "  (not reached: " lost[s, "goal"] ")" : ""
    }
    print summary("round", "Time per round")
    print summary("goal", "Time to the loss")
}

# Logarithmic, the same on both axes: `low` to `high` seconds.
function place(seconds) {
    return 440 * log(seconds / low) / log(high / low)
}

function line(from_x, from_y, to_x, to_y, colour) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" " \
        "stroke=\"%s\"/>\n", 60 + from_x, 460 - from_y, 60 + to_x,
        460 - to_y, colour
}

function text(x, y, words, more) {
    printf "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", 60 + x, 460 - y,
        more, words
}

function dots(what, colour, i, s) {
    for (i = 1; i <= scenarios; i++) {
        s = order[i]
        if (!n[s, what])
            continue
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" " \
            "fill-opacity=\"0.7\"><title>%s: %s s, simulated %s s</title>" \
            "</circle>\n", 60 + place(mean(s, what, 1)),
            460 - place(mean(s, what, 2)), colour, s, both(s, what, 1),
            both(s, what, 2)
    }
}

function print_svg(i, ten, ticks) {
    low = 0.02
    high = 20
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 520 510\"" \
        " font-family=\"sans-serif\" font-size=\"12\">"
    print "<rect width=\"520\" height=\"510\" fill=\"#ffffff\"/>"
    printf "<polygon fill=\"#eeeeee\" points=\"60,%.1f %.1f,20 500,20 " \
        "500,%.1f %.1f,460 60,460\"/>\n", 460 - place(low * 1.1),
        60 + place(high / 1.1), 460 - place(high / 1.1), 60 + place(low * 1.1)
    split("0.02 0.05 0.1 0.2 0.5 1 2 5 10 20", ticks, " ")
    for (i = 1; i in ticks; i++) {
        line(place(ticks[i]), 0, place(ticks[i]), -5, "#444444")
        line(0, place(ticks[i]), -5, place(ticks[i]), "#444444")
        text(place(ticks[i]), -18, ticks[i], "text-anchor=\"middle\"")
        text(-8, place(ticks[i]) - 4, ticks[i], "text-anchor=\"end\"")
    }
    line(0, 0, 440, 0, "#444444")
    line(0, 0, 0, 440, "#444444")
    line(0, 0, 440, 440, "#888888")
    dots("round", "#0060a8")
    dots("goal", "#c05000")
    text(220, -38, "real, s", "text-anchor=\"middle\"")
    text(-40, 220, "simulated, s",
        "text-anchor=\"middle\" transform=\"rotate(-90 20 240)\"")
    text(20, 420, "time per round", "fill=\"#0060a8\"")
    text(20, 404, "time to the loss", "fill=\"#c05000\"")
    text(20, 388, "grey: within 10 %", "fill=\"#666666\"")
    print "</svg>"
}

END {
    if (form == "svg")
        print_svg()
    else if (form == "table")
        print_table()
    else
        print_text()
}
