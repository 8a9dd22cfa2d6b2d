# tools/banned.txt first, then the files; see tools/banned.

# The line without strings, characters and comments.
function bare(line,    start, end)
{
    gsub(/\\./, "", line)
    gsub(/"[^"]*"/, "\"\"", line)
    gsub(/'[^']*'/, "''", line)
    if (in_comment) {
        if (!(end = index(line, "*/")))
            return ""
        line = substr(line, end + 2)
        in_comment = 0
    }
    sub(/\/\/.*/, "", line)
    while (start = index(line, "/*")) {
        end = index(substr(line, start + 2), "*/")
        if (!end) {
            in_comment = 1
            return substr(line, 1, start - 1)
        }
        line = substr(line, 1, start - 1) " " substr(line, start + end + 3)
    }
    return line
}

function judge(name)
{
    if (!(name in where) || where[name] == "pure" && !is_pure)
        return
    print FILENAME ":" FNR ": " name "() is banned: " instead[name]
    offences++
}

FILENAME == ARGV[1] {
    if (/^(all|pure) /) {
        where[$2] = $1
        instead[$2] = substr($0, index($0, $3))
    }
    next
}

FNR == 1 {
    in_comment = 0
    is_pure = index(" " pure, " " FILENAME " ")
}

{
    line = bare($0)
    while (match(line, /[A-Za-z_0-9]+[ \t]*\(/)) {
        name = substr(line, RSTART, RLENGTH - 1)
        before = substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
        sub(/[ \t]+$/, "", name)
        if (before !~ /(\.|->)$/)
            judge(name)
    }
}

END {
    exit offences > 0
}
