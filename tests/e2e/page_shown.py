"""What a browser shows of statuses that are made for it: tests/e2e/page_shown.sh.

page_shown.py BROWSER HOST:PORT TOKEN [PICTURES]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from browser import Browser  # noqa: E402

LONG = "WORKSTATIONOFTHELABORATORYWEST000000017"  # 39 bytes
OTHERS = ["東京の計算機その十七番目です", "узел-лаборатории-17"]
# Whatever reaches beyond the window, but for what scrolls inside of a box.
WIDE = """[...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && !e.closest('.scroll, #events')
    && !e.matches('.skip') && !e.closest('svg');
}).map(e => e.tagName + '#' + e.id + '.' + e.className + ' ' + e.textContent)"""
# Texts of the star that leave it, or lie over one another.
STAR = """(() => {
  const star = document.getElementById('star').getBoundingClientRect();
  const all = [...document.querySelectorAll('#star text')].filter(e => e.textContent);
  const boxes = all.map(e => e.getBoundingClientRect()), wrong = [];
  boxes.forEach((a, i) => {
    if (a.left < star.left - 1 || a.right > star.right + 1 || a.top < star.top - 1
      || a.bottom > star.bottom + 1) wrong.push(all[i].textContent + ' leaves');
    boxes.forEach((b, j) => {
      if (i < j && all[i].parentNode !== all[j].parentNode && a.left < b.right - 2
        && b.left < a.right - 2 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
        wrong.push(all[i].textContent + ' over ' + all[j].textContent);
    });
  });
  return wrong;
})()"""


class Shown:
    """The last status of the course, changed."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.last: dict[str, Any] = json.loads(
            browser.value("JSON.stringify(recording.statuses.at(-1))")
        )

    def show(self, node: dict[str, Any] | None = None, **changes: Any) -> None:
        status = json.loads(json.dumps(self.last)) | changes
        if node:
            status["nodes"][0] |= node
        self.browser.value(f"now = {json.dumps(status)}, showAll(now)")

    def text(self, name: str) -> str:
        return self.browser.value(f"document.getElementById('{name}').textContent")


def hints(page: Shown) -> None:
    busy = {"link_busy": 4.0, "rate": 10.0, "missed": 0, "up_rate": 10.0, "every": 20}
    page.show(busy, every=100)
    assert "4.0 s, which is 40 iterations: k ≥ 54" in page.text("hints"), page.text(
        "hints"
    )
    # Late results, and a link that carries little as there is little to carry.
    idle = busy | {"link_busy": 0.1, "missed": 900}
    page.show(idle, every=20)
    assert page.text("hints") == "", page.text("hints")
    page.show(idle | {"link_busy": None}, every=20)
    assert page.text("hints") == "", page.text("hints")
    print("    k: a hint where a link is busy for longer than k, none where not known")


def lives(page: Shown) -> None:
    """Bytes and iterations that belong together: of the run, of the hub's life."""
    page.show(
        {"iterations": 9, "steps": 900, "up_bytes": 9e5, "down_bytes": 9e5},
        steps=4000,
        up_bytes=3e6,
        down_bytes=1e6,
        first_loss=2.0,
        loss=1.0,
    )
    facts = page.text("facts")
    assert "4000 in all" in facts, facts
    assert "4.00 MB1.00 kB per step, 80.0 kB per 1 % of loss" in facts, facts
    assert "2.00 kB" in page.text("rows"), page.text("rows")
    page.show(saves_failed=2)
    assert "cannot be saved: 2 times in a row" in page.text("hints")
    print("    lives: bytes per step where a node, or the hub, has begun again")


def time_left(page: Shown) -> None:
    left = {"seconds": 90, "spread": 30}
    page.show(eta=left | {"by": "iterations"}, goal=None, goal_of=None, ended=False)
    facts = page.text("facts")
    assert "Time to the goal" not in facts and "Time left1 min 30 s" in facts, facts
    assert "± 30 s, by iterations" in facts, facts
    page.show(eta=left | {"by": "goal"}, goal=0.1, goal_of="loss", ended=False)
    assert "Time to the goal1 min 30 s± 30 s" in page.text("facts"), page.text("facts")
    page.show(eta=None, goal=0.1, goal_of="loss")
    assert "Time " not in page.text("facts"), page.text("facts")
    print("    time: to the goal where that is what ends the run, with its spread")


def at_night(page: Shown) -> None:
    """What somebody who looks at 3 a.m. must not miss or misread."""
    page.show({"gone": True, "leaving": False}, ended=False)
    first = page.last["nodes"][0]["name"]
    assert f"Gone, and not by an order: {first}." in page.text("hints")
    page.show({"gone": True, "leaving": True}, ended=False)
    assert "Gone" not in page.text("hints"), page.text("hints")
    # A save of yesterday at this time of day is a day old.
    page.show(time="2026-11-26T03:00:00Z", saved=1795662000 - 86400)
    assert "saved 24 h 0 min ago" in page.text("facts"), page.text("facts")
    browser = page.browser
    browser.value(
        "['info', 'warning'].forEach((level, i) => addEvent('t' + i, {level, event: "
        "'e_' + level, subject: 'n1', text: 'x', wall: 1795662000 - 86400 * i, "
        "elapsed: 9}))"
    )
    shown = "[...document.querySelectorAll('#events li')].slice(0, 2).map(e => "
    times = browser.value(shown + "e.querySelector('time').textContent)")
    assert len(times[0]) == len("11-26 03:00:00") and times[0] != times[1], times
    assert times[0][6:] == times[1][6:], times
    tall = browser.value(shown + "e.querySelector('time').offsetHeight)")
    assert max(tall) < 30, f"a time is on two lines: {tall}"
    browser.value("document.getElementById('only').click()")
    assert browser.value(shown + "e.offsetHeight > 0)") == [True, False]
    browser.value("document.getElementById('only').click(), live('off', 'no hub')")
    assert browser.value("document.title").startswith("no hub · ")
    browser.value("live('on', 'a recording')")
    print("    at night: what is gone, how old a save is, dates, warnings alone")


def narrow(page: Shown, folder: str) -> None:
    browser = page.browser
    for width in (360, 1280):
        browser.say(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=740,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        nodes = page.last["nodes"]
        for node, name in zip(nodes, [LONG, *OTHERS], strict=True):
            node["name"] = name
        nodes[1]["gone"] = True
        page.show({"link_busy": 4.0, "rate": 10.0}, title="hub on a host of a long name")
        browser.value("new Promise(done => setTimeout(done, 200))")
        assert browser.value("innerWidth") == width, browser.value("innerWidth")
        assert (
            browser.value("document.documentElement.scrollWidth") <= width
        ), f"{width}: scrolls sideways: " + str(browser.value(WIDE))
        assert not browser.value(WIDE), f"{width}: {browser.value(WIDE)}"
        assert not browser.value(STAR), f"{width}: {browser.value(STAR)}"
        for scheme in ("light", "dark") if folder else ():
            browser.scheme(scheme)
            browser.value("new Promise(done => setTimeout(done, 300))")
            page.show({"link_busy": 4.0, "rate": 10.0})
            browser.picture(f"{folder}/{width}-{scheme}.png")
    print("    nothing overlaps or scrolls sideways at 360 and 1280 pixels")


def let_in(browser: Browser, at: str, token: str) -> None:
    """By the keyboard alone, and it is a token that is missing, no hub."""
    browser.open(f"http://{at}/")
    browser.until("document.getElementById('live').className === 'ask'", 30)
    title = browser.value("document.title")
    assert title == "needs a token · starswitch", title
    assert browser.value("document.activeElement.id") == "token"
    browser.say("Input.insertText", text=token)
    browser.key("Enter")
    browser.until("document.querySelectorAll('#rows tr').length === 3", 30)
    assert all("401" in one for one in browser.complaints), browser.complaints
    browser.complaints.clear()
    print("    a token: it is asked for in words and in the title, where the cursor is")


def main(program: str, at: str, token: str, pictures: str = "") -> None:
    with Browser(program) as browser:
        let_in(browser, at, token)
        page = Shown(browser)
        hints(page)
        lives(page)
        time_left(page)
        at_night(page)
        narrow(page, pictures)
        assert not browser.complaints, browser.complaints


if __name__ == "__main__":
    main(*sys.argv[1:])
