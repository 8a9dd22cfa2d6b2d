"""Times between frames of the page in a browser: bench/page_frames.sh runs it.

page_frames.py BROWSER URL [PICTURES]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "e2e"))
from browser import Browser

FRAMES = 240
# Each frame does one act; the times between frames come back, in milliseconds.
MEASURE = """new Promise(done => {
  const times = [], act = %s;
  let last = 0, i = 0;
  const turn = now => {
    if (last) times.push(now - last);
    last = now;
    if (times.length >= %d) return done(times);
    act(i++);
    requestAnimationFrame(turn);
  };
  requestAnimationFrame(turn);
})"""
ACTS = {
    "nothing": "() => {}",
    "panning the loss": "i => charts[0].pan(i % 120 < 60 ? .004 : -.004)",
    "panning the others": "i => charts[1].pan(i % 120 < 60 ? .004 : -.004)",
    "dragging the slider": "i => { const at = document.getElementById('at'); "
    "at.value = (i * 7) % (+at.max + 1); at.dispatchEvent(new Event('input')); }",
}


def main(program: str, url: str, pictures: str = "") -> None:
    with Browser(program) as browser:
        browser.open(url)
        browser.until("recording !== null", 60)
        browser.value("charts[0].zoom(.5)")
        browser.value("charts[1].zoom(.5)")
        for name, act in ACTS.items():
            times = sorted(browser.value(MEASURE % (act, FRAMES)))
            p50, p95 = (times[int(len(times) * part)] for part in (0.5, 0.95))
            figures = {"p50_ms": round(p50, 1), "p95_ms": round(p95, 1)}
            print(json.dumps({"bench": "page_frames", "act": name} | figures))
        if pictures:
            browser.value("for (const c of charts) c.view.all = true")
            browser.value(
                "showAt(Math.floor(+$('at').max / 2)), $('at').value = +$('at').max / 2"
            )
            for scheme in ("light", "dark"):
                browser.scheme(scheme)
                browser.value("new Promise(done => setTimeout(done, 300))")
                browser.picture(f"{pictures}/recording-{scheme}.png")
        assert not browser.complaints, browser.complaints


if __name__ == "__main__":
    main(*sys.argv[1:])
