"""What gpt.py and cnn.py begin with, and how they know a tensor; the same as
tests/train/waves.h."""
import math

import torch


def wave(count, step, first):
    """Ever shorter, so that matrices have their full rank."""
    at = torch.arange(count, dtype=torch.float64) + first
    return torch.sin(step * at * at)


def first_values(shapes):
    """All parameters, given as (name, shape), are one wave."""
    values, at = {}, 1
    for name, shape in shapes:
        count = math.prod(shape)
        values[name] = 0.3 * wave(count, 1.7, at).reshape(shape)
        at += count
    return values


def probe(x):
    x = x.detach().flatten()
    return (x.norm().item(), (x * wave(x.numel(), 1, 1)).sum().item(),
            (x * wave(x.numel(), 0.37, 1)).sum().item())


def print_gradient(name, x):
    print('GRADIENT("%s",\n         %.9g, %.9g, %.9g)' % (name, *probe(x.grad)))
