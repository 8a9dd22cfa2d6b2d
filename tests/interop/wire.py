"""What goes over a connection, as docs/protocol.md has it: headers, schemas,
keys. Kinds, fields and words are read from docs/vectors.json, which is made
from the same tables."""
import base64
import json
import os

import msgpack
import numpy as np
import xxhash
import zmq
import zmq.utils.z85 as z85

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NO_SCORE = 1e300
ALL = 2**32 - 1  # the fragment that is all

with open(os.path.join(ROOT, "docs/vectors.json"), encoding="utf-8") as file:
    VECTORS = json.load(file)
KINDS = {m["name"].upper(): m for m in VECTORS["messages"]}
NAMES = {m["kind"]: m["name"].upper() for m in VECTORS["messages"]}
WORDS = VECTORS["words"]


def word(of, name):
    return WORDS[of].index(name)


def pack(name, /, **values):
    """A header; fields that are not given are 0 or empty."""
    message = KINDS[name]
    row = [message["kind"]]
    for field, kind, _ in message["fields"]:
        value = values.pop(field, "" if kind == "TEXT" else 0)
        row.append(float(value) if kind == "F64" else value)
    assert not values, f"{name} has no {list(values)}"
    return msgpack.packb(row, use_bin_type=True)


class Message(dict):
    """Fields of a message by name, and as attributes."""
    __getattr__ = dict.__getitem__


def unpack(header):
    row = msgpack.unpackb(header, raw=False)
    name = NAMES[row[0]]
    fields = KINDS[name]["fields"]
    lacks = 1 + len(fields) - len(row)
    assert all(kind == "I64" for _, kind, _ in fields[len(fields) - lacks:]) \
        and lacks >= 0, f"{name} has {len(row) - 1} fields"
    row += [0] * lacks  # those at the end that may be missing
    return name, Message((f[0], v) for f, v in zip(fields, row[1:]))


def checksum(data):
    return xxhash.xxh3_64_intdigest(data)


def lineage(vector):
    return checksum(vector.tobytes()) | 1


class Schema:
    """Named shapes in order: [("w", (3, 100)), ("s", ())]."""

    def __init__(self, tensors):
        self.text = "".join(
            f"{name} f32 {','.join(map(str, shape)) or '-'}\n"
            for name, shape in tensors).encode()
        sizes = [int(np.prod(shape, dtype=np.int64)) for _, shape in tensors]
        self.elements = sum(sizes)
        self.hash = checksum(self.text)
        self.exempt = np.repeat([len(shape) < 2 for _, shape in tensors],
                                sizes)


def read_schema(text):
    tensors = []
    for line in text.splitlines():
        name, _, shape = line.split(" ")
        tensors.append((name, () if shape == "-" else
                        tuple(map(int, shape.split(",")))))
    return Schema(tensors)


def read_line(text):
    """What stands behind --key: the hub's public key, and the secret half of
    the enrolment key or None; in Z85."""
    data = base64.urlsafe_b64decode(text[1:] + "=" * (-(len(text) - 1) % 4))
    if text[0] not in "HE" or len(data) != (32 if text[0] == "H" else 64):
        raise ValueError("no key of a hub")
    return z85.encode(data[:32]), z85.encode(data[32:]) if data[32:] else None


def key_words(key):
    """The fields of ENROL."""
    data = z85.decode(key)
    return {f"key{i}": int.from_bytes(data[8 * i:8 * i + 8], "little")
            for i in range(4)}


def public_of(secret):
    return zmq.curve_public(secret)
