"""What a browser shows of a run that changes: tests/e2e/page.sh makes it change.

page.py BROWSER PORT FOLDER [PICTURES]

A step is asked for by a file FOLDER/want_STEP, and done when there is FOLDER/did_STEP.
"""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from browser import Browser  # noqa: E402

FOLLOWERS = 24  # that a hub serves
HOSTILE = "<img src=x onerror=top.name=1>"
SHOWN = 2.0  # seconds


class Page:
    def __init__(self, browser: Browser, port: str, folder: str) -> None:
        self.browser, self.folder = browser, Path(folder)
        self.port = int(port)
        self.origin = f"http://127.0.0.1:{port}/"

    def after(self, step: str, shown: str) -> None:
        """Asks for the step; what it changes must be shown within two seconds."""
        (self.folder / f"want_{step}").touch()
        done = self.folder / f"did_{step}"
        self.browser.until(shown, 60)
        seen = time.time()
        end = time.monotonic() + 20
        while not done.exists():
            assert time.monotonic() < end, f"{step} is not done"
            time.sleep(0.01)
        late = max(0.0, seen - done.stat().st_mtime)
        limit = SHOWN + 5 * self.answer_time()
        assert late <= limit, f"{step} is shown after {late:.1f} s, not {limit:.1f}"
        print(f"    {step}: shown {late:.2f} s after the hub knows it")

    def answer_time(self) -> float:
        """Seconds that the browser takes for nothing: a machine that is busy with
        other tests is not the page's fault."""
        begin = time.monotonic()
        for _ in range(3):
            self.browser.value("new Promise(done => requestAnimationFrame(done))")
        return time.monotonic() - begin

    def look(self) -> None:
        """Star, curves and table of nodes n1, n2 and one of a hostile name."""
        browser = self.browser
        browser.open(self.origin)
        browser.until("document.querySelectorAll('#rows tr').length === 3", 20)
        browser.until("document.querySelectorAll('#star circle').length === 4", 5)
        browser.until("document.title !== 'starswitch'", 20)
        names = browser.value("[...document.querySelectorAll('#rows b')].map(b => "
                              "b.textContent)")
        assert sorted(names) == sorted(["n1", "n2", HOSTILE]), names
        assert browser.value("document.images.length") == 0
        assert browser.value("top.name") == ""
        for curve in ("loss", "rate", "lag"):
            browser.until(
                f"(() => {{ const c = document.getElementById('{curve}'), d = "
                "c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = "
                "new Set(); for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | "
                "d[i + 1] << 8 | d[i + 2]); return s.size > 3; })()",
                20,
            )
        size = browser.value(
            "fetch('/').then(r => r.text()).then(t => new Blob([t]).size)"
        )
        assert size <= 60 * 1024, size
        print(f"    star, curves and table are there; the page is {size} bytes")

    def crowded(self) -> None:
        """Where as many follow as the hub serves, it is no hub that does not answer."""
        browser = self.browser
        others = []
        for _ in range(FOLLOWERS):
            other = socket.create_connection(("127.0.0.1", self.port), 10)
            other.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert other.recv(12).endswith(b"200")
            others.append(other)
        browser.open(self.origin)
        browser.until("document.querySelectorAll('#rows tr').length === 3", 20)
        words = browser.value("document.getElementById('live').textContent")
        assert "as many follow as this hub serves" in words, words
        title = browser.value("document.title")
        assert "no hub" not in title, title
        elapsed = browser.value("now.elapsed")
        browser.until(f"now.elapsed > {elapsed}", 10)
        for other in others:
            other.close()
        browser.until("document.getElementById('live').textContent === 'live'", 20)
        # What the hub has refused is told on the console.
        browser.complaints.clear()
        print(f"    beside {FOLLOWERS} others it asks, and follows once they are gone")

    def focused(self) -> str:
        return self.browser.value("document.activeElement.id")

    def tab_to(self, name: str) -> None:
        for _ in range(40):
            self.browser.key("Tab")
            if self.focused() == name:
                return
        raise AssertionError(f"the keyboard does not reach {name}")

    def in_reach(self) -> None:
        """Of each node, however narrow the window is."""
        for width in (360, 500, 1280):
            self.browser.say(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=1000,
                deviceScaleFactor=1,
                mobile=False,
            )
            boxes = self.browser.value(
                "[...document.querySelectorAll('#rows button')].map(b => "
                "b.getBoundingClientRect()).map(b => [b.left, b.right])"
            )
            assert boxes and all(0 <= left and right <= width for left, right in boxes), (
                width,
                boxes,
            )
        self.browser.say("Emulation.clearDeviceMetricsOverride")
        print("    Drain and Pin are in reach at 360, 500 and 1280 pixels")

    def by_keyboard(self) -> None:
        browser = self.browser
        self.tab_to("do-checkpoint")
        browser.key("Enter")
        browser.until("document.getElementById('answer').textContent.length > 0", 10)
        self.tab_to("do-stop")
        browser.key("Enter")
        browser.until("document.getElementById('ask').open", 5)
        browser.key("Escape")
        browser.until("!document.getElementById('ask').open", 5)
        for name in ("loss", "rate", "lag", "events"):
            self.tab_to(name)
        print("    by the keyboard alone: saves, is asked before it stops, reads on")

    def pictures(self, folder: str) -> None:
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            time.sleep(0.3)
            self.browser.picture(f"{folder}/page-{scheme}.png")


def row(name: str, what: str) -> str:
    return (
        f"[...document.querySelectorAll('#rows tr')].some(r => r.textContent.includes"
        f"('{name}') && {what})"
    )


def main(program: str, port: str, folder: str, pictures: str = "") -> None:
    with Browser(program) as browser:
        page = Page(browser, port, folder)
        page.crowded()
        page.look()
        page.in_reach()
        page.after("join", row("n3", "true"))
        page.by_keyboard()
        page.after("kill", row("n2", "r.classList.contains('gone')"))
        live = "document.getElementById('live')"
        page.after("end", f"{live}.className !== 'on'")
        page.after("begin", f"{live}.className === 'on'")
        browser.until(row("n1", "!r.classList.contains('gone')"), 20)
        if pictures:
            page.pictures(pictures)
        page.after("over", f"{live}.textContent.includes('the run has ended')")
        browser.until("source.readyState !== 1", 10)
        asked = len(browser.requests), len(browser.complaints)
        browser.value("new Promise(done => setTimeout(done, 3000))")
        then = len(browser.requests), len(browser.complaints)
        assert then == asked, browser.complaints[asked[1] :]
        enabled = browser.value(
            "[...document.querySelectorAll('.actions button, #rows button')]"
            ".filter(b => !b.disabled).map(b => b.textContent)"
        )
        assert not enabled, enabled
        words = browser.value(f"{live}.textContent")
        assert "the run has ended" in words, words
        assert browser.value("document.querySelectorAll('#rows tr').length") == 4
        foreign = [u for u in browser.requests if not u.startswith(page.origin)]
        assert not [u for u in foreign if not u.startswith("about:")], foreign
        wrong = [one for one in browser.complaints if "ERR_" not in one]
        assert not wrong, wrong
        print(f"    {len(browser.requests)} requests, all to the hub; no complaint")


if __name__ == "__main__":
    main(*sys.argv[1:])
