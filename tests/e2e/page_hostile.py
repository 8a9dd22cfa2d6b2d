"""Misuses the page of a hub: page_hostile.py PORT PID. Fails when the hub does
not go on, answers too late, or grows."""

import os
import resource
import socket
import sys
import time

PORT, PID = int(sys.argv[1]), int(sys.argv[2])
HOST = f"127.0.0.1:{PORT}"


def connect(patience=15):
    s = socket.create_connection(("127.0.0.1", PORT), timeout=patience)
    return s


def ask(request, patience=15):
    """All that comes back; b"": the connection was cut off."""
    answer = b""
    try:
        with connect(patience) as s:
            s.sendall(request)
            while piece := s.recv(65536):
                answer += piece
    except (ConnectionError, TimeoutError):
        pass
    return answer


def get(path="/healthz", headers="", patience=15):
    return ask(
        f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n"
        f"{headers}\r\n".encode(),
        patience,
    )


def code(answer):
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def check(what, held):
    print(f"    {'ok' if held else 'NOT SO'}: {what}")
    if not held:
        sys.exit(1)


def descriptors():
    return len(os.listdir(f"/proc/{PID}/fd"))


def resident():
    with open(f"/proc/{PID}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def answers_within(seconds):
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if code(get()) == 200:
            return True
        time.sleep(0.2)
    return False


before, memory = descriptors(), resident()
check("it answers", code(get()) == 200)
check("another host's name: 421", code(get("/status", "Host: x\r\n")) in (400, 421))
check(
    "a name that means 127.0.0.1: 421",
    code(ask(b"GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n", 15)) == 421,
)
check(
    "no host at all",
    code(ask(b"GET /status HTTP/1.1\r\nConnection: close\r\n\r\n")) in (400, 421),
)

for size in (9_000, 40_000, 1_000_000):
    answer = get("/status", f"X-Long: {'x' * size}\r\n")
    check(f"a header of {size} bytes: {code(answer)}", code(answer) in (0, 431))
check("a path of 1 MB", code(get("/" + "x" * 1_000_000)) in (0, 404, 414, 431))
many = "".join(f"X-{i}: y\r\n" for i in range(3000))
check("3000 headers", code(get("/status", many)) in (0, 431))

post = f"POST /api/v1/order HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n"
stop = post + "Content-Type: text/plain\r\n"
for what, request, wanted in [
    ("a form of another site", stop + "Content-Length: 4\r\n\r\nstop", {403}),
    (
        "another origin",
        stop
        + "X-Starswitch: 1\r\nOrigin: http://evil.example\r\n"
        + "Content-Length: 4\r\n\r\nstop",
        {403},
    ),
    (
        "a body in pieces",
        stop + "X-Starswitch: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
        "4\r\nstop\r\n0\r\n\r\n",
        {411},
    ),
    (
        "two lengths",
        stop + "X-Starswitch: 1\r\nContent-Length: 4\r\nContent-Length: 5\r\n"
        "\r\nstop!",
        {0, 400},
    ),
    (
        "a body of 1 MB",
        stop + "X-Starswitch: 1\r\nContent-Length: 1000000\r\n\r\n" + "x" * 1_000_000,
        {0, 413},
    ),
    (
        "several parts",
        post + "X-Starswitch: 1\r\nContent-Type: multipart/form-data; boundary=a"
        "\r\nContent-Length: 4\r\n\r\nstop",
        {415},
    ),
]:
    answer = code(ask(request.encode()))
    check(f"{what}: {answer}", answer in wanted)
for what, body in [
    ("an order with a NUL byte", "unpin\0n1"),
    ("a NUL byte at its end", "unpin\0"),
    ("two orders", "unpin\nunpin"),
]:
    request = f"{stop}X-Starswitch: 1\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    check(f"{what} is refused", b'"code":64' in ask(request.encode()))
# libmicrohttpd 0.9.75 says some of these twice, and closes.
for length in ("x", "-1", "+4", "4x", "", "99999999999999999999999"):
    answer = ask(f"{stop}X-Starswitch: 1\r\nContent-Length: {length}\r\n\r\nstop".encode())
    check(f"a length of '{length}': {code(answer)}", code(answer) in (0, 400, 413))
for junk in (b"\0" * 5000, b"\x16\x03\x01\x02" * 99, b"GET\r\n\r\n", b"\r\n" * 9999):
    with connect() as s:
        s.sendall(junk)

crowd = []
for _ in range(1000):
    try:
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", PORT))
        crowd.append(s)
    except OSError:
        break
time.sleep(0.5)
check(f"{len(crowd)} connections: {descriptors()} descriptors", descriptors() < 100)
for s in crowd:
    s.close()
check("it answers once they are gone", answers_within(10))

resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
half = []
for _ in range(1000):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("127.0.0.1", PORT))
    half.append(s)


def say_half():
    """Requests that are never finished; how many of them are held."""
    held = 0
    for s in half:
        try:
            s.send(b"GET /healthz HTTP/1.1\r\nHost: ")
            held += 1
        except OSError:
            pass
    return held


begun = time.monotonic()
while time.monotonic() - begun < 3:
    say_half()
    time.sleep(0.1)
check("half requests are held", say_half() >= 32)
for path in ("/healthz", "/readyz", "/status"):
    check(f"{path} beside 1000 half requests", code(get(path, patience=5)) == 200)
check(f"{descriptors()} descriptors", descriptors() < 100)
for s in half:
    s.close()

slow = [connect() for _ in range(40)]
begun = time.monotonic()
while time.monotonic() - begun < 11:
    for s in slow:
        try:
            s.send(b"G" if begun else b"")
        except OSError:
            pass
    time.sleep(0.5)
check("those who say a letter at a time are cut off", answers_within(15))
for s in slow:
    s.close()

deaf = []
for _ in range(20):
    s = connect()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.sendall(f"GET /status HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode() * 50)
    deaf.append(s)
check("it answers beside those who do not listen", answers_within(5))
for s in deaf:
    s.close()
time.sleep(1)
check(f"it answers; {descriptors()} descriptors", answers_within(5))
check("no descriptor is left behind", descriptors() <= before + 4)
grown = resident() - memory
check(f"it has grown by {grown >> 10} KiB", grown < 16 << 20)
