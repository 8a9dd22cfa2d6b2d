"""What launch_local runs in its tests: a module, so that spawn can import it."""

from __future__ import annotations

import os
import sys
import time


def train(steps: int, fail: str = "") -> None:
    import numpy as np
    import starswitch

    w = np.full((2, 2), float(os.environ["STARSWITCH_NODE"]), np.float32)
    link = starswitch.attach({"w": w})
    link.wait_ready(30)
    name = link.state().name
    print("here is", name, flush=True)
    if name == fail:
        raise SystemExit(3)
    for _ in range(steps):
        link.step()
        time.sleep(0.005)
    print("mean", round(float(w.mean()), 1))
    print(name, "says goodbye", file=sys.stderr)
    link.detach()


if __name__ == "__main__":
    train(int(sys.argv[1]), *sys.argv[2:])
