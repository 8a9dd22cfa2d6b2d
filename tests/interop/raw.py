"""Connections that speak ZMTP by hand, without keys, so that frames can be
anything: what no library would send."""
import select
import socket
import time

import wire

MORE, LONG, COMMAND = 1, 2, 4
GREETING = b"\xff" + bytes(8) + b"\x7f\3\1NULL" + bytes(16 + 1 + 31)
READY = b"\5READY\x0bSocket-Type\0\0\0\6DEALER"
SOURCES = 16  # addresses of loopback that connections come from


def head(flags, size):
    if size < 256 and not flags & LONG:
        return bytes((flags, size))
    return bytes((flags | LONG,)) + size.to_bytes(8, "big")


def frame(data, flags=0):
    return head(flags, len(data)) + data


def message(name, payload=None, /, **fields):
    header = wire.pack(name, **fields)
    return frame(header) if payload is None else \
        frame(header, MORE) + frame(payload)


class Raw:
    """One connection. Sends at once or not at all: `gone` once it is cut."""
    number = 0

    def __init__(self, port):
        Raw.number += 1
        self.socket = socket.socket()
        self.socket.bind((f"127.0.0.{1 + Raw.number % SOURCES}", 0))
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", port))
        self.gone, self.taken, self.sent = False, b"", 0
        self.send(GREETING + frame(READY, COMMAND))
        self.greeted = False

    def waits(self, milliseconds):
        """Whether something has come, or comes within that time."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return bool(poll.poll(milliseconds))

    def send(self, data):
        """How much of it the system took within a second."""
        self.socket.settimeout(1)
        view = memoryview(data)
        try:
            while view and not self.gone:
                now = self.socket.send(view)
                self.sent += now
                view = view[now:]
        except TimeoutError:
            pass
        except OSError:
            self.gone = True
        return len(data) - len(view)

    def cut(self):
        """Whether the other end has cut it, after reading what it said."""
        while not self.gone and self.waits(0):
            self.read()
        return self.gone

    def read(self):
        try:
            data = self.socket.recv(1 << 16)
        except OSError:
            data = b""
        self.gone |= not data
        self.taken += data

    def frames(self):
        """Those that have come whole, each (flags, bytes)."""
        if not self.greeted and len(self.taken) >= 64:
            self.greeted, self.taken = True, self.taken[64:]
        while self.greeted and len(self.taken) >= 2:
            flags, size, at = self.taken[0], self.taken[1], 2
            if flags & LONG:
                size, at = int.from_bytes(self.taken[1:9], "big"), 9
            if len(self.taken) < at + size or at == 9 > len(self.taken):
                return
            data, self.taken = self.taken[at:at + size], \
                self.taken[at + size:]
            yield flags, data

    def hears(self, name, seconds=10):
        """The next message of this kind, or None."""
        until = time.monotonic() + seconds
        while not self.gone and time.monotonic() < until:
            for flags, data in self.frames():
                if not flags & COMMAND and data[:1] >= b"\x90":
                    kind, fields = wire.unpack(data)
                    if kind == name:
                        return fields
            if self.waits(100):
                self.read()
        return None

    def close(self):
        self.socket.close()


def hello(schema, number, **fields):
    """HELLO of the node with this number."""
    values = {"protocol_min": wire.VECTORS["protocol"][0],
              "protocol_max": wire.VECTORS["protocol"][1],
              "node_high": 77, "node_low": number,
              "incarnation": time.time_ns(), "lineage": 1,
              "schema": schema.hash, "name": f"raw{number}"}
    return message("HELLO", schema.text, **{**values, **fields})


def member(port, schema, number, **fields):
    """(control, bulk, WELCOME) of a member; WELCOME is None if it is not let
    in."""
    control, bulk = Raw(port), Raw(port + 1)
    control.send(hello(schema, number, **fields))
    welcome = control.hears("WELCOME")
    if welcome:
        bulk.send(message("ATTACH", session=welcome.session))
    return control, bulk, welcome
