"""Stands between a node and its hub: makes the node speak another protocol.

skew.py LISTEN HUB: relays both ports, LISTEN and the one behind it; in the
node's HELLO, a message of the kind 0, both versions become 9.
"""
import asyncio
import re
import sys


def skew(data):
    """HELLO is [0, oldest, newest, ...], however long: a msgpack byte each."""
    return re.sub(b"([\x90-\x9f]\x00)\x01\x01", b"\\1\x09\x09", data, count=1)


async def relay(reader, writer, change):
    try:
        while data := await reader.read(65536):
            writer.write(change(data))
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


async def serve(port, hub):
    async def connected(reader, writer):
        there = await asyncio.open_connection("127.0.0.1", hub)
        await asyncio.gather(
            relay(reader, there[1], skew), relay(there[0], writer, bytes)
        )

    return await asyncio.start_server(connected, "127.0.0.1", port)


async def main():
    first, hub = int(sys.argv[1]), int(sys.argv[2])
    for step in (0, 1):
        await serve(first + step, hub + step)
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
