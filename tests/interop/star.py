"""A node of starswitch, written from docs/protocol.md and docs/codecs.md.

One thread: `step()` after each iteration of the training loop, which may
change `node.x` in between; the network is looked at in there. Everything a
node may leave out that changes no number is left out: fragments are obeyed,
tasks, reviews, CLOSE and WAIVE are not."""
import struct
import time

import numpy as np
import xxhash
import zmq
import zmq.utils.monitor as monitor

import payloads
import wire
from wire import word

PING_EVERY, HUB_SILENT, HELLO_AGAIN = 0.5, 10, 3
AWAY = 10  # so long who leaves waits for a hub that it has lost
MOST_IN_FLIGHT = 64
GO, TAKE, FOUND, HOLD, GIVE = (
    word("start", w) for w in ("go", "take", "found", "hold", "give"))
MERGED = word("verdict", "merged")
LOST = word("verdict", "lost")
REBASE, REPLACE, PULL, ADD, STEP = (
    word("verb", w) for w in ("rebase", "replace", "pull", "add", "step"))
DELTA, GRADIENT, PARAMETERS = range(3)


class Flight:
    """An exchange, from the snapshot until it is judged and applied."""

    def __init__(self, number, iteration, chunks, kind, fragment=wire.ALL):
        self.number, self.iteration, self.kind = number, iteration, kind
        self.fragment, self.chunks = fragment, chunks
        self.q = self.sent = None  # what was given, decoded; x_sent
        self.payloads, self.codec, self.samples = {}, "raw", 0
        self.to_send, self.credit = list(chunks), 0
        self.results, self.verdicts = {}, {}
        self.granted = self.void = self.applied = False
        self.obsolete = self.missed = self.last = False

    @property
    def judged(self):
        return len(self.verdicts) == len(self.chunks)

    @property
    def complete(self):
        return not self.void and len(self.results) == len(self.chunks)

    @property
    def over(self):
        return self.judged and (self.applied or self.void)


class Node:
    def __init__(self, host, port, name, schema, x, hub_key=None, own=None,
                 note=None):
        """`own`: (public, secret) in Z85, as `hub_key` is, or None. `note`
        is told what happens, as words by name."""
        self.host, self.port, self.name, self.schema = host, port, name, schema
        self.hub_key, self.own = hub_key, own
        self.note = note or (lambda **words: None)
        digest = xxhash.xxh3_128_intdigest(name.encode())
        self.uuid = digest >> 64, digest & (2**64 - 1)
        self.incarnation = time.time_ns()
        self.x = np.array(x, payloads.F32)
        self.r = self.x.astype(float)
        self.e = np.zeros(len(x), payloads.F32)
        self.lineage = wire.lineage(self.x)
        self.run = self.base = self.iteration = self.samples = 0
        self.hub_version = 0
        self.gradient, self.gradients = np.zeros(len(x)), 0
        self.score = wire.NO_SCORE
        self.flights, self.number = [], 0
        self.founding = self.taking = None
        self.welcome = self.view = None
        self.chunk_elements = self.cut_run = 0  # the run that is cut so
        self.start, self.unsettled = HOLD, True
        self.epoch = self.kept_run = 0
        self.newest, self.kept = {}, None
        self.promises, self.life, self.recalled = [], None, 0
        self.bye = self.stopping = self.leaving = None
        self.counts = {"merged": 0, "results": 0, "given": 0, "taken": 0}
        self.context = zmq.Context()
        self.control = self.bulk = None
        self.tried = 0
        self.connect()

    # ---- connections ----

    def socket(self, port):
        socket = self.context.socket(zmq.DEALER)
        socket.set(zmq.IMMEDIATE, 1)
        socket.set(zmq.LINGER, 2000)
        socket.set(zmq.RCVHWM, 0)
        socket.set(zmq.SNDHWM, 0)
        if self.hub_key:
            socket.curve_serverkey = self.hub_key
            socket.curve_publickey, socket.curve_secretkey = self.own
        watch = socket.get_monitor_socket(
            zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED |
            zmq.EVENT_HANDSHAKE_FAILED_AUTH)
        socket.connect(f"tcp://{self.host}:{port}")
        return socket, watch

    def connect(self):
        self.disconnect()
        self.control, self.control_watch = self.socket(self.port)
        self.bulk, self.bulk_watch = self.socket(self.port + 1)
        self.control_up = self.bulk_up = False
        self.welcome, self.session = None, None
        self.held, self.tested = {}, {}
        self.unsettled, self.recalled = True, 0
        self.heard = self.tried = time.monotonic()
        self.pinged = self.greeted = 0
        self.start = HOLD
        self.founding = self.taking = None
        for flight in self.flights:
            flight.void = flight.void or not flight.complete

    def disconnect(self):
        if self.control:
            for socket in (self.control, self.bulk):
                socket.disable_monitor()
            for socket in (self.control_watch, self.bulk_watch, self.control,
                           self.bulk):
                socket.close()

    def close(self):
        """A last BYE gets out."""
        self.disconnect()
        self.context.term()

    def send(self, name, payload=None, /, **fields):
        bulk = wire.KINDS[name]["channel"] == "bulk"
        frames = [wire.pack(name, **fields)]
        if payload is not None:
            frames.append(payload)
        if not (self.bulk_up if bulk else self.control_up):
            return
        try:
            (self.bulk if bulk else self.control).send_multipart(
                frames, zmq.DONTWAIT)
        except zmq.Again:  # the connection has just gone
            pass

    def hello(self):
        self.greeted = time.monotonic()
        knows = self.kept_run == self.run
        self.send("HELLO", self.schema.text,
                  protocol_min=wire.VECTORS["protocol"][0],
                  protocol_max=wire.VECTORS["protocol"][1],
                  node_high=self.uuid[0], node_low=self.uuid[1],
                  incarnation=self.incarnation, run=self.run,
                  lineage=self.lineage, base_version=self.base,
                  iteration=self.iteration, schema=self.schema.hash,
                  epoch=self.epoch if knows else 0,
                  kept=1 + self.kept["version"] if self.kept and knows else 0,
                  kept_life=self.kept["epoch"] >> 32
                  if self.kept and knows else 0,
                  kept_chunk=self.chunk_elements,
                  name=self.name)

    def attach(self):
        if not self.bulk_up or not self.welcome:
            return
        if self.session != self.welcome.session:
            self.session = self.welcome.session
            self.send("ATTACH", session=self.session)
        self.announce()

    @property
    def attached(self):
        return self.welcome and self.session == self.welcome.session

    def watch(self, socket):
        event = monitor.recv_monitor_message(socket)["event"]
        up = event == zmq.EVENT_HANDSHAKE_SUCCEEDED
        if not up:
            raise ConnectionError(
                "refused" if event == zmq.EVENT_HANDSHAKE_FAILED_AUTH
                else "lost")
        if socket is self.control_watch:
            self.control_up, self.heard = True, time.monotonic()
            self.hello()
        else:
            self.bulk_up = True
            self.attach()

    def poll(self, seconds=0.0):
        """Takes what has come, after waiting for it for so long."""
        poller = zmq.Poller()
        for socket in (self.control_watch, self.bulk_watch, self.control,
                       self.bulk):
            poller.register(socket, zmq.POLLIN)
        try:
            for socket, _ in poller.poll(int(seconds * 1000)):
                if socket in (self.control_watch, self.bulk_watch):
                    self.watch(socket)
                    continue
                while True:
                    try:
                        frames = socket.recv_multipart(zmq.DONTWAIT)
                    except zmq.Again:
                        break
                    self.hear(frames)
            if not self.bye:
                self.tick()
        except ConnectionError as lost:
            self.note(event="connection", why=str(lost))
            if self.bye:
                self.bulk_up = False
                return
            time.sleep(0.1)
            self.connect()

    def tick(self):
        now = time.monotonic()
        if self.welcome and now - self.pinged >= PING_EVERY:
            self.pinged = now
            self.send("PING", sent=time.monotonic_ns(), loss=self.score,
                      iteration=self.iteration, accuracy=-1)
        if self.control_up and not self.welcome and \
                now - self.greeted >= HELLO_AGAIN:
            self.hello()
        if self.control_up and now - self.heard >= HUB_SILENT:
            raise ConnectionError("silent")

    def hear(self, frames):
        self.heard = time.monotonic()
        name, message = wire.unpack(frames[0])
        handler = getattr(self, "on_" + name.lower(), None)
        if name in ("PONG", "RESULT", "VERDICT"):
            self.hub_version = max(self.hub_version, message.version)
        if handler:
            handler(message, *frames[1:])

    # ---- joining ----

    @property
    def chunks(self):
        return range(-(-self.schema.elements // self.chunk_elements))

    def part(self, chunk):
        size = self.chunk_elements
        return slice(chunk * size, min((chunk + 1) * size,
                                       self.schema.elements))

    def fragments(self):
        one = self.welcome.exchange == GRADIENT or self.welcome.fragments < 2
        return 1 if one else min(self.welcome.fragments, len(self.chunks))

    def on_welcome(self, m):
        if m.run == self.kept_run and m.start not in (HOLD, GIVE) and \
                m.epoch >> 32 < self.epoch >> 32:
            raise ConnectionError("another hub has taken the run over")
        if not self.welcome or m.session != self.welcome.session:
            self.unsettled, self.hub_version = True, 0
        self.hub_version = max(self.hub_version, m.version)
        if m.start not in (HOLD, GIVE) or not self.chunk_elements:
            self.cut(m)
        self.welcome, self.start = m, m.start
        if m.start not in (HOLD, GIVE):
            self.settle()
        self.founding = None
        if m.start == GO:
            if self.run != m.run or self.base > m.version:
                self.base = m.version
            self.run = m.run
        elif m.start == TAKE:
            self.flights, self.taking = [], Flight(0, 0, self.chunks, None)
            self.send("CREDIT")
        elif m.start == FOUND:
            self.found(self.r.astype(payloads.F32))
        elif m.start == GIVE:
            self.found(self.kept["x"])
        self.attach()

    def cut(self, m):
        """x, r and e are whole here; what is under way is cut."""
        if m.chunk_elements == self.chunk_elements:
            self.cut_run = m.run
            return
        if m.run == self.cut_run:
            raise ConnectionError("the hub cuts the run otherwise")
        for f in self.flights:
            for c in f.chunks:
                self.judge(f, c, LOST)
            f.void = True
        self.sweep()
        self.chunk_elements, self.cut_run = m.chunk_elements, m.run
        self.kept, self.newest, self.promises, self.held = None, {}, [], {}

    def found(self, values):
        self.founding = Flight(0, 0, self.chunks, None)
        self.founding.granted = True
        for c in self.chunks:
            self.founding.payloads[c] = values[self.part(c)].tobytes()

    def announce(self):
        if self.start == GIVE:
            self.send("KEPT", self.kept["manifest"],
                      version=self.kept["version"])
            self.counts["given"] += 1
        if self.founding:
            self.send_chunks(self.founding)

    def settle(self):
        """What became of all that was in flight, and of what was merged."""
        m = self.welcome
        merged = m.merged if m.run == self.run else 0
        if self.kept_run != m.run:
            self.kept, self.newest, self.promises = None, {}, []
            self.kept_run, self.epoch, self.life = m.run, 0, m.epoch >> 32
        if self.kept and self.kept["epoch"] >> 32 < m.epoch >> 32 and \
                self.kept["version"] > m.origin:
            self.kept = None
        self.tell_epoch(m.epoch)
        if self.unsettled:
            for flight in self.flights:
                for c in flight.chunks:
                    self.judge(flight, c,
                               MERGED if flight.number <= merged else LOST)
                flight.void = flight.void or not flight.complete
        self.unsettled = False
        if m.start != TAKE:
            self.settle_promises()
        self.sweep()

    def settle_promises(self):
        merged = max(self.welcome.merged, self.recalled)
        if self.life != self.epoch >> 32:
            for number, c, q in self.promises:
                if number > merged:
                    self.r[self.part(c)] -= q
                    self.note(event="again", exchange=number, chunk=c)
            self.promises = [p for p in self.promises if p[0] <= merged]
        self.life, self.recalled = self.epoch >> 32, 0

    def tell_epoch(self, epoch):
        if epoch <= self.epoch or self.welcome.run != self.kept_run:
            return
        if epoch >> 32 != self.epoch >> 32:
            self.newest = {c: (v, x, True)
                           for c, (v, x, _) in self.newest.items()}
        self.epoch = epoch

    def on_tune(self, m):
        if self.welcome:
            self.welcome.update(m)

    def on_view(self, m):
        self.view = m
        if self.welcome:
            self.tell_epoch(m.epoch)

    def on_stop(self, m):
        self.stopping = m.reason

    def on_bye(self, m):
        if m.farewell == word("farewell", "stranger"):
            if time.monotonic() - self.greeted > 0.25:
                raise ConnectionError("stranger")
            return
        if m.farewell == word("farewell", "superseded"):
            raise ConnectionError("superseded")
        self.bye = m

    # ---- what is given ----

    def may_offer(self, fragment):
        m = self.welcome
        flying = [f for f in self.flights if f.fragment == fragment and
                  not (f.void or f.applied)]
        late = m.miss == word("miss", "late") and \
            any(f.missed and not f.complete for f in flying)
        return not late and len(flying) < -(-m.delay // m.every) + 1

    def offer_due(self):
        m, i = self.welcome, self.iteration
        if not m or self.start != GO or not i or \
                len(self.flights) >= MOST_IN_FLIGHT:
            return
        fragments = self.fragments()
        for p in range(fragments):
            first = p * m.every // fragments
            fragment = p if fragments > 1 else wire.ALL
            if i >= first and (i - first) % m.every == 0 and \
                    self.may_offer(fragment):
                self.offer(fragment)

    def offer(self, fragment=wire.ALL, last=False):
        m, kind = self.welcome, self.welcome.exchange
        if kind == GRADIENT and (last or not self.gradients):
            return None
        chunks = [c for c in self.chunks if fragment == wire.ALL or
                  c % self.fragments() == fragment]
        self.number += 1
        f = Flight(self.number, self.iteration, chunks, kind, fragment)
        codec = wire.WORDS["codec"][m.codec]
        if not last and (kind != PARAMETERS or codec in payloads.FOR_ALL):
            f.codec = codec
        f.last = last
        f.q = np.zeros(self.schema.elements, payloads.F32)
        f.sent = np.zeros(self.schema.elements)
        for c in chunks:
            self.form(f, c)
        if kind == GRADIENT:
            self.gradient[:], self.gradients = 0, 0
        self.flights.append(f)
        self.note(event="offer", exchange=f.number, q=f.q)
        self.send("OFFER", exchange=f.number, iteration=self.iteration,
                  base_version=min(self.base, self.hub_version),
                  samples=self.samples,
                  score=self.score, last=int(last), kind=kind,
                  norm=float(np.sqrt((f.q.astype(float)**2).sum())),
                  fragment=fragment, lineage=self.lineage)
        f.samples, self.samples = self.samples, 0
        return f

    def form(self, f, c):
        part, exempt = self.part(c), self.schema.exempt[self.part(c)]
        x = self.x[part].astype(float)
        p = {DELTA: lambda: x - self.r[part],
             PARAMETERS: lambda: x,
             GRADIENT: lambda: self.gradient[part] / self.gradients +
             self.e[part]}[f.kind]().astype(payloads.F32)
        assert np.isfinite(p).all()
        f.payloads[c] = payloads.encode(f.codec, p, exempt)
        q = f.q[part] = payloads.decode(f.codec, f.payloads[c], exempt)
        if f.kind == DELTA:
            self.r[part] = x if f.codec == "raw" else self.r[part] + q
            f.sent[part] = self.r[part]
        elif f.kind == PARAMETERS:
            f.sent[part] = q
        else:
            self.e[part] = p - q
            f.sent[part] = self.r[part]

    def send_chunks(self, f):
        while self.attached and f.granted and f.credit > 0 and f.to_send:
            c = f.to_send.pop(0)
            payload = f.payloads[c]
            self.send("CHUNK", payload, exchange=f.number, chunk=c,
                      codec=word("codec", f.codec),
                      checksum=wire.checksum(payload))
            f.credit -= len(payload)

    def find(self, number, zero=None):
        if not number:
            return zero
        return next((f for f in self.flights if f.number == number), None)

    def on_grant(self, m):
        f = self.find(m.exchange, self.founding)
        if f and not f.judged:
            f.granted = True
            f.credit += m.credit
            self.send_chunks(f)

    def on_credit(self, m):
        f = self.find(m.exchange, self.founding)
        if f:
            f.credit += m.more
            self.send_chunks(f)

    # ---- verdicts and results ----

    def judge(self, f, c, verdict, share=1.0):
        if c in f.verdicts or c not in f.chunks:
            return
        f.verdicts[c] = verdict
        part = self.part(c)
        word_of = wire.WORDS["verdict"][verdict]
        self.note(event="verdict", exchange=f.number, chunk=c, verdict=word_of)
        if verdict == MERGED:
            self.counts["merged"] += 1
            if f.kind == PARAMETERS and not f.obsolete:
                self.r[part] = f.sent[part]
            if f.kind == DELTA and not f.obsolete and \
                    not (self.kept and f.number <= self.kept["merged"]):
                self.promises.append((f.number, c, f.q[part].astype(float)))
            return
        taken_back = word_of in ("declined", "refuted") and c in f.results
        if f.kind == DELTA and not f.obsolete and word_of != "lineage" and \
                not taken_back:
            self.r[part] -= share * f.q[part]
            if f.judged and MERGED not in f.verdicts.values():
                self.samples += f.samples

    def on_verdict(self, m):
        if self.unsettled:
            self.recalled = max(self.recalled, m.exchange)
        f = self.find(m.exchange)
        if not f:
            return
        for c in range(m.first, min(m.first + m.chunks, len(self.chunks))):
            self.judge(f, c, m.verdict)
        f.void = f.void or (not f.complete and not f.applied)
        if f.kind == PARAMETERS and \
                wire.WORDS["verdict"][m.verdict] in ("merged", "declined"):
            self.base = max(self.base, m.version)
        self.sweep()

    def decoded(self, m, payload, exchange=0):
        """What a chunk's payload holds, which takes credit."""
        if wire.checksum(payload) != m.checksum:
            raise ConnectionError("a result was damaged")
        self.send("CREDIT", exchange=exchange, more=len(payload))
        return payloads.decode(wire.WORDS["codec"][m.codec], payload,
                               self.schema.exempt[self.part(m.chunk)])

    def changed(self, chunk, by):
        held = self.held[chunk][1]
        return (held.astype(float) + by.astype(float)).astype(payloads.F32)

    def known(self, m):
        """The values of a result without a payload, or None."""
        f = self.find(m.exchange, None)
        if m.base == m.version:
            v = self.tested.get(m.chunk)
        else:
            v = f and self.changed(m.chunk, f.q[self.part(m.chunk)])
        if v is not None and wire.checksum(v.tobytes()) != m.checksum:
            raise ConnectionError("a result is not what this node knows")
        return v

    def on_result(self, m, payload=None):
        if m.base != m.version and \
                self.held.get(m.chunk, (None, None))[0] != m.base:
            raise ConnectionError("a change of what is not held")
        if payload is None:
            v = self.known(m)
            if v is None:
                self.held.pop(m.chunk, None)
                return
        else:
            v = self.decoded(m, payload, m.exchange)
            if m.base != m.version:
                v = self.changed(m.chunk, v)
        self.held[m.chunk] = m.version, v
        self.tested.pop(m.chunk, None)
        if m.verb in (REBASE, REPLACE, PULL):
            self.newest[m.chunk] = m.version, v, False
        self.note(event="result", chunk=m.chunk, version=m.version, v=v,
                  exchange=m.exchange, verdict=wire.WORDS["verdict"][m.verdict])
        f = self.find(m.exchange, self.taking)
        if not f or m.chunk not in f.chunks or m.chunk in f.results:
            return
        f.results[m.chunk] = m, v
        if f is self.taking:
            if f.complete:
                self.apply(f)
            return
        self.judge(f, m.chunk, m.verdict,
                   m.weight if m.verb == PULL else 1.0)
        self.sweep()

    def sweep(self):
        self.flights = [f for f in self.flights if not f.over]

    def apply(self, f):
        later = self.flights[self.flights.index(f) + 1:] \
            if f in self.flights else []
        for c, (m, v) in f.results.items():
            self.apply_chunk(f, later, self.part(c), m, v.astype(float), c)
        f.applied = True
        versions = [m.version for m, _ in f.results.values()]
        if min(versions) > self.base or not f.number:
            self.base = min(versions)
        if any(m.verb == REPLACE for m, _ in f.results.values()):
            self.start_again(f)
        self.counts["results"] += 1
        self.sweep()

    def apply_chunk(self, f, later, part, m, v, c):
        a, x = m.weight, self.x[part]
        sent = f.sent[part].copy() if f.sent is not None else v
        moved = [g.sent for g in later if c in g.chunks]
        by = v - sent
        if m.verb == REBASE:
            correction = (a * v - a * sent).astype(payloads.F32)
            self.x[part] = x + correction
            if a != 1:
                by = correction.astype(float)
                moved = [g.sent for g in later
                         if c in g.chunks and g.kind != PARAMETERS]
        elif m.verb == PULL:
            self.x[part] = ((1 - a) * x.astype(float) + a * v)
        elif m.verb == ADD:
            by = a * v
            self.x[part] = x.astype(float) + by
        elif m.verb == REPLACE:
            self.x[part] = self.r[part] = v
            self.e[part] = 0
            return
        else:  # STEP: plain gradient descent would go here
            return
        self.r[part] += by
        for sum_ in moved:
            sum_[part] += by

    def start_again(self, f):
        m = next(m for m, _ in f.results.values() if m.verb == REPLACE)
        if m.lineage != self.lineage:
            self.promises = []
        self.lineage = m.lineage
        for g in self.flights:
            if g is not f:
                g.obsolete = g.void = True
        self.samples, self.gradients = 0, 0
        self.gradient[:] = 0
        self.counts["taken"] += 1
        if f is self.taking:
            self.settle_promises()
            self.taking, self.start, self.run = None, GO, self.welcome.run

    def apply_due(self):
        """False: the node must wait before it trains on."""
        m = self.welcome
        for f in list(self.flights):
            if f.void or f.applied or not m or \
                    self.iteration < f.iteration + m.delay:
                continue
            if any(g.fragment in (f.fragment, wire.ALL) or
                   f.fragment == wire.ALL for g in self.flights
                   if g.number < f.number and not (g.void or g.applied)):
                continue
            if f.complete:
                self.apply(f)
                continue
            if not f.missed and (m.delay == 0 or m.miss == word("miss",
                                                                "wait")):
                return f
            f.missed = True
            if m.miss == word("miss", "skip"):
                f.void = True
        return None

    def on_review(self, m, payload=None):
        """We have nothing to evaluate with."""
        if payload is None:
            self.tested[m.chunk] = self.held[m.chunk][1]
        else:
            v = self.decoded(m, payload)
            self.tested[m.chunk] = self.changed(m.chunk, v) if m.change else v
        if not m.chunk:
            self.send("REVIEWED", review=m.review, loss=wire.NO_SCORE)

    # ---- the kept centre ----

    def on_keep(self, m, manifest):
        self.tell_epoch(m.epoch)
        if not self.welcome or self.kept_run != self.welcome.run or (
                self.kept and (m.epoch, m.version) <=
                (self.kept["epoch"], self.kept["version"])):
            return
        chunks, state = struct.unpack_from("<II", manifest)
        x = np.zeros(self.schema.elements, payloads.F32)
        for c in range(chunks):
            (listed,) = struct.unpack_from("<Q", manifest,
                                           8 + state + 24 * c)
            version, values, former = self.newest.get(c, (-1, None, False))
            if not listed <= version <= (listed if former else m.version):
                return
            x[self.part(c)] = values
        self.kept = {"epoch": m.epoch, "version": m.version, "x": x,
                     "merged": m.merged, "manifest": bytes(manifest)}
        self.note(event="kept", version=m.version)
        self.promises = [p for p in self.promises if p[0] > m.merged]

    # ---- training ----

    def step(self, seconds=0.0):
        """After an iteration; `samples` and `gradient` are the trainer's.
        False: the run is over, or the hub will not have this node."""
        self.iteration += 1
        self.poll(seconds)
        self.wait_for_due()
        if self.stopping is None and not self.bye:
            self.offer_due()
            if self.welcome and self.welcome.delay == 0:
                self.wait_for_due()
        return not self.bye and self.stopping is None

    def wait_for_due(self):
        until = None
        while not self.bye and self.stopping is None:
            f = self.apply_due()
            if not f:
                return
            longest = self.welcome.wait / 1e9
            until = until or time.monotonic() + longest
            if time.monotonic() >= until:
                f.missed = True
                until = None
                continue
            self.poll(0.05)

    def leave(self, seconds=34):
        """The last offer, and goodbye: the hub's, or ours. Whether all that
        was offered has its verdict, the last offer for one."""
        last, none = None, False  # none: of gradients there is none

        def told():
            return none or bool(last and last.judged and
                                LOST not in last.verdicts.values())

        here = time.monotonic()
        until = here + seconds
        while not self.bye and time.monotonic() < until:
            # The last offer holds all that is not merged: that must be known.
            # It is made again where a connection has taken it along.
            if all(f.judged for f in self.flights):
                if told() and self.stopping is None:
                    break
                if not told() and self.welcome and self.start == GO:
                    last = self.offer(last=True)
                    none = not last
            if self.welcome and self.start == GO:
                here = time.monotonic()
            elif time.monotonic() - here >= AWAY:
                break
            self.poll(0.05)
        if not self.bye:
            self.send("BYE", farewell=word("farewell", "leaving"))
        # Results may be on their way on the other connection.
        until = time.monotonic() + 2
        while self.bye and self.bulk_up and time.monotonic() < until and \
                not all(f.judged for f in self.flights):
            self.poll(0.05)
        none = none or self.welcome and self.welcome.exchange == GRADIENT
        return all(f.judged for f in self.flights) and told()


def enrol(host, port, line, name, public, seconds=20):
    """Shows the hub our key. False: it will not have it."""
    hub, secret = wire.read_line(line)
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.set(zmq.LINGER, 0)
    socket.curve_serverkey = hub
    socket.curve_publickey = wire.public_of(secret)
    socket.curve_secretkey = secret
    socket.connect(f"tcp://{host}:{port}")
    socket.send_multipart([wire.pack("ENROL", name=name,
                                     **wire.key_words(public))])
    answer = wire.unpack(socket.recv_multipart()[0])[0] \
        if socket.poll(1000 * seconds) else None
    socket.close()
    context.term()
    return answer == "ENROLLED"
