"""Datagrams of hubs that announce themselves, for tests/e2e/beacon.sh.

    beacon.py listen SECONDS        prints each: address, bytes, hexadecimal
    beacon.py secrets FILE FOLDER   1 if those in FILE hold a part of a key
    beacon.py noise ADDRESS COUNT   sends as many, most of them nearly right
"""
import pathlib
import random
import socket
import sys
import time

import z85

PORT = 7541


def listen(seconds):
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    box.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    box.bind(("", PORT))
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        box.settimeout(left)
        try:
            data, sender = box.recvfrom(2048)
        except TimeoutError:
            break
        print(sender[0], len(data), data.hex())


def secrets(path, folder):
    """Any 4 bytes of a key, public or secret, as bytes or as they are
    written: far fewer than anybody could use."""
    datagrams = [bytes.fromhex(line)
                 for line in pathlib.Path(path).read_text().split()]
    keys = []
    for file in pathlib.Path(folder).rglob("*"):
        if not file.is_file():
            continue
        for word in file.read_text(errors="ignore").replace('"', " ").split():
            if len(word) == 40:
                keys += [z85.decode(word), word.encode()]
            elif len(word) > 40:
                keys.append(word.encode())
    assert len(keys) >= 5, "the keys were not found"
    for datagram in datagrams:
        for key in keys:
            for at in range(len(key) - 3):
                assert key[at:at + 4] not in datagram, "a part of a key"


def noise(address, count):
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    box.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    good = b"starsw 1" + (7541).to_bytes(2, "little") + bytes(26)
    dice = random.Random(7)
    shots = [good[:-1], good + b"\0", b"starsw 2" + good[8:], good[:8],
             good[:8] + bytes(28), good[:10] + b"\2\0" + good[12:], b"",
             bytes(255), bytes(1400)]
    for _ in range(count):
        shot = dice.choice(shots + [dice.randbytes(dice.randrange(256))])
        box.sendto(shot, (address, PORT))


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "listen":
        listen(float(rest[0]))
    elif what == "secrets":
        secrets(*rest)
    else:
        noise(rest[0], int(rest[1]))
