"""The model, the data and the loss: the same for every peer.

A GPT of 834,304 parameters on the bytes of Debian's common licences. The last tenth
of each licence is held out; the rest is cut into one contiguous shard a node, so
the nodes' data differ as licences do.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

LICENSES = Path("/usr/share/common-licenses")
LAYERS, WIDTH, HEADS, CONTEXT, SYMBOLS = 4, 128, 4, 64, 256
BATCH = 8
LEARNING_RATE = 1e-3


class Block(nn.Module):
    """One layer: attention to what came before, then two linear maps."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.gather = nn.Linear(WIDTH, WIDTH)
        self.before_maps = nn.LayerNorm(WIDTH)
        self.widen = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, context, WIDTH) to the same shape."""
        batch, context, _ = x.shape
        shape = (batch, context, HEADS, WIDTH // HEADS)
        query, key, value = (
            part.view(shape).transpose(1, 2)
            for part in self.attention(self.before_attention(x)).chunk(3, dim=-1)
        )
        seen = functional.scaled_dot_product_attention(
            query, key, value, is_causal=True
        )
        x = x + self.gather(seen.transpose(1, 2).reshape(x.shape))
        x = x + self.narrow(functional.gelu(self.widen(self.before_maps(x))))
        return x


class Gpt(nn.Module):
    """Bytes in, logits of the next byte out; the head is the embedding, tied."""

    def __init__(self) -> None:
        super().__init__()
        self.symbols = nn.Embedding(SYMBOLS, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.last = nn.LayerNorm(WIDTH)
        nn.init.normal_(self.symbols.weight, std=0.02)
        nn.init.normal_(self.places.weight, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, context) of bytes to (batch, context, SYMBOLS)."""
        places = torch.arange(x.shape[1], device=x.device)
        hidden = self.blocks(self.symbols(x) + self.places(places))
        logits: Tensor = functional.linear(self.last(hidden), self.symbols.weight)
        return logits


def new_model(seed: int = 1) -> Gpt:
    """The model with its first parameters: equal for equal seeds."""
    torch.manual_seed(seed)
    return Gpt()


def new_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    """AdamW, as every peer's inner optimizer."""
    return torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)


def parts() -> tuple[Tensor, Tensor]:
    """What is trained on and what is held out: two vectors of bytes, as int64."""
    train, held_out = b"", b""
    for path in sorted(LICENSES.iterdir()):
        if path.is_symlink():
            continue
        text = path.read_bytes()
        cut = len(text) * 9 // 10
        train += text[:cut]
        held_out += text[cut:]
    return torch.tensor(list(train)), torch.tensor(list(held_out))


class Shard:
    """The batches of one node: the same iteration, the same batch, for any peer."""

    def __init__(self, rank: int, nodes: int) -> None:
        train, _ = parts()
        size = len(train) // nodes
        self.data = train[rank * size : (rank + 1) * size]
        self.rank = rank

    def batch(self, iteration: int) -> Tensor:
        """(BATCH, CONTEXT + 1) of bytes."""
        chance = torch.Generator().manual_seed(self.rank * 1_000_003 + iteration)
        last = len(self.data) - CONTEXT
        starts = torch.randint(last, (BATCH, 1), generator=chance)
        return self.data[starts + torch.arange(CONTEXT + 1)]


def loss_of(model: nn.Module, batch: Tensor) -> Tensor:
    """Mean cross entropy of each next byte, in nats."""
    logits = model(batch[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def held_out_loss(model: nn.Module) -> float:
    """Over every third window of the held-out part: 122 of 65 bytes."""
    _, held_out = parts()
    whole = len(held_out) // (CONTEXT + 1) * (CONTEXT + 1)
    windows = held_out[:whole].view(-1, CONTEXT + 1)[::3]
    with torch.no_grad():
        return float(loss_of(model, windows))
