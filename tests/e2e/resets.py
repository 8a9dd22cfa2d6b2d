"""resets.py PORT HUB_PORT: forwards PORT and PORT + 1 to a hub's ports. With
SIGUSR1 all connections are reset, with SIGUSR2 those of the second port; new
ones are forwarded at once."""
import asyncio
import signal
import socket
import struct
import sys

port, hub_port = int(sys.argv[1]), int(sys.argv[2])
pairs = {}


def reset(pair):
    for writer in pair:
        end = writer.get_extra_info("socket")
        if end is not None and end.fileno() >= 0:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                           struct.pack("ii", 1, 0))
        writer.transport.abort()
    pairs.pop(pair, None)


def reset_all(least):
    for pair, channel in list(pairs.items()):
        if channel >= least:
            reset(pair)


async def forward(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


def door(channel):
    async def come(reader, writer):
        try:
            far_reader, far = await asyncio.open_connection(
                "127.0.0.1", hub_port + channel)
        except OSError:
            writer.close()
            return
        pair = (writer, far)
        pairs[pair] = channel
        ways = [asyncio.ensure_future(forward(reader, far)),
                asyncio.ensure_future(forward(far_reader, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        reset(pair)
        await asyncio.gather(*ways, return_exceptions=True)
    return come


async def main():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, reset_all, 0)
    loop.add_signal_handler(signal.SIGUSR2, reset_all, 1)
    for channel in (0, 1):
        await asyncio.start_server(door(channel), "127.0.0.1", port + channel)
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
