# Writes docs/performance.md: the lines of JSON that `make bench` has gathered,
# held to bench/targets.txt. Three files: facts (lines of text), targets,
# figures.

function trim(text) {
    gsub(/^ +| +$/, "", text)
    return text
}

# Takes a flat object apart into field[name] and names[1..fields].
function parse(line,    part, at) {
    delete field
    fields = 0
    while (match(line, /"[^"]*":("[^"]*"|[^,}]*)/)) {
        part = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        at = index(part, "\":")
        names[++fields] = substr(part, 2, at - 2)
        part = substr(part, at + 2)
        gsub(/^ +|"/, "", part)
        field[names[fields]] = part
    }
}

function fits(conditions,    list, n, i, pair) {
    n = split(conditions, list, ";")
    for (i = 1; i <= n; i++) {
        split(list[i], pair, "=")
        if (field[pair[1]] != pair[2])
            return 0
    }
    return 1
}

function case_of(    text) {
    if ("codec" in field)
        text = text ", " field["codec"] " " field["operation"]
    if ("nodes" in field)
        text = text ", N = " field["nodes"]
    if ("megabytes" in field)
        text = text ", S = " field["megabytes"] " MiB"
    return substr(text, 3)
}

function judge(t,    target, value, holds) {
    if (bench_of[t] != field["bench"] || !fits(conditions_of[t]))
        return
    value = field[name_of[t]]
    target = target_of[t]
    if (target !~ /^[0-9.]+$/)
        target = field[target]
    if (value == "" || target == "")
        return
    holds = sense_of[t] == "<=" ? (value + 0 <= target + 0) : \
        (value + 0 >= target + 0)
    rows[t] = rows[t] sprintf("| %s | %s | %s | %s | %s %s | %s |\n",
        criterion_of[t], words_of[t], case_of(), value, sense_of[t], target,
        holds ? "yes" : "**no**")
    judged++
    held += holds
}

# All figures of a bench in a table, whose columns are its fields.
function gather(    group, i, row, number, rule) {
    group = field["bench"]
    for (i = 1; i <= fields; i++)
        if (names[i] != "bench")
            group = group SUBSEP names[i]
    if (!(group in body)) {
        groups[++group_count] = group
        title[group] = field["bench"]
        head[group] = rule = "|"
        for (i = 1; i <= fields; i++)
            if (names[i] != "bench") {
                head[group] = head[group] " " names[i] " |"
                number = field[names[i]] ~ /^[-0-9.e+]+$/
                rule = rule (number ? "--:|" : "---|")
            }
        gsub(/_/, " ", head[group])
        head[group] = head[group] "\n" rule "\n"
    }
    row = "|"
    for (i = 1; i <= fields; i++)
        if (names[i] != "bench")
            row = row " " field[names[i]] " |"
    body[group] = body[group] row "\n"
}

FNR == 1 { file++ }
file == 1 { facts = facts $0 "\n"; next }
file == 2 && /^[PS][0-9]/ {
    split($0, part, "|")
    t = ++targets
    criterion_of[t] = trim(part[1])
    bench_of[t] = trim(part[2])
    conditions_of[t] = trim(part[3])
    name_of[t] = trim(part[4])
    sense_of[t] = trim(part[5])
    target_of[t] = trim(part[6])
    words_of[t] = trim(part[7])
}
file == 3 && /^\{/ {
    parse($0)
    for (t = 1; t <= targets; t++)
        judge(t)
    gather()
}

END {
    print "# How fast is it?\n"
    print "Written by `make bench`; do not edit. Each figure stands beside a"
    print "reference that was measured in the same run, in turn with it; what"
    print "is printed is the median. Compare figures of one run only.\n"
    print facts
    print "## Targets\n"
    printf "%d of %d hold.\n\n", held, judged
    print "| | what | case | measured | target | holds |"
    print "|---|---|---|--:|--:|---|"
    for (t = 1; t <= targets; t++)
        printf "%s", rows[t]
    print "\n## All figures\n"
    print "What each program asks: `build/bench/NAME --help`.\n"
    for (i = 1; i <= group_count; i++) {
        group = groups[i]
        printf "### %s\n\n%s%s\n", title[group], head[group], body[group]
    }
}
