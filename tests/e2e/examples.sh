#!/bin/sh
# The simulator's examples in docs/simulation.md are what it says today: each
# command that stands behind a $ is run, and prints the lines that stand below
# it, but for their numbers, which other libraries of mathematics may round
# otherwise. With --update the page gets what is printed here.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

page=docs/simulation.md
python3 - "$page" "$bin" "${1:-}" <<'END' || failed "examples of $page"
import re
import shlex
import subprocess
import sys

page, folder, update = sys.argv[1:4]
text = open(page).read()
pattern = re.compile(
    r"(?m)^\$ (starswitch-sim (?:run|compare|sweep|tune|soak --s)"
    r"(?:.*\\\n)*.*\n)((?:.+\n)*?)```")


def masked(output):
    """Its lines without their numbers, in any order: ranks may be close."""
    lines = [re.sub(r"(?<![a-z])[-+]?\d[\d.e+-]*|never", "#", line)
             for line in output.splitlines()]
    return sorted(re.sub(r"[ #,\[\]=]+", " ", line).strip() for line in lines)


def run(words):
    done = subprocess.run([folder + "/" + words[0]] + words[1:],
                          capture_output=True, text=True, check=False,
                          timeout=300)
    if done.returncode:
        sys.exit(f"{shlex.join(words)}: {done.returncode}: {done.stderr}")
    return done.stdout


def check(match):
    words = shlex.split(match.group(1).replace("\\\n", " "))
    printed = run(words)
    if update:
        return f"$ {match.group(1)}{printed}```"
    if masked(printed) != masked(match.group(2)):
        sys.exit(f"{shlex.join(words)} prints\n{printed}and the page says\n"
                 f"{match.group(2)}Is that right? sh tests/e2e/examples.sh "
                 "--update puts it there")
    print(shlex.join(words)[:70])
    return match.group(0)


count = len(pattern.findall(text))
if count < 4:
    sys.exit(f"only {count} examples are found")
text = pattern.sub(check, text)
if update:
    open(page, "w").write(text)
END
