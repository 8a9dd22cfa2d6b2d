"""python3 tensorboard.py FOLDER TAG...: reads TensorBoard's files by itself, and
prints the last value of each tag; fails if a checksum is wrong, a tag is missing
or a step goes back."""

import pathlib
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        length, check = struct.unpack("<QI", data[:12])
        body, after = data[12 : 12 + length], data[12 + length : 16 + length]
        assert check == masked(data[:8]), "the length's checksum"
        assert struct.unpack("<I", after)[0] == masked(body), "the data's checksum"
        yield body
        data = data[16 + length :]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            size = {1: 8, 5: 4}[key & 7]
            value = struct.unpack({8: "<d", 4: "<f"}[size], data[at : at + size])[0]
            at += size
        yield key >> 3, value


def main(folder, tags):
    last = {}
    for file in sorted(pathlib.Path(folder).glob("events.out.tfevents.*")):
        steps = {}
        for number, record in enumerate(records(file.read_bytes())):
            event = dict(fields(record))
            if number == 0:
                assert event[3] == b"brain.Event:2", event
                continue
            scalar = dict(fields(dict(fields(event[5]))[1]))
            tag = scalar[1].decode()
            assert event[2] >= steps.get(tag, 0), f"{tag} goes back"
            steps[tag] = event[2]
            last[tag] = scalar[2]
    for tag in tags:
        print(tag, last[tag])


main(sys.argv[1], sys.argv[2:])
