"""counted.py MODEL PREFIX NODES: whether the saved centre holds the steps that
counting trainers (tests/preload) have written to PREFIX1.steps and so on, each
at the coordinate of its number."""
import json
import struct
import sys

ROWS, COLUMNS = 8, 300
path, prefix, nodes = sys.argv[1:]
with open(path, "rb") as file:
    (size,) = struct.unpack("<Q", file.read(8))
    head, data = json.loads(file.read(size)), file.read()
start = {name: head[name]["data_offsets"][0] for name in ("w", "b")}
short = 0
for node in range(1, int(nodes) + 1):
    with open(f"{prefix}{node}.steps", encoding="ascii") as file:
        steps = int(file.read())
    for name, place in (("w", node * (COLUMNS + 1)), ("b", node)):
        (held,) = struct.unpack_from("<f", data, start[name] + 4 * place)
        short += held != steps
        print(f"    n{node}: {steps} steps, {held:g} in the centre ({name})"
              + (" IMBALANCE" if held != steps else ""))
sys.exit(1 if short else 0)
