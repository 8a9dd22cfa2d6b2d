"""What an attack costs a hub, and what it costs the hub's nodes."""
import json
import os
import threading
import time


class Meter:
    """Looks at a process while the block runs: `rss` and `descriptors` are
    the most it had, `processor` the cores it used; `rate` results a second that
    a node applied, by the JSON lines that it writes to `lines`."""

    def __init__(self, pid, lines=""):
        self.pid, self.lines = pid, lines
        self.rss = self.descriptors = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def read(self, name):
        with open(f"/proc/{self.pid}/{name}", encoding="ascii") as file:
            return file.read()

    def alive(self):
        try:
            return self.read("stat").rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def ticks(self):
        fields = self.read("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def look(self):
        for line in self.read("status").splitlines():
            if line.startswith("VmHWM:"):
                self.rss = max(self.rss, int(line.split()[1]) / 1024)
        self.descriptors = max(self.descriptors,
                               len(os.listdir(f"/proc/{self.pid}/fd")))

    def watch(self):
        try:
            while not self.over.wait(0.05):
                self.look()
        except OSError:
            pass

    def stand(self):
        """Results, and the second that they were told of."""
        if not self.lines:
            return 0, 0
        with open(self.lines, "rb") as file:
            file.seek(max(0, os.path.getsize(self.lines) - (1 << 16)))
            said = [line for line in file.read().split(b"\n")
                    if line.endswith(b"}") and b'"applied"' in line]
        last = json.loads(said[-1]) if said else {"applied": 0, "seconds": 0}
        return last["applied"], last["seconds"]

    def __enter__(self):
        # 5 sets the peak of the resident set back.
        with open(f"/proc/{self.pid}/clear_refs", "w",
                  encoding="ascii") as file:
            file.write("5")
        self.began, self.used = time.monotonic(), self.ticks()
        self.stood = self.stand()
        self.thread.start()
        return self

    def __exit__(self, *failure):
        # Of less than a second processor time says nothing.
        time.sleep(max(0, self.began + 1 - time.monotonic()))
        self.over.set()
        self.thread.join()
        self.seconds = time.monotonic() - self.began
        if not self.alive():
            self.processor = self.rate = 0
            return
        self.look()
        self.processor = (self.ticks() - self.used) / self.seconds
        results, at = self.stand()
        span = at - self.stood[1]
        self.rate = (results - self.stood[0]) / span if span > 0 else 0
