"""Members, and who passes for one, that mean a hub harm: one row of attacks at
a time against a hub that runs, and what it cost.

    hostile.py ROW PORT PID LINES [OPTION...]

PID is the hub's, LINES the file of a node's JSON lines. Prints a JSON line with
the most memory and descriptors that the hub had, the cores that it used, and
how many results a second the node applied meanwhile; exits with 1 when the row's own conditions do not
hold, the hub is gone, or it had more than --rss-mib or --descriptors."""
import argparse
import json
import resource
import sys
import time

import numpy as np
import zmq

import payloads
import star
import wire
from meter import Meter
from raw import MORE, Raw, frame, head, hello, member, message

ROWS, COLUMNS = 8, 300
SCHEMA = wire.Schema([("w", (ROWS, COLUMNS)), ("b", (ROWS,))])
MOST = 2**64 - 1


def node(options, name, kind=star.Node):
    own = wire.read_line(options.line)[0] if options.line else None
    return kind("127.0.0.1", options.port, name, SCHEMA,
                np.zeros(SCHEMA.elements), own, options.key)


def trains(one, seconds, pace=0.004):
    """An ordinary node does so; how many steps it made."""
    until, steps = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        one.x[0] += 1
        one.samples += 1
        steps += 1
        if not one.step(pace):
            break
    return steps


# ---- members that hold the others up ----

def idle(options):
    """It lives, and offers nothing."""
    one = node(options, "idle")
    until = time.monotonic() + options.seconds
    while time.monotonic() < until:
        one.iteration += 1
        one.poll(0.01)
    one.close()
    return {"joined": one.start == star.GO}


def newcomers(options):
    """The same again and again under other names: one more each second."""
    held, began = [], time.monotonic()
    while time.monotonic() < began + options.seconds:
        held.append(node(options, f"new{len(held)}"))
        until = time.monotonic() + 1
        while time.monotonic() < until:
            for one in held:
                one.poll(0.01)
    for one in held:
        one.close()
    return {"members": sum(one.start == star.GO or one.counts["taken"] > 0
                           for one in held)}


class Dripping(star.Node):
    """A chunk of its uploads each 0.9 s."""
    last = 0

    def send_chunks(self, f):
        if f is self.founding or time.monotonic() - self.last > 0.9:
            self.last = time.monotonic()
            rest, f.to_send = f.to_send[1:], f.to_send[:1]
            super().send_chunks(f)
            f.to_send += rest

    def tick(self):
        super().tick()
        for f in self.flights:
            if f.granted and not f.judged:
                self.send_chunks(f)


def drips(options):
    one = node(options, "drips", Dripping)
    trains(one, options.seconds)
    one.close()
    return {"offered": one.number > 0}


# ---- numbers that nodes say of themselves ----

class Boasting(star.Node):
    claims = {"HELLO": {"iteration": 2**63},
              "PING": {"iteration": MOST, "loss": -1e200, "rate": 1e300},
              "OFFER": {"samples": 9 * 10**18, "score": -1e200}}

    def send(self, name, payload=None, /, **fields):
        fields.update(self.claims.get(name, {}))
        super().send(name, payload, **fields)


def boasts(options):
    """Iterations, losses and samples that nobody has; progress beyond all
    measure. With --alone nobody else is there to contradict it."""
    one = node(options, "boasts", Boasting)
    until = time.monotonic() + options.seconds
    while time.monotonic() < until:
        one.x[COLUMNS * ROWS - 1] += 1e20
        one.samples += 1
        one.step(0.004)
    one.close()
    return {"joined": one.start == star.GO, "offers": one.number,
            "not told that the run is over":
            one.stopping is None and one.bye is None}


# ---- memory ----

def nothing(options):
    """Frames of nothing, by strangers and by members."""
    flood, cut, sent = frame(b"", MORE) * (1 << 16), 0, 0
    for number in range(options.many):
        one = Raw(options.port + number % 2)
        control = None
        if number % 4 == 0:
            control, one, _ = member(options.port, SCHEMA, number)
        for _ in range(8):
            one.send(flood)
            if one.cut():
                break
        until = time.monotonic() + 5
        while not one.cut() and time.monotonic() < until:
            time.sleep(0.01)
        cut += one.gone
        sent += one.sent // 2
        for each in (one, control):
            if each:
                each.close()
    return {"all cut": cut == options.many, "frames": sent}


def unfinished(options):
    """Members with a chunk each of which all but a byte has come."""
    held, in_all = [], 0
    most = SCHEMA.elements * 4 if options.small else 1 << 20
    body = bytes(most - 1)
    for number in range(options.many):
        control, bulk, welcome = member(options.port, SCHEMA, 100 + number)
        if not welcome:
            break
        bulk.send(frame(wire.pack("CHUNK", exchange=1), MORE))
        bulk.send(head(0, most))
        in_all += bulk.send(body) == len(body)
        held += control, bulk
    time.sleep(options.seconds)
    cut = sum(one.cut() for one in held)
    for one in held:
        one.close()
    return {"members": len(held) // 2 == options.many, "whole": in_all,
            "cut": cut}


def giant(options):
    """Offers of a giant model, withdrawn again; PONGs come in time."""
    shape = wire.Schema([(f"{i:03}" + "x" * 56, (1000, 100))
                         for i in range(options.tensors)])
    control, bulk, welcome = member(options.port, shape, 1)
    worst = 0.0
    for number in range(1, options.many + 1):
        control.send(message("OFFER", exchange=number, iteration=number,
                             samples=1, norm=1.0, score=1.0, kind=0,
                             fragment=wire.ALL, lineage=1))
        control.send(message("WAIVE", exchange=number))
        if number % 50 == 0:
            asked = time.monotonic()
            control.send(message("PING", sent=1, loss=wire.NO_SCORE,
                                 accuracy=-1))
            control.hears("PONG")
            worst = max(worst, time.monotonic() - asked)
    control.close()
    bulk.close()
    return {"joined": welcome is not None, "PONG within a second": worst < 1,
            "worst PONG": worst}


class Member:
    """A member of the group for collectives."""

    def __init__(self, port, number, size):
        self.control, self.bulk = Raw(port), Raw(port + 1)
        self.calls = 0
        self.control.send(message(
            "JOIN", protocol_min=wire.VECTORS["protocol"][0],
            protocol_max=wire.VECTORS["protocol"][1], node_high=55,
            node_low=number, incarnation=time.time_ns(),
            manner=wire.word("manner", "patient"), size=size,
            patience=30 * 10**9, name=f"member{number}"))
        self.joined = self.control.hears("JOINED")
        if self.joined:
            self.bulk.send(message("SIT", session=self.joined.session))

    def gathers(self, size):
        self.calls += 1
        self.control.send(message(
            "CALL", number=self.calls, era=0, sequence=self.calls - 1, root=0,
            collective=wire.word("collective", "allgather"), bytes=size))

    def lives(self):
        self.control.send(message("PING", sent=1, loss=wire.NO_SCORE,
                                  accuracy=-1))

    def gives(self, parts, others):
        """So many parts, as there is credit for them; how many it was."""
        part, given, credit = bytes(self.joined.part_bytes), 0, 0
        while given < parts:
            for one in others if given % 50 == 0 else []:
                one.lives()
            if not credit:
                more = self.control.hears("CREDIT", 10)
                if not more:
                    break
                credit = more.more
            credit -= 1
            self.bulk.send(message("PART", part, number=self.calls, part=given,
                                   checksum=wire.checksum(part)))
            given += 1
        return given

    def refused(self):
        outcome = self.control.hears("OUTCOME", 15)
        return outcome.text if outcome else ""

    def close(self):
        self.control.close()
        self.bulk.close()


def gathers(options):
    """An allgather that all but one have come to, each with a third of what
    the hub keeps."""
    members = [Member(options.port, i, 6) for i in range(6)]
    size, given = 600 << 20, 0
    for member in members[:3]:
        member.gathers(size)
        given += member.gives(options.many, members)
    members[3].gathers(size)
    words = members[3].refused()
    for member in members:
        member.close()
    return {"refused": "more than the hub keeps" in words, "words": words,
            "parts": given}


# ---- runs and centres that are not ----

def forged(options):
    """A later life of the run, and a centre, without the hub's key."""
    one = node(options, "forger")
    until = time.monotonic() + 10
    while not one.kept and time.monotonic() < until:
        trains(one, 0.2)
    kept, welcome = one.kept, one.welcome
    one.close()
    if not kept:
        return {"kept": False}
    manifest = bytearray(kept["manifest"])
    chunks, state = np.frombuffer(bytes(manifest[:8]), "<u4")
    for c in range(chunks):  # each of a later version
        manifest[8 + state + 24 * c + 4] ^= 1
    manifest[-32:] = bytes(32)
    lives = 0
    for ahead in (1, 2, 1000, 1 << 31):
        control, bulk, again = member(
            options.port, SCHEMA, 900 + ahead, run=welcome.run,
            lineage=welcome.lineage, base_version=MOST - 1,
            epoch=min(MOST, welcome.epoch + (ahead << 32)),
            kept=kept["version"] + 10**6,
            kept_chunk=welcome.chunk_elements)
        bulk.send(message("KEPT", bytes(manifest), version=kept["version"] +
                          10**6))
        lives += again is not None
        time.sleep(0.2)
        control.close()
        bulk.close()
    return {"kept": kept is not None, "tried": 4, "let in": lives}


def whose(options):
    """Whose run it is; for `keeps_more`."""
    control, bulk, welcome = member(options.port, SCHEMA, 1)
    control.close()
    bulk.close()
    return {"run": welcome.run, "epoch": welcome.epoch}


def keeps_more(options):
    """A hub has just started again: so many say that they keep a newer
    centre, and do not. Others go on all the same."""
    control, bulk, welcome = member(options.port, SCHEMA, 499)
    control.close()
    bulk.close()
    held = [member(options.port, SCHEMA, 500 + number, run=options.run,
                   epoch=options.epoch, kept=10**6 + number,
                   kept_life=options.epoch >> 32,
                   kept_chunk=welcome.chunk_elements,
                   base_version=10**6) for number in range(options.many)]
    one, began = node(options, "waits"), time.monotonic()
    while not one.counts["results"] and \
            time.monotonic() < began + options.seconds:
        trains(one, 0.1)
    took = time.monotonic() - began
    one.close()
    for control, bulk, _ in held:
        control.close()
        bulk.close()
    return {"others go on": one.counts["results"] > 0,
            "after": round(took, 1)}


def another(options):
    """The first HELLO is of another model; the hub has its own."""
    other = wire.Schema([("other", (3, 3))])
    control = Raw(options.port)
    control.send(hello(other, 3))
    bye = control.hears("BYE")
    control.close()
    return {"refused": bye is not None and
            bye.farewell == wire.word("farewell", "schema")}


def names(options):
    """A name that would turn the direction of writing, and one in a form of
    msgpack that is longer than needed; both come in."""
    turned = member(options.port, SCHEMA, 41, name="turned\u202egnp")
    control = Raw(options.port)
    plain, short = hello(SCHEMA, 42, name="longer"), wire.pack("PING")[:0]
    header = plain[2 if not plain[0] & 2 else 9:]
    size = plain[1] if not plain[0] & 2 else int.from_bytes(plain[1:9], "big")
    header, rest = header[:size], header[size:]
    at = header.index(b"\xa6longer")
    header = header[:at] + b"\xda\0\6" + header[at + 1:] + short
    control.send(frame(header, MORE) + rest)
    let_in = control.hears("WELCOME") is not None
    time.sleep(1)
    for one in turned[:2] + (control,):
        one.close()
    return {"turned comes in": turned[2] is not None,
            "str16 comes in": let_in}


def late(options):
    """Cut off for longer than --staleness, while it trains on: its progress
    is merged when it comes back."""
    one = node(options, "late")
    trains(one, 1)
    one.disconnect()
    one.control = None
    for _ in range(options.many):
        one.x[0] += 1
        one.samples += 1
    time.sleep(options.seconds)
    merged = one.counts["merged"]
    one.connect()
    trains(one, 2)
    more = one.counts["merged"] - merged
    one.leave()
    one.close()
    return {"its progress is merged": more > 0, "taken": one.counts["taken"]}


# ---- keys ----

class Bad(star.Node):
    """Sends what is no number."""

    def send(self, name, payload=None, /, **fields):
        if name == "CHUNK":
            values = np.full(len(payload) // 4, np.nan, payloads.F32)
            payload = values.tobytes()
            fields["checksum"] = wire.checksum(payload)
        super().send(name, payload, **fields)


def renamed(options):
    """One key that sends no numbers, again and again under other names."""
    counted = []
    for name in ("mal1", "mal2", "mal3"):
        said = []
        one = node(options, name, Bad)
        one.note = lambda said=said, **words: said.append(
            words.get("verdict"))
        trains(one, options.seconds / 3)
        one.close()
        counted.append({v: said.count(v) for v in set(said) if v})
    # Out of quarantine three bad exchanges lead to the next, a longer one.
    later = [one.get("quarantined", 0) > 4 * one.get("corrupt", 0)
             for one in counted[1:]]
    return {"quarantined": "quarantined" in counted[0],
            "no new name is a new node": all(later), "verdicts": counted}


def claims(options):
    """Names of connections, in handshakes with a key that is known."""
    context, held = zmq.Context(), []
    context.set(zmq.MAX_SOCKETS, 2000)
    for number in range(options.many):
        one = context.socket(zmq.DEALER)
        one.linger = 0
        name = number * 2**32 // options.many
        one.routing_id = b"\0" + name.to_bytes(4, "big")
        one.curve_serverkey = wire.read_line(options.line)[0]
        one.curve_publickey, one.curve_secretkey = options.key
        one.connect(f"tcp://127.0.0.{1 + number % 16}:0;"
                    f"127.0.0.1:{options.port + number % 2}")
        if number % 2:
            one.send(wire.pack("ROOM"))
        held.append(one)
        if len(held) > 400:
            held.pop(0).close()
    time.sleep(1)
    for one in held:
        one.close()
    context.term()
    return {}


def enrols(options):
    """Keys without end for the line of one hub."""
    hub_key, secret = wire.read_line(options.line)
    context = zmq.Context()
    until, answers, asked = time.monotonic() + options.seconds, {}, 0
    while time.monotonic() < until and asked < options.many:
        sockets = [context.socket(zmq.DEALER) for _ in range(20)]
        for one in sockets:
            asked += 1
            one.linger = 0
            one.curve_serverkey = hub_key
            one.curve_publickey = wire.public_of(secret)
            one.curve_secretkey = secret
            one.connect(f"tcp://127.0.0.1:{options.port}")
            one.send(wire.pack("ENROL", name=f"e{asked}",
                               **wire.key_words(zmq.curve_keypair()[0])))
        for one in sockets:
            words = "nothing"
            if one.poll(1000):
                words, fields = wire.unpack(one.recv_multipart()[0])
                if words == "BYE":
                    words += " " + wire.WORDS["farewell"][fields.farewell]
            answers[words] = answers.get(words, 0) + 1
            one.close()
    context.term()
    return {"at most 256 let in": answers.get("ENROLLED", 0) <= 256,
            "some let in": "ENROLLED" in answers, "asked": asked,
            "answers": answers}


def calm(options):
    """Nothing: to compare with."""
    time.sleep(options.seconds)
    return {}


TABLE = {f.__name__: f for f in (
    calm, whose, idle, newcomers, drips, boasts, nothing, unfinished, giant, gathers, forged,
    keeps_more, another, names, late, claims, renamed, enrols)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("row", choices=TABLE)
    parser.add_argument("port", type=int)
    parser.add_argument("pid", type=int)
    parser.add_argument("lines")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--many", type=int, default=8)
    parser.add_argument("--tensors", type=int, default=600)
    parser.add_argument("--run", type=int, default=0)
    parser.add_argument("--epoch", type=int, default=0)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--line", default="")
    parser.add_argument("--own", default="")
    parser.add_argument("--rss-mib", type=float, default=600)
    parser.add_argument("--descriptors", type=int, default=300)
    parser.add_argument("--processor", type=float, default=1)
    options = parser.parse_args()
    options.key = None
    if options.own:
        with open(options.own, encoding="ascii") as file:
            values = dict(line.split(" = ") for line in file if " = " in line)
        options.key = tuple(values[next(k for k in values if name in k)].strip(
            '"\n').encode() for name in ("public-key", "secret-key"))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    meter = Meter(options.pid, options.lines)
    with meter:
        found = TABLE[options.row](options)
    found["alive"] = meter.alive()
    found["memory"] = meter.rss <= options.rss_mib
    found["few descriptors"] = meter.descriptors <= options.descriptors
    found["processor"] = meter.processor <= options.processor
    failed = [words for words, holds in found.items() if holds is False]
    numbers = {words: what for words, what in found.items()
               if not isinstance(what, bool)}
    print(json.dumps({
        "row": options.row, "seconds": round(meter.seconds, 1),
        "rss_mib": round(meter.rss), "descriptors": meter.descriptors,
        "processor": round(meter.processor, 2),
        "results": round(meter.rate, 2), **numbers, "failed": failed}))
    return 1 if failed else 0


sys.exit(main())
