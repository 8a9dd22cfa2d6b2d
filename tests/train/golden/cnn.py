#!/usr/bin/env python3
"""What PyTorch makes of a small cnn, for tests/train/cnn.c:

    python3 tests/train/golden/cnn.py >tests/train/golden/cnn.def

Needs torch 2.13; tests do not, they read what this printed. All of it is in
float64, as in gpt.py."""
import torch
import torch.nn.functional as F

from waves import first_values, print_gradient

CHANNELS, HEIGHT, WIDTH, LABELS = 2, 7, 9, [1, 3, 0]
SHAPES = [("conv1.weight", (3, CHANNELS, 3, 3)), ("conv1.bias", (3,)),
          ("conv2.weight", (5, 3, 3, 3)), ("conv2.bias", (5,)),
          ("layer1.weight", (6, 10)), ("layer1.bias", (6,)),
          ("layer2.weight", (4, 6)), ("layer2.bias", (4,))]


def pictures():
    at = torch.arange(len(LABELS) * CHANNELS * HEIGHT * WIDTH)
    bytes_ = (7 * at * at + 3 * at) % 256
    return (bytes_.to(torch.float64) / 255).reshape(-1, CHANNELS, HEIGHT, WIDTH)


def forward(v, x):
    for name in ("conv1", "conv2"):
        x = F.conv2d(x, v[name + ".weight"], v[name + ".bias"], padding=1)
        x = F.max_pool2d(F.relu(x), 2)
    x = F.relu(F.linear(x.flatten(1), v["layer1.weight"], v["layer1.bias"]))
    return F.linear(x, v["layer2.weight"], v["layer2.bias"])


v = {name: x.requires_grad_() for name, x in first_values(SHAPES).items()}
loss = F.cross_entropy(forward(v, pictures()), torch.tensor(LABELS))
loss.backward()
print("/* Printed by tests/train/golden/cnn.py: of each tensor its length and\n"
      " * its dot products with two waves. */")
print(f"LOSS({loss.item():.9g})")
for name, x in v.items():
    print_gradient(name, x)
