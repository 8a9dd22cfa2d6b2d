# docs/layers.txt first, then the files; see tools/layers.

function rule_of(file,    i)
{
    for (i = 1; i <= patterns; i++)
        if (file ~ pattern[i])
            return pattern[i]
    return folder_of(file)
}

function folder_of(file)
{
    return substr(file, 1, index(file, "/") - 1)
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
    return exists("include/" name) ? "include" : folder_of(name)
}

function read_rule(    name)
{
    name = $1
    sub(/:.*/, "", name)
    if (name ~ /\//) {
        gsub(/\*/, "[^/]*", name)
        name = "^" name "$"
        pattern[++patterns] = name
    }
    rules[name] = " "
    for (i = 2; i <= NF; i++)
        rules[name] = rules[name] $i " "
}

function offence(words)
{
    print FILENAME ":" FNR ": " words
    offences++
}

FILENAME == ARGV[1] {
    if (/^[a-z]/)
        read_rule()
    next
}

FNR == 1 {
    rule = rule_of(FILENAME)
    own = folder_of(FILENAME)
    pure = rule == own && index(rules["pure"], " " own " ")
    if (mode == "--pure" && pure && FILENAME ~ /\.c$/)
        print FILENAME
}

mode == "" && /^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    folder = included_folder(quoted[2])
    if (folder == "")
        offence("\"" quoted[2] "\" must be named with its folder")
    else if (folder != own && !index(rules[rule], " " folder " "))
        offence(own " may not include \"" quoted[2] "\" (docs/layers.txt)")
}

END {
    exit offences > 0
}
