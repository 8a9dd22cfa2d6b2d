"""python3 metrics.py PORT FOLDER: prints a hub's /metrics, and fails if the
dashboards and rules under FOLDER name a metric or a label that is not there."""

import json
import pathlib
import re
import sys
import urllib.request

NAME = r"starswitch_\w+"
# What Prometheus and rules add by themselves.
OWN_LABELS = {"job", "instance", "le", "severity"}


def told(text):
    """Names of series, and the labels of each, from the text of /metrics."""
    labels = {}
    for line in text.splitlines():
        found = re.match(rf"({NAME})(?:{{(.*)}})? ", line)
        if found:
            words = re.findall(r'(\w+)="', found[2] or "")
            labels.setdefault(found[1], set()).update(words)
    return labels


def declared(text):
    """What has a TYPE, though no value yet."""
    return set(re.findall(rf"^# TYPE ({NAME}) ", text, re.MULTILINE))


def expressions(folder):
    """Each query with its legend or texts: (where, expression, other words)."""
    for file in sorted((folder / "grafana").glob("*.json")):
        for panel in json.loads(file.read_text())["panels"]:
            for target in panel["targets"]:
                where = f"{file.name}, {panel['title']}"
                yield where, target["expr"], target["legendFormat"]
    text = (folder / "prometheus/starswitch.rules.yml").read_text()
    for rule in text.split("- alert: ")[1:]:
        yield rule.split("\n", 1)[0], *rule.split("labels:", 1)


def main(port, folder):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as page:
        text = page.read().decode()
    sys.stdout.write(text)
    labels, known, count = told(text), declared(text), 0
    for where, expression, words in expressions(pathlib.Path(folder)):
        names = re.findall(NAME, expression)
        for name in names:
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            if name not in labels and base not in known:
                sys.exit(f"{where}: {name} is not told")
            count += 1
        have = set().union(*(labels.get(name, set()) for name in names)) | OWN_LABELS
        asked = set(re.findall(r"{{ ?\$labels\.(\w+)", words))
        asked |= set(re.findall(r"{{(\w+)}}", words))
        asked |= {
            word.strip()
            for group in re.findall(r"by \(([^)]*)\)", expression)
            for word in group.split(",")
        }
        if any(labels.get(name) for name in names) and not asked <= have:
            sys.exit(f"{where}: no label {', '.join(sorted(asked - have))}")
    if count < 40:
        sys.exit(f"only {count} names are asked for: were they read?")


main(int(sys.argv[1]), sys.argv[2])
