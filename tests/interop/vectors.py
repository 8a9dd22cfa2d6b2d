"""Checks docs/vectors.json against what is written here from the docs."""
import hashlib
import struct
import sys

import numpy as np
import zmq.utils.z85 as z85

import payloads
import wire

V = wire.VECTORS
F32 = np.dtype("<f4")
failures = []


def check(expected, actual, what):
    if expected != actual:
        failures.append(f"{what}: {actual!r} instead of {expected!r}")


def values_of(elements):
    i = np.arange(elements, dtype=np.int64)
    whole = (i * 40503 + 12345) % 65536 - 32768
    return (whole * 2.0**(-8 - i % 8)).astype(F32)


def messages():
    for m in V["messages"]:
        fields = {name: value for name, _, value in m["fields"]}
        name, read = wire.unpack(bytes.fromhex(m["header"]))
        check(m["name"].upper(), name, "kind")
        check(fields, dict(read), name)
        check(m["header"], wire.pack(name, **fields).hex(), f"packed {name}")


def models():
    with open(f"{wire.ROOT}/docs/protocol.md", encoding="utf-8") as file:
        page = file.read()
    check(True, hex(V["models"][-1]["hash"]) in page, "the example's hash")
    for m in V["models"]:
        schema = wire.read_schema(m["schema"])
        check(m["schema"], schema.text.decode(), "schema")
        check(m["hash"], schema.hash, "hash")
        check(m["elements"], schema.elements, "elements")
        check(m["lineage"], wire.lineage(values_of(schema.elements)),
              "lineage")
        for tensor in m["tensors"]:
            first, count = tensor["first"], tensor["elements"]
            check([tensor["exempt"]] * count,
                  schema.exempt[first:first + count].tolist(), tensor["name"])


def chunk_of(model, chunk):
    m = V["models"][model]
    first = chunk * m["chunk_elements"]
    some = slice(first, min(first + m["chunk_elements"], m["elements"]))
    schema = wire.read_schema(m["schema"])
    return values_of(m["elements"])[some], schema.exempt[some]


def chunks():
    for c in V["chunks"]:
        what = f"{c['codec']}, chunk {c['chunk']} of model {c['model']}"
        values, exempt = chunk_of(c["model"], c["chunk"])
        payload = payloads.encode(c["codec"], values, exempt)
        check(c["bytes"], len(payload), f"bytes of {what}")
        check(c["checksum"], wire.checksum(payload), f"checksum of {what}")
        decoded = payloads.decode(c["codec"], payload, exempt)
        decoded = (decoded + np.float32(0)).tobytes()  # a -0 is 0
        if "payload" in c:
            check(c["payload"], payload.hex(), f"payload of {what}")
            check(c["decoded"], decoded.hex(), f"decoded {what}")
        else:
            check(c["decoded_hash"], wire.checksum(decoded), f"hash of {what}")


def rebase():
    for r in V["rebase"]:
        x, sent, v = (np.frombuffer(bytes.fromhex(r[key]), F32)
                      for key in ("x", "x_sent", "v"))
        a = r["weight"]
        c = (a * v.astype(float) - a * sent.astype(float)).astype(F32)
        check(r["c"], c.tobytes().hex(), "c")
        check(r["after"], (x + c).tobytes().hex(), "x")


def manifest():
    m = V["manifest"]
    state = m["state"].encode()
    data = struct.pack("<II", len(m["versions"]), len(state)) + state
    for chunk, version in enumerate(m["versions"]):
        values, _ = chunk_of(m["model"], chunk)
        data += struct.pack("<Q", version)
        data += hashlib.blake2b(values.tobytes(), digest_size=16).digest()
    data += hashlib.blake2b(data, digest_size=16).digest()
    data += hashlib.blake2b(data, key=bytes.fromhex(m["key"]),
                            digest_size=32).digest()
    check(m["bytes"], data.hex(), "manifest")


def keys():
    k = V["keys"]
    hub, secret = wire.read_line(k["line_that_enrols"])
    check(k["hub_public"]["z85"], hub.decode(), "the hub's key")
    check(k["enrolment_secret"]["z85"], secret.decode(), "enrolment key")
    check((hub, None), wire.read_line(k["line"]), "a line without enrolment")
    for name in ("enrolment", "node"):
        check(k[f"{name}_public"]["z85"],
              wire.public_of(k[f"{name}_secret"]["z85"].encode()).decode(),
              f"{name}_public")
    for name in ("hub_public", "node_secret"):
        check(k[name]["bytes"], z85.decode(k[name]["z85"]).hex(), name)
    check(True, f'public-key = "{k["node_public"]["z85"]}"'
          in k["certificate"], "certificate")


for test in (messages, models, chunks, rebase, manifest, keys):
    test()
print("\n".join(failures[:10]) or "all vectors are as the docs say")
sys.exit(bool(failures))
