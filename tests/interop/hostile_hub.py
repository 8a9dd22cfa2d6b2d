"""A hub that means its nodes harm.

    hostile_hub.py waits|junk PORT SECONDS

`waits` lets them in and has them wait for ever for a result that never comes;
`junk` answers all they say with messages of any kind, full of anything, but for
STOP and BYE: a hub may end a run. Prints how many nodes have come, and how many
messages they were sent."""
import random
import sys
import time

import zmq

import wire

HUGE = [0, 1, 2, 255, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]
NUMBERS = [0.0, -1.0, 1e-300, 1e308, -1e308, 1e300, float("inf"), float("nan")]
DICE = random.Random(1)


def welcome(hello, **fields):
    values = {"protocol": wire.VECTORS["protocol"][1], "run": 7,
              "epoch": 1 << 32, "session": 5, "lineage": hello.lineage,
              "version": 1, "start": wire.word("start", "go"), "every": 10,
              "chunk_elements": 1 << 18, "window": 1 << 20, "seed": 1}
    return wire.pack("WELCOME", **{**values, **fields})


def anything():
    name = DICE.choice([k for k in wire.KINDS if k not in ("STOP", "BYE")])
    kind = wire.KINDS[name]
    values = {}
    for field, what, _ in kind["fields"]:
        values[field] = {
            "TEXT": DICE.choice(["", "x" * 119, "\x1b[2J\u202e\n"]),
            "F64": DICE.choice(NUMBERS)}.get(what, DICE.choice(HUGE))
        if what == "I64":
            values[field] = min(values[field], 2**63 - 1)
    frames = [wire.pack(name, **values)]
    if DICE.random() < 0.2:
        frames[0] = DICE.randbytes(DICE.randrange(1, 200))
    if DICE.random() < 0.5:
        frames.append(DICE.randbytes(DICE.choice([0, 1, 652, 4096])))
    return frames


def main():
    manner, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    context = zmq.Context()
    sockets = []
    for offset in range(2):
        sockets.append(context.socket(zmq.ROUTER))
        sockets[-1].linger = 0
        sockets[-1].bind(f"tcp://127.0.0.1:{port + offset}")
    until, known, sent = time.monotonic() + seconds, set(), 0
    poller = zmq.Poller()
    for socket in sockets:
        poller.register(socket, zmq.POLLIN)
    while time.monotonic() < until:
        for socket, _ in poller.poll(100):
            who, header = socket.recv_multipart()[:2]
            name, message = wire.unpack(header)
            if name == "HELLO":
                known.add(who)
                forever = {"delay": 0, "wait": 2**63 - 1,
                           "miss": wire.word("miss", "wait")}
                socket.send_multipart([who, welcome(
                    message, **(forever if manner == "waits" else {}))])
            if manner == "waits" and name == "PING":
                socket.send_multipart([who, wire.pack(
                    "PONG", sent=message.sent, version=1)])
            if manner == "junk" and DICE.random() < 0.7:
                for _ in range(DICE.randrange(1, 20)):
                    socket.send_multipart([who] + anything())
                    sent += 1
    print(f'{{"nodes": {len(known)}, "sent": {sent}}}')
    return 0 if known else 1


sys.exit(main())
