# docs/layers.txt first, then the files; see tools/layers.

function folder_of(file)
{
    sub(/\/[^\/]*$/, "", file)
    return file
}

function exists(path,    line, found)
{
    found = (getline line < path) >= 0
    close(path)
    return found
}

# The folder that an included name belongs to, "" for a name without one.
function included_folder(name)
{
    if (name ~ /\// && exists(name))
        return folder_of(name)
    return exists("include/" name) ? "include" : name ~ /\// ? folder_of(name) \
                                                             : ""
}

# A line that begins with blanks goes on with the folders of the one before.
function read_rule(    first)
{
    first = 1
    if (/^[a-z]/) {
        rule = $1
        sub(/:.*/, "", rule)
        rules[rule] = " "
        first = 2
    }
    for (i = first; i <= NF; i++)
        rules[rule] = rules[rule] $i " "
}

function offence(words)
{
    print FILENAME ":" FNR ": " words
    offences++
}

FILENAME == ARGV[1] {
    if (/^[a-z ]/)
        read_rule()
    next
}

FNR == 1 {
    own = folder_of(FILENAME)
    if (mode == "--pure" && FILENAME ~ /\.c$/ &&
        index(rules["pure"], " " own " "))
        print FILENAME
}

mode == "" && /^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    folder = included_folder(quoted[2])
    if (folder == "")
        offence("\"" quoted[2] "\" must be named with its folder")
    else if (folder != own && !index(rules[own], " " folder " "))
        offence(own " may not include \"" quoted[2] "\" (docs/layers.txt)")
}

END {
    exit offences > 0
}
