#!/usr/bin/env python3
"""What PyTorch makes of a small gpt, for tests/train/transformer.c and gpt.c:

    python3 tests/train/golden/gpt.py >tests/train/golden/gpt.def

Needs torch 2.13; tests do not, they read what this printed. All of it is in
float64. Parameters, gradients and bytes are formulas, so that nothing has to
be kept; a tensor is known by its length and by its dot product with waves."""
import math

import torch
import torch.nn.functional as F

from waves import first_values, print_gradient, probe, wave

LAYERS, WIDTH, HEADS, CONTEXT, SEQUENCES = 2, 24, 3, 20, 2
RATE, DECAY, EPSILON, CLIP, WARMUP, STEPS = 0.01, 0.1, 1e-3, 3, 2, 3
PARTS = [("ln_1", 1, 0), ("attn.c_attn", 3, 1), ("attn.c_proj", 1, 1),
         ("ln_2", 1, 0), ("mlp.c_fc", 4, 1), ("mlp.c_proj", 1, 4)]


def shapes():
    yield "wte.weight", (256, WIDTH)
    yield "wpe.weight", (CONTEXT, WIDTH)
    layers = [(f"h.{layer}.{name}", rows, columns) for layer in range(LAYERS)
              for name, rows, columns in PARTS]
    for name, rows, columns in layers + [("ln_f", 1, 0)]:
        weight = (rows * WIDTH, columns * WIDTH)
        yield name + ".weight", weight if columns else weight[:1]
        yield name + ".bias", weight[:1]


def forward(v, x):
    length = x.shape[1]
    mask = torch.full((length, length), -math.inf).triu(1)

    def norm(x, name):
        return F.layer_norm(x, (WIDTH,), v[name + ".weight"],
                            v[name + ".bias"])

    def linear(x, name):
        return F.linear(x, v[name + ".weight"], v[name + ".bias"])

    def heads(x):
        return x.reshape(*x.shape[:2], HEADS, -1).transpose(1, 2)

    x = v["wte.weight"][x] + v["wpe.weight"][:length]
    for h in (f"h.{layer}." for layer in range(LAYERS)):
        qkv = linear(norm(x, h + "ln_1"), h + "attn.c_attn")
        q, k, value = map(heads, qkv.split(WIDTH, -1))
        p = (q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS) + mask)
        mixed = (p.softmax(-1) @ value).transpose(1, 2).reshape(x.shape)
        x = x + linear(mixed, h + "attn.c_proj")
        bent = F.gelu(linear(norm(x, h + "ln_2"), h + "mlp.c_fc"),
                      approximate="tanh")
        x = x + linear(bent, h + "mlp.c_proj")
    return norm(x, "ln_f") @ v["wte.weight"].T


def text():
    at = torch.arange(SEQUENCES * (CONTEXT + 1))
    return ((7 * at * at + 3 * at) % 256).reshape(SEQUENCES, -1)


def gradients():
    v = {name: x.requires_grad_() for name, x in first_values(shapes()).items()}
    bytes_ = text()
    logits = forward(v, bytes_[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 256), bytes_[:, 1:].flatten())
    loss.backward()
    print(f"LOSS({loss.item():.9g})")
    for name, x in v.items():
        print_gradient(name, x)


def orthogonalize(x):
    """As torch.optim.Muon does, but not in bfloat16."""
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = x / x.norm()
    for _ in range(5):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if tall else x


class Muon:
    def __init__(self, matrices):
        self.matrices = matrices
        self.momenta = [torch.zeros_like(x) for x in matrices]

    @torch.no_grad()
    def step(self, rate):
        for x, momentum in zip(self.matrices, self.momenta):
            momentum.mul_(0.95).add_(x.grad)
            by = orthogonalize(x.grad + 0.95 * momentum)
            x.mul_(1 - rate * DECAY)
            x.sub_(by, alpha=rate * 0.2 * math.sqrt(max(x.shape)))


def moved(optimizer):
    v = {name: x.requires_grad_() for name, x in first_values(shapes()).items()}
    before = first_values(shapes())
    hidden = [x for name, x in v.items()
              if x.dim() == 2 and name.startswith("h.")]
    others = [x for x in v.values() if all(x is not h for h in hidden)]
    groups = [{"params": others, "weight_decay": 0}]
    muon = Muon(hidden)
    theirs = [x.detach().clone().requires_grad_() for x in hidden]
    reference = torch.optim.Muon(theirs, lr=RATE, weight_decay=DECAY,
                                 adjust_lr_fn="match_rms_adamw")
    if optimizer == "adamw":
        groups.append({"params": hidden, "weight_decay": DECAY})
    adamw = torch.optim.AdamW(groups, lr=RATE, eps=EPSILON)
    for step in range(1, STEPS + 1):
        at = 1
        for x in v.values():
            x.grad = wave(x.numel(), 0.9 + 0.2 * step, at).reshape(x.shape)
            at += x.numel()
        torch.nn.utils.clip_grad_norm_(v.values(), CLIP)
        rate = RATE * min(1, step / WARMUP)
        for group in adamw.param_groups + reference.param_groups:
            group["lr"] = rate
        adamw.step()
        if optimizer == "muon":
            for mine, other in zip(hidden, theirs):
                other.grad = mine.grad.clone()
            muon.step(rate)
            reference.step()
    if optimizer == "muon":  # theirs is in bfloat16
        for mine, other, was in zip(hidden, theirs,
                                    (before[n] for n, x in v.items()
                                     if any(x is h for h in hidden))):
            assert (mine - other).norm() < 0.02 * (mine - was).norm()
    for name, x in v.items():
        print('MOVED_BY_%s("%s",\n      %.9g, %.9g, %.9g)'
              % (optimizer.upper(), name, *probe(x - before[name])))


print("/* Printed by tests/train/golden/gpt.py: of each tensor its length and\n"
      " * its dot products with two waves. */")
gradients()
moved("adamw")
moved("muon")
