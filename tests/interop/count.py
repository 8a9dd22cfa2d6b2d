"""A node that counts: each step adds 1 to its own coordinate of each tensor,
so that what the centre must hold can be worked out by hand.

    count.py PORT NAME COORDINATE [--line LINE] [--steps N] [--pace SECONDS]

It ends with the run, on SIGTERM, or after N steps. In the folder --folder it
keeps NAME.key_secret, and writes NAME.log, a JSON line for each offer,
verdict and result: what is in it survives a kill."""
import argparse
import json
import os
import signal
import sys

import numpy as np
import zmq

import star
import wire

ROWS, COLUMNS = 8, 300
SCHEMA = wire.Schema([("w", (ROWS, COLUMNS)), ("b", (ROWS,))])


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("name")
    parser.add_argument("coordinate", type=int)
    parser.add_argument("--line", default="")
    parser.add_argument("--folder", default=".")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--pace", type=float, default=0.001)
    return parser.parse_args()


def read_keys(path):
    """The pair of a certificate."""
    with open(path, encoding="ascii") as file:
        values = dict(line.split(" = ") for line in file if " = " in line)
    values = {name.strip(): value.strip('"\n').encode()
              for name, value in values.items()}
    return values["public-key"], values["secret-key"]


def make_keys(path, options):
    """A pair that the hub knows."""
    public, secret = zmq.curve_keypair()
    if not star.enrol("127.0.0.1", options.port, options.line, options.name,
                      public):
        sys.exit("the hub does not enrol this node")
    with open(path, "w", encoding="ascii",
              opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
        file.write(f'curve\n    public-key = "{public.decode()}"\n'
                   f'    secret-key = "{secret.decode()}"\n')


class Log:
    """Of what happens to b, which is in the last chunk, raw."""

    def __init__(self, path, node):
        self.file, self.node = open(path, "a", encoding="ascii"), node

    def write(self, **words):
        self.file.write(json.dumps(words) + "\n")
        self.file.flush()

    def note(self, **words):
        if "q" in words:
            words["q"] = words["q"][-ROWS:].tolist()
        if "v" in words:
            words["v"] = words["v"][-ROWS:].tolist()
        if words.get("chunk", -1) in (-1, self.node().chunks[-1]):
            self.write(**words)


def main():
    options = arguments()
    base = os.path.join(options.folder, options.name)
    hub = own = node = None
    if options.line:
        hub = wire.read_line(options.line)[0]
        if not os.path.exists(f"{base}.key_secret"):
            make_keys(f"{base}.key_secret", options)
        own = read_keys(f"{base}.key_secret")
    log = Log(f"{base}.log", lambda: node)
    node = star.Node("127.0.0.1", options.port, options.name, SCHEMA,
                     np.zeros(SCHEMA.elements), hub, own, log.note)
    log.write(event="start", incarnation=node.incarnation)
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    mine = [options.coordinate * (COLUMNS + 1),
            ROWS * COLUMNS + options.coordinate]
    steps = 0
    while not asked and (not options.steps or steps < options.steps):
        node.x[mine] += 1
        steps += 1
        node.samples += 1
        node.gradient[mine] -= 1
        node.gradients += 1
        if not node.step(options.pace):
            break
    told = node.leave()
    farewell = wire.WORDS["farewell"][node.bye.farewell] if node.bye \
        else "leaving"
    log.write(event="end", steps=steps, told=told, farewell=farewell,
              kept=node.kept["version"] if node.kept else -1, **node.counts)
    print(farewell, node.bye.text if node.bye else "", flush=True)
    node.close()
    if not told:
        print("its last offer was not made, or nobody has said what became of "
              "it", file=sys.stderr)
        return 1
    return 0 if farewell in ("done", "leaving") else 1


sys.exit(main())
