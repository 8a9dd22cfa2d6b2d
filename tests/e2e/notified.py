"""What a service manager hears: notified.py SOCKET prints each message, with
the seconds since the start, as long as it runs."""
import socket
import sys
import time

begun = time.monotonic()
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
print("ready", flush=True)
while True:
    for line in heard.recv(65536).decode().splitlines():
        print(f"{time.monotonic() - begun:.2f} {line}", flush=True)
