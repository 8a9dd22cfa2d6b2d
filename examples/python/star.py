"""A hub and four nodes on this PC: PyTorch, clothes, different first parameters.

    python star.py                   `make demo-python` is this, in the source tree
    python star.py --nodes 2 --goal 0.6 --data synthetic

launch_local starts the hub and one fashion.py a node, as programs of their own.
The hub draws its table here; what the nodes say is in the folder --out.
Other options than these are fashion.py's, such as --data.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

import starswitch

SCRIPT = Path(__file__).resolve().with_name("fashion.py")


def new_folder(out: Path) -> None:
    """An empty one; only what an earlier star has left is taken away for it."""
    if out.exists() and any(out.iterdir()) and not (out / "n1.log").exists():
        raise SystemExit(f"{out}/ holds other files: --out names another folder")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "n1.log").touch()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=4, help="so many (4)")
    parser.add_argument("--goal", default="0.35", help="median loss that ends it")
    parser.add_argument("--time", default="5min", help="it ends then in any case")
    parser.add_argument("--policy", default="auto", help="how the hub merges")
    parser.add_argument("--out", type=Path, default="demo-python", help="a folder")
    args, more = parser.parse_known_args()
    new_folder(args.out)
    print(f"A hub and {args.nodes} nodes, until their median loss is {args.goal}.")
    print("Ctrl-C stops all.", flush=True)
    done = starswitch.launch_local(
        args.nodes,
        SCRIPT,
        ["--epochs", 1000, *more],
        hub_options={
            "nodes": args.nodes,
            "policy": args.policy,
            "every": 20,
            "delay": 4,
            "tournament": 50,
            "goal": args.goal,
            "time": args.time,
            "directory": args.out / "run",
            "report": args.out / "report.html",
        },
        node_args=lambda i: ["--seed", i + 1],
        logs=args.out,
        table=True,
    )
    for name in done.codes:
        losses = re.findall(r"loss ([\d.]+)", done.text[name]) or ["?"]
        right = re.findall(r"accuracy ([\d.]+%)", done.text[name]) or ["?"]
        print(
            f"{name}: loss {losses[0]} -> {losses[-1]}, the centre's accuracy", end=""
        )
        print(f" {right[-1]}")
    print(f"Logs, report.html (with curves) and the run are in {args.out}/")
    done.check()
    return done.hub or 0


if __name__ == "__main__":
    raise SystemExit(main())
