"""Reads a .safetensors file with nothing but the standard library."""
import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    tensors = json.loads(file.read(length))
    data = file.read()
assert (8 + length) % 8 == 0, "the data is not aligned"
metadata = tensors.pop("__metadata__", {})
for key, value in metadata.items():
    print("metadata", key, json.dumps(value))
for name, tensor in tensors.items():
    begin, end = tensor["data_offsets"]
    values = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    print(name, tensor["dtype"], tensor["shape"], sum(values))
