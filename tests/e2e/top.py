"""top.py COMMAND...: watches a hub in a terminal of its own, as a user would:
resizes it, waits while the hub is away, and leaves with q. Lines on standard
input say what to do, and each is answered by a line once it is so:

    shows WORDS      the screen holds these words
    says WORDS       these words came, and nothing that moves the cursor
    size COLS ROWS   the terminal is that large, and no line is longer
    colour yes|no    there is colour in what came last
    key C            C is typed
    ends             it has ended with 0, and the terminal is as it was
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

LIMIT = 30
command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(command[0], command)
said = b""
before = termios.tcgetattr(terminal)[3]


def read(seconds):
    global said
    if not select.select([terminal], [], [], seconds)[0]:
        return True
    try:
        more = os.read(terminal, 65536)
    except OSError:
        return False
    said = (said + more)[-200000:]
    return bool(more)


def last_frame():
    """What was drawn last as lines, without what moves the cursor."""
    frames = said.split(b"\x1b[H")
    text = re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", frames[-2] if
                  len(frames) > 2 else frames[-1])
    return text.decode().replace("\r", "").split("\n")


def until(what, is_so):
    end = time.monotonic() + LIMIT
    while not is_so():
        if time.monotonic() > end:
            sys.exit(f"not so: {what}\n" + "\n".join(last_frame()))
        read(0.1)


def do(line):
    global said
    verb, *words = line.split()
    if verb == "shows":
        wanted = " ".join(words)
        until(line, lambda: any(wanted in row for row in last_frame()))
    elif verb == "says":
        wanted = " ".join(words).encode()
        until(line, lambda: wanted in said)
        if b"\x1b" in said:
            sys.exit("there are escapes")
    elif verb == "size":
        columns, rows = map(int, words)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        said = b""
        until("frames", lambda: said.count(b"\x1b[H") > 2)
        longest = max(map(len, last_frame()))
        if longest > columns or len(last_frame()) > rows:
            sys.exit(f"{longest} columns in a terminal of {columns}")
    elif verb == "colour":
        said = b""
        until("frames", lambda: said.count(b"\x1b[H") > 2)
        if (b"\x1b[1m" in said) != (words[0] == "yes"):
            sys.exit(f"colour is not {words[0]}")
    elif verb == "key":
        os.write(terminal, words[0].encode())
    elif verb == "ends":
        # While the other end is open the terminal can still be asked.
        mode = None
        try:
            while read(0.2):
                mode = termios.tcgetattr(terminal)[3]
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG |
                             os.WNOWAIT):
                    break
        except (OSError, termios.error):
            pass
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code or (b"\x1b" in said and not said.count(b"\x1b[?1049l")):
            sys.exit(f"ended with {code}")
        flags = termios.ECHO | termios.ICANON
        if mode is not None and mode & flags != before & flags:
            sys.exit("the terminal is not as it was")
    print("done", line, flush=True)


for order in sys.stdin:
    do(order.strip())
    if order.strip() == "ends":
        break  # others may hold the other end of standard input open
