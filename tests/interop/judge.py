"""Judges a run of counting nodes (count.py, tests/preload) by hand.

    judge.py FOLDER MODEL WATCHER COORDINATE:NAME ...

WATCHER's log has b after each round that it took part in: all of them. With
the policy `mean` a node that made p steps since its last offer, and so offers
p samples and p, moves its coordinate by p p / S, S being the samples of all;
so p = sqrt(moved) (sum of sqrt(moved)); one that says more than ten times what
the middle one does is believed that. WATCHER's p must be what its log says that
it offered. What is in MODEL behind is the last round.
Of each node the p of all rounds must be its steps: nothing is short, nothing is
there twice. A node that was killed has made more; there, what was merged must
be offers of its log, in their order, all that it was told are merged among
them. And the centre must be the sum of all moves, worked out with the p as
whole numbers and rounded to float32 after each round, as a centre is, to 1e-6;
w is looked at where nobody was killed, which may part
the chunks of an exchange."""
import json
import os
import struct
import sys

import numpy as np

ROWS, COLUMNS = 8, 300
folder, model, watcher = sys.argv[1:4]
nodes = {int(c): name for c, name in (a.split(":") for a in sys.argv[4:])}
watched = next(c for c, name in nodes.items() if name == watcher)
faults = []


def check(held, words):
    if not held:
        faults.append(words)


def read_log(name):
    with open(os.path.join(folder, f"{name}.log"), encoding="ascii") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def read_model(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        head, data = json.loads(file.read(size)), file.read()
    return {name: np.frombuffer(data[slice(*t["data_offsets"])], "<f4")
            for name, t in head.items() if name != "__metadata__"}


def steps_of(moved):
    """The p of a round, from how far it moved each coordinate, and what each
    weighed. There is one way only: roots are weights by sqrt(S), but for those
    of more than ten times the middle one's, which weigh ten times that."""
    roots = np.sqrt(np.maximum(moved, 0))
    moving = np.sort(roots[roots > 0])
    if not len(moving):
        return roots, roots
    weight = np.minimum(roots, 10 * moving[(len(moving) - 1) // 2])
    root = weight.sum()
    p = np.divide(roots * roots * root, weight, where=weight > 0,
                  out=np.zeros(ROWS))
    return p, weight * root


def rounds(centre):
    """The p of each round, by coordinate, and what each weighed."""
    versions, own, offered, last = {0: np.zeros(ROWS)}, {}, {}, 0
    for line in read_log(watcher):
        if line["event"] == "offer":
            last = line["exchange"]
            offered[last] = round(line["q"][watched])
        elif line["event"] == "result":
            # A hub that has lost some goes on from an earlier one.
            for lost in range(line["version"], max(versions) + 1):
                versions.pop(lost, None)
            versions[line["version"]] = np.array(line["v"])
            p = offered.pop(line["exchange"], 0)
            own[line["version"]] = p if line["verdict"] == "merged" else 0
        elif line["event"] == "verdict" and line["verdict"] != "merged":
            offered.pop(line["exchange"], 0)
    newest = max(versions)
    # No result comes of its last offer.
    own[newest + 1] = offered.get(last, 0)
    missing = [v for v in range(newest) if v not in versions]
    if missing:
        sys.exit(f"not judged: {watcher} has not seen versions {missing[:9]}")
    versions[newest + 1] = centre
    for v in range(1, newest + 2):
        moved = versions[v] - versions[v - 1]
        check((moved > -1e-3).all(), f"version {v} takes back {moved}")
        p, weight = steps_of(moved)
        check((np.abs(p - np.rint(p)) < 0.1).all() and
              round(p[watched]) == own[v], f"version {v}: {p.tolist()} steps; "
              f"{watcher} has offered {own[v]}")
        yield np.rint(p), np.rint(weight)


def judge_steps(name, merged):
    """One that was never killed."""
    path = os.path.join(folder, f"{name}.steps")
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            steps = int(file.read())
    else:
        steps = read_log(name)[-1]["steps"]
    check(sum(merged) == steps, f"{name} has made {steps} steps, "
          f"{sum(merged)} are merged: imbalance {sum(merged) - steps}")


def judge_log(name, coordinate, merged):
    """One that was: offers in their order, those told merged among them."""
    log, offers, lives = read_log(name), [], 0
    for line in log:
        lives += line["event"] == "start"
        if line["event"] == "offer":
            offers.append({"life": lives, "exchange": line["exchange"],
                           "p": round(line["q"][coordinate]), "told": ""})
        elif line["event"] == "verdict":
            for offer in offers:
                if offer["life"] == lives and \
                        offer["exchange"] == line["exchange"]:
                    offer["told"] = line["verdict"]
    # An offer without a verdict may be merged or not: the first way through
    # that fits all that was told is taken.
    ways = {0}
    for offer in (offer for offer in offers if offer["p"]):
        taken = {at + 1 for at in ways
                 if at < len(merged) and merged[at] == offer["p"]}
        ways = taken if offer["told"] == "merged" else \
            ways | taken if not offer["told"] else ways
    check(len(merged) in ways, f"{name}: what is merged of it is not what it "
          f"has offered: {len(merged)} offers, it reaches {max(ways, default=0)}")
    return lives - 1, sum(offer["told"] == "merged" for offer in offers)


tensors = read_model(model)
total, count, whole = np.zeros(ROWS), 0, True
by_node = {c: [] for c in nodes}
for p, weight in rounds(tensors["b"].astype(float)):
    count += 1
    if p.any():
        total = (total + p * weight / weight.sum()).astype("<f4").astype(float)
    for c in nodes:
        if p[c]:
            by_node[c].append(int(p[c]))
for c, name in nodes.items():
    log = os.path.join(folder, f"{name}.log")
    ends = not os.path.exists(log) or sum(
        line["event"] == "start" for line in read_log(name)) == 1
    if ends:
        judge_steps(name, by_node[c])
    else:
        whole = False
        kills, told = judge_log(name, c, by_node[c])
        print(f"{name}: killed {kills} times, {told} offers told merged, "
              f"{len(by_node[c])} in the centre")
w = tensors["w"].reshape(ROWS, COLUMNS)[range(ROWS), range(ROWS)]
for what, values in (("b", tensors["b"]), ("w", w))[:1 + whole]:
    apart = np.abs(values - total) / np.maximum(1, total)
    check(apart.max() <= 1e-6, f"{what}: {values.tolist()} instead of "
          f"{total.tolist()} by hand")
rest = tensors["w"].copy()
rest[np.arange(ROWS) * (COLUMNS + 1)] = 0
check(not rest.any(), "where nobody counts, something is")
print(f"{count} rounds, by hand {total[:len(nodes)].tolist()}, furthest "
      f"apart {max(apart):.1e}, {int(sum(map(sum, by_node.values())))} steps")
print("\n".join(faults[:8]) or "imbalance 0")
sys.exit(bool(faults))
