# The tests first, then the table; see tools/ancestors.txt for its format.

function complain(where, words)
{
    print where ": " words > "/dev/stderr"
    bad = 1
}

# "ap_09_best_wins" is of "AP-9", "t05_two_forms" of "T05".
function number_of(name, part)
{
    split(name, part, "_")
    if (name ~ /^t[0-9]/)
        return toupper(part[1])
    return toupper(part[1]) "-" part[2] + 0
}

function words_of(name)
{
    sub(/^(t[0-9]+|[a-z]+_[0-9]+)_/, "", name)
    gsub(/_/, " ", name)
    return name
}

function take_test(name, number)
{
    where[name] = FILENAME
    if (name !~ /^((ft|ed|rb|ef|sd|ap)_?[0-9]|t_?[0-9])/)
        return
    if (name !~ /^((ft|ed|rb|ef|sd|ap)_[0-9][0-9]|t[0-9][0-9])_/) {
        complain(FILENAME, name " should begin like ap_09_ or t05_")
        return
    }
    number = number_of(name)
    if (!(number in first_test))
        first_test[number] = FILENAME
    if (last_file[number] == FILENAME)
        shown[number] = shown[number] ", " words_of(name)
    else
        shown[number] = shown[number] (shown[number] ? "; " : "") \
                        link(FILENAME) ": " words_of(name)
    last_file[number] = FILENAME
}

function link(path, label)
{
    label = path
    sub(/^tests\//, "", label)
    sub(/^python\/tests\/test_/, "python/", label)
    sub(/\.(c|py)$/, "", label)
    return "[" label "](../" path ")"
}

FILENAME ~ /^(python\/)?tests\// {
    is_file[FILENAME] = 1
    if (match($0, /^(    )?def test_[a-z][a-z0-9_]*\(/)) {
        name = substr($0, 1, RLENGTH - 1)
        sub(/^ *def test_/, "", name)
        take_test(name)
    }
    if (match($0, /^static void [a-z][a-z0-9_]*\(void\)/))
        take_test(substr($0, 13, RLENGTH - 18))
    next
}

/^#/ || /^$/ { next }

/^= / { heading[rows + 1] = substr($0, 3); next }

# Criteria come in order, none left out.
/^(FT|ED|RB|EF|SD|AP)-[0-9]+ |^T[0-9][0-9] / {
    row[++rows] = $1
    is_row[$1] = 1
    what[$1] = substr($0, length($1) + 2)
    family = $1
    gsub(/[0-9]/, "", family)
    place = $1
    gsub(/[^0-9]/, "", place)
    if (place + 0 != ++count[family])
        complain(FILENAME, $1 " does not follow " family count[family] - 1)
    part = "what"
    next
}

/^\+ / {
    part = ""
    if (!($2 in is_file) && !($2 in where))
        complain(FILENAME, row[rows] ": there is no test " $2)
    shows = $2 in is_file ? link($2) : link(where[$2]) ": " words_of($2)
    also[row[rows]] = also[row[rows]] (also[row[rows]] ? "; " : "") shows
    next
}

/^- / { reason[row[rows]] = substr($0, 3); part = "reason"; next }

# "FT-*" is all of FT that have no reason.
function is_meant(number, pattern)
{
    if (pattern !~ /\*$/)
        return number == pattern
    return index(number, substr(pattern, 1, length(pattern) - 1)) == 1 && \
           !(number in reason)
}

/^~ / {
    split(substr($0, 3), half, ": ")
    needed = 0
    for (i = split(half[2], list, " "); i > 0; i--) {
        for (j = 1; j <= rows; j++) {
            number = row[j]
            if (!is_meant(number, list[i]) || number in first_test || \
                number in also)
                continue
            later[number] = half[1]
            needed = 1
        }
    }
    if (!needed)
        complain(FILENAME, "\"" half[1] "\" nobody waits any more")
    part = ""
    next
}

/^ / {
    gsub(/^ +/, "")
    if (part == "what")
        what[row[rows]] = what[row[rows]] " " $0
    else if (part == "reason")
        reason[row[rows]] = reason[row[rows]] " " $0
    else
        complain(FILENAME, "what is continued here? " $0)
    next
}

{ complain(FILENAME, "what is this? " $0) }

function answer(number, text)
{
    text = shown[number]
    if (number in also)
        text = text (text ? "; " : "") also[number]
    if (!text)
        text = later[number]
    if (text && text !~ /\.$/)
        text = text "."
    return text (text && reason[number] ? " " : "") reason[number]
}

function print_rows(i, number)
{
    for (i = 1; i <= rows; i++) {
        number = row[i]
        if (i in heading)
            print "\n## " heading[i] "\n\n" \
                  "| | asks for | shown by |\n|---|---|---|"
        print "| " number " | " what[number] " | " answer(number) " |"
    }
}

function print_page()
{
    print "# What the ancestors require\n"
    print "Six systems stand behind starswitch: FTLib, ElasticDL's " \
          "all-reduce with Rabit's\nrecovery, ElasticFlow, SDTL, LSGD, and " \
          "a proof of concept of asynchronous\ntraining around a switch. " \
          "What they promise is a list of numbered criteria, and\nwhat the " \
          "algorithms compute another, T. The name of a test begins with " \
          "the\nnumber of what it shows: ap_09_... or t05_... Where " \
          "something does not apply to\na hub, the reason stands instead.\n"
    printf "Of %d criteria %d are shown by tests", rows, tested
    printf ", and %d have a reason why not", excused
    printf later_on ? "; %d are yet to come.\n" : ".\n", later_on
    print_rows()
}

END {
    for (number in first_test)
        if (!(number in is_row))
            complain(first_test[number], "nothing has the number " number)
    for (i = 1; i <= rows; i++) {
        number = row[i]
        if (number in first_test || number in also)
            tested++
        else if (number in later)
            later_on++
        else if (number in reason)
            excused++
        else
            complain(FILENAME, number " has neither a test nor a reason")
    }
    if (bad)
        exit 1
    print_page()
}
