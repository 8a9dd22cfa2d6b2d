"""What a browser shows of a run that is over: tests/e2e/view.sh serves it.

view.py BROWSER HOST:PORT NODES NAME
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from browser import Browser  # noqa: E402

VERSION = "now.version"
# How often a curve's canvas is drawn anew.
COUNT = """var drawn = 0;
for (const act of ["clearRect", "drawImage"]) {
  const was = CanvasRenderingContext2D.prototype[act];
  CanvasRenderingContext2D.prototype[act] = function (...given) {
    drawn++;
    return was.apply(this, given);
  };
}"""


def main(program: str, at: str, nodes: str, name: str) -> None:
    origin = f"http://{at}/"
    with Browser(program) as browser:
        browser.open(origin)
        browser.until(f"document.querySelectorAll('#rows tr').length === {nodes}", 30)
        names = browser.value(
            "[...document.querySelectorAll('#rows b')].map(b => b.textContent)"
        )
        assert name in names, names
        assert browser.value("document.images.length") == 0
        assert browser.value("top.name") == ""
        assert (
            browser.value(
                "getComputedStyle(document.querySelector('.actions')).display"
            )
            == "none"
        )
        last = browser.value(VERSION)
        steps = browser.value("+document.getElementById('at').max")
        assert last > 1 and steps >= 1, (last, steps)
        assert browser.value("course.seconds.length") == steps + 1
        # The rates of the last interval, however close behind another one it ends.
        moments = browser.value("course.seconds")
        assert moments == sorted(moments), moments
        assert browser.value("[...rates.values()].some(r => r.up > 0)")
        losses = browser.value("course.centre.loss")
        assert any(isinstance(one, float) for one in losses), losses
        # By the keyboard: to the slider, and back in time.
        for _ in range(20):
            browser.key("Tab")
            if browser.value("document.activeElement.id") == "at":
                break
        browser.value(COUNT)
        browser.key("ArrowLeft")
        browser.until(f"now === recording.statuses[{steps - 1}]", 5)
        browser.value(
            "(at => { at.value = 0; at.dispatchEvent(new Event('input')); })"
            "(document.getElementById('at'))"
        )
        browser.until(f"{VERSION} < {last}", 5)
        browser.value("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        drawn = browser.value("drawn")
        assert drawn == 0, f"{drawn} times curves are drawn that have not changed"
        shown = browser.value("document.getElementById('at-time').textContent")
        assert " of " in shown, shown
        status = json.loads(browser.value("fetch('/status').then(r => r.text())"))
        assert status["version"] == last, status["version"]
        asked = [u for u in browser.requests if not u.startswith((origin, "about:"))]
        assert not [u for u in asked if not u.startswith("data:")], asked
        assert not browser.complaints, browser.complaints
        print(f"    {steps + 1} moments, versions to {last}, slid back to the first")


if __name__ == "__main__":
    main(*sys.argv[1:])
