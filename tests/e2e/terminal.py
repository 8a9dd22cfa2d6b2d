"""terminal.py TEXT COMMAND...: runs a command in a terminal of its own, types
Ctrl-C once it has printed TEXT, and ends with its exit code."""
import os
import pty
import signal
import sys

text, command = sys.argv[1].encode(), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    # Whoever is started in the background of a shell does not hear Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp(command[0], command)
said, typed = b"", False
while True:
    try:
        more = os.read(terminal, 65536)
    except OSError:
        break
    if not more:
        break
    sys.stdout.buffer.write(more)
    sys.stdout.flush()
    said = (said + more)[-100000:]
    if not typed and text in said:
        os.write(terminal, b"\x03")
        typed = True
status = os.waitpid(pid, 0)[1]
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
