"""Looks for secrets where none belongs, in each form that they are written in.

    find_secrets.py KEYS files FOLDER...   in all files but those that hold keys
    find_secrets.py KEYS processes         in command lines and environments

KEYS has a line for each: a key for nodes (E...), 40 characters of Z85, or any
other word. Prints where one is found; the exit code is 1 then, and 2 if there
was nothing to look at.
"""

import base64
import os
import re
import sys

import z85

HOLDERS = re.compile(r"\.key_secret$|^invitation|^secrets$|^token$|^keygen\.out$")


def forms(word: str) -> "dict[str, bytes]":
    """The word, and if it is a key its bytes as they are, in hex and base64."""
    found = {"as it is": word.encode()}
    if re.fullmatch(r"E[\w-]{86}", word):
        secret = base64.urlsafe_b64decode(word[1:] + "==")[32:]
        found["its secret half in base64"] = word[-42:].encode()
    elif len(word) == 40:
        secret = z85.decode(word)
    else:
        return found
    text = base64.b64encode(secret).decode().rstrip("=")
    return found | {
        "as bytes": secret,
        "in hex": secret.hex().encode(),
        "in HEX": secret.hex().upper().encode(),
        "in base64": text.encode(),
        "in base64url": text.replace("+", "-").replace("/", "_").encode(),
    }


def files(folders: "list[str]") -> "list[str]":
    return [
        os.path.join(folder, name)
        for top in folders
        for folder, _, names in os.walk(top)
        for name in names
        if not HOLDERS.search(name)
        and os.path.isfile(os.path.join(folder, name))
    ]


def processes() -> "list[str]":
    own = str(os.getpid())
    return [
        f"/proc/{pid}/{name}"
        for pid in os.listdir("/proc")
        if pid.isdigit() and pid != own
        for name in ("cmdline", "environ")
    ]


def main() -> int:
    with open(sys.argv[1]) as keys:
        secrets = [forms(line) for line in keys.read().split("\n") if line]
    paths = processes() if sys.argv[2] == "processes" else files(sys.argv[3:])
    seen = found = 0
    for path in paths:
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:  # a process that has ended
            continue
        seen += 1
        for i, secret in enumerate(secrets):
            for form, needle in secret.items():
                if needle in data:
                    found = 1
                    print(f"{path} holds secret {i + 1}, {form}")
    print(f"looked for {len(secrets)} secrets in {seen} places")
    return found or (0 if secrets and seen else 2)


if __name__ == "__main__":
    sys.exit(main())
