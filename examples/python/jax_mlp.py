"""A perceptron in JAX learns to tell three spirals apart.

    python jax_mlp.py --short                      alone: some seconds

    starswitch hub --nodes 2                       on several PCs, or in three
    python jax_mlp.py --name a --seed 1            terminals of one: a hub, and
    python jax_mlp.py --name b --seed 2            a node in each of the others

Two lines make it a node, and they are marked: JAX's arrays do not change, so the
parameters go into the link and come out of it.
"""

from __future__ import annotations

import argparse
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import starswitch.jax

SIZES = (2, 64, 64, 3)
Params = list[dict[str, jax.Array]]


def spirals(n: int, seed: int) -> tuple[Any, Any]:
    """Points, float32 of (n, 2), and which spiral they are of, (n)."""
    random = np.random.default_rng(seed)
    spiral = random.integers(0, 3, n)
    along = np.sqrt(random.random(n))
    angle = 10 * along + 2 * np.pi * spiral / 3 + random.normal(0, 0.25, n)
    points = along * np.stack([np.cos(angle), np.sin(angle)])
    return points.T.astype(np.float32), spiral


def first_params(seed: int) -> Params:
    keys = jax.random.split(jax.random.key(seed), len(SIZES))
    return [
        {"w": jax.random.normal(key, (a, b)) * (2 / a) ** 0.5, "b": jnp.zeros(b)}
        for key, a, b in zip(keys, SIZES, SIZES[1:], strict=False)
    ]


def scores(params: Params, x: jax.Array) -> jax.Array:
    """(n, 2) -> (n, 3)"""
    *hidden, last = params
    for layer in hidden:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def cost(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
    logs = jax.nn.log_softmax(scores(params, x))
    return -jnp.take_along_axis(logs, y[:, None], axis=1).mean()


@jax.jit
def update(params: Params, state: Any, x: Any, y: Any) -> tuple[Params, Any, Any]:
    """A step of Adam; state: the moments, and how many steps there were."""
    loss, gradient = jax.value_and_grad(cost)(params, x, y)
    m, v, t = state
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradient)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, gradient)
    rate = 3e-3 * jnp.sqrt(1 - 0.99**t) / (1 - 0.9**t)
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, m, v
    )
    return params, (m, v, t), loss


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, help="so many (5000)")
    parser.add_argument("--short", action="store_true", help="1000 steps")
    parser.add_argument("--seed", type=int, default=0, help="another for each node")
    parser.add_argument("--name", help="of this node; this PC's, unless said")
    args = parser.parse_args()
    x, y = spirals(20_000, 1)
    test_x, test_y = spirals(2_000, 2)
    random = np.random.default_rng(args.seed)
    params = first_params(args.seed)
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (zeros, zeros, 0)
    link = starswitch.jax.attach(params, name=args.name)  # <- line 1

    for step in range(1, 1 + (args.steps or (1000 if args.short else 5000))):
        places = random.integers(0, len(x), 64)
        params, state, loss = update(params, state, x[places], y[places])
        params = link.exchange(params, loss=loss, samples=64)  # <- line 2
        if step % 100 == 1:
            print(f"step {step:5}  loss {float(loss):.3f}", flush=True)
        if link.over:  # the hub has ended the run
            break
    with link.center():  # what all nodes have learnt; alone: the parameters
        right = (scores(link.params, test_x).argmax(1) == test_y).mean()
    print(f"accuracy {float(right):.1%}")
    print(f"{step} steps, {link.state().applied} results of a hub applied")
    link.detach()


if __name__ == "__main__":
    main()
