"""Stands between a node and its hub: makes the node speak another protocol.

skew.py LISTEN HUB VERSION [KEEP]: relays both ports, LISTEN and the one behind
it; in the node's HELLO, a message of the kind 0, both versions become VERSION.
With KEEP, all that is behind the first so many fields is left out, as another
release may have others.
"""
import asyncio
import sys


def skew(data, version, keep):
    """A frame of ZMTP: flags, length, and [0, oldest, newest, ...] or, with
    more than 15 elements, 0xdc and two bytes of their count."""
    for at in range(len(data) - 6):
        head = 3 if data[at + 2] == 0xDC else 1
        kind = at + 2 + head
        if (
            data[at] == 1
            and (head == 3 or data[at + 2] & 0xF0 == 0x90)
            and data[kind] == 0
            and 0 < data[kind + 1] <= data[kind + 2] < 0x80
        ):
            end = at + 2 + data[at + 1]
            body = data[at + 2 : kind + 1] + bytes([version] * 2)
            body += data[kind + 3 : end]
            if keep:
                body = bytes([0x90 + 1 + keep, 0] + [version] * keep)
            return data[:at] + bytes([1, len(body)]) + body + data[end:]
    return data


async def relay(reader, writer, change):
    try:
        while data := await reader.read(65536):
            writer.write(change(data))
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


async def serve(port, hub, change):
    async def connected(reader, writer):
        there = await asyncio.open_connection("127.0.0.1", hub)
        await asyncio.gather(
            relay(reader, there[1], change), relay(there[0], writer, bytes)
        )

    return await asyncio.start_server(connected, "127.0.0.1", port)


async def main():
    first, hub, version, keep = map(int, (sys.argv[1:] + ["0"])[:4])
    for step in (0, 1):
        await serve(
            first + step, hub + step, lambda data: skew(data, version, keep)
        )
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
