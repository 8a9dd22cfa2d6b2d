"""A node, by hand, that says far more than it may: logs.py PORT LINES. Its last
line says that it is done; lines among them hold escape sequences, and bytes
that turn the direction of writing."""
import sys
import time

sys.path.insert(0, "tests/interop")
import numpy as np

import star
import wire

SCHEMA = wire.Schema([("layer1.weight", (16, 6)), ("layer1.bias", (16,)),
                      ("layer2.weight", (3, 16)), ("layer2.bias", (3,))])
EVIL = "\x1b[2J\x1b]0;owned\x07 \u202e evil \x9b31m"


def say(node, text, left_out=0):
    node.send("LOG", time=time.time_ns(), level=1, left_out=left_out,
              event="flood", text=text)


def main():
    port, lines = int(sys.argv[1]), int(sys.argv[2])
    node = star.Node("127.0.0.1", port, "flood", SCHEMA,
                     np.zeros(SCHEMA.elements))
    until = time.monotonic() + 20
    while not node.attached and time.monotonic() < until:
        node.poll(0.05)
    for i in range(lines):
        say(node, f"line {i}")
        if i % 500 == 0:
            node.poll(0.01)
    until = time.monotonic() + 1.2  # the hub's second is over
    while time.monotonic() < until:
        node.poll(0.05)
    say(node, EVIL)
    say(node, "done")
    node.poll(0.2)
    node.close()


main()
