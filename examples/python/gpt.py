"""A small GPT learns to write like the files that it is given, byte by byte.

    python gpt.py --short                      alone, from the pages in docs/
    python gpt.py --text book.txt more/        from your own files and folders

    starswitch hub --nodes 2                   on several PCs, or in three
    python gpt.py --short --name a --seed 1    terminals of one: a hub, and
    python gpt.py --short --name b --seed 2    a node in each of the others

A plain loop of PyTorch; the lines of starswitch are marked. Each node begins with
other parameters and reads other pieces, by --seed. lora.py goes on from --save.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import starswitch
import torch
from torch import Tensor, nn
from torch.nn import functional

DOCS = Path(__file__).resolve().parents[2] / "docs"
WIDTH, LAYERS, HEADS, CONTEXT = 96, 3, 4, 96  # some 400,000 parameters


class Block(nn.Module):
    """Attention to what was before, and a perceptron; (batch, time, WIDTH)."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        heads = self.qkv(self.norm1(x)).unflatten(2, (3, HEADS, -1))
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """What byte comes next: (batch, time) -> scores of (batch, time, 256)."""

    def __init__(self) -> None:
        super().__init__()
        self.byte = nn.Embedding(256, WIDTH)
        self.place = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 256, bias=False)
        self.apply(self._begin)
        self.head.weight = self.byte.weight  # tied: it travels once

    @staticmethod
    def _begin(module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.05)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, text: Tensor) -> Tensor:
        x = self.byte(text) + self.place.weight[: text.shape[1]]
        scores: Tensor = self.head(self.norm(self.blocks(x)))
        return scores


def read(names: list[str] | list[Path], pattern: str = "*") -> Tensor:
    """All bytes of these files, and of a folder's files of this pattern."""
    paths = [Path(name) for name in names]
    files = [f for p in paths for f in (sorted(p.glob(pattern)) if p.is_dir() else [p])]
    text = b"".join(file.read_bytes() for file in files if file.is_file())
    if len(text) < 10 * CONTEXT:
        raise SystemExit(f"{', '.join(map(str, paths))}: too little text; see --text")
    return torch.frombuffer(bytearray(text), dtype=torch.uint8).long()


def batch(text: Tensor, size: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pieces of the text, and the byte behind each of theirs: (size, CONTEXT)."""
    first = torch.randint(len(text) - CONTEXT, (size, 1), generator=random)
    pieces = text[first + torch.arange(CONTEXT + 1)]
    return pieces[:, :-1], pieces[:, 1:]


def cost(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Nats a byte."""
    return functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


@torch.no_grad()
def write(model: nn.Module, begin: str, length: int = 150) -> str:
    """Goes on with a text."""
    random = torch.Generator().manual_seed(0)
    text = torch.tensor([list(begin.encode())])
    for _ in range(length):
        chances = (model(text[:, -CONTEXT:])[:, -1] / 0.7).softmax(1)
        text = torch.cat([text, chances.multinomial(1, generator=random)], 1)
    return bytes(text[0].tolist()).decode(errors="replace")


def options(text: str, steps: int) -> argparse.ArgumentParser:
    """Those that lora.py has as well."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", nargs="+", help="files and folders to learn from")
    parser.add_argument("--steps", type=int, help=f"so many ({steps})")
    parser.add_argument("--short", action="store_true", help=f"{steps // 10} steps")
    parser.add_argument("--batch", type=int, default=16, help="pieces a step (16)")
    parser.add_argument("--seed", type=int, default=0, help="another for each node")
    parser.add_argument("--name", help="of this node; this PC's, unless said")
    return parser


def main() -> None:
    parser = options(__doc__, 1500)
    parser.add_argument("--save", help="a file for the parameters, at the end")
    args = parser.parse_args()
    text = read(args.text) if args.text else read([DOCS], "*.md")
    torch.set_num_threads(1)  # several nodes on a PC fight for its cores else
    torch.manual_seed(args.seed)
    random = torch.Generator().manual_seed(args.seed)
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    link = starswitch.attach(model, optimizer, name=args.name)  # <- line 1

    for step in range(1, 1 + (args.steps or (150 if args.short else 1500))):
        loss = cost(model, *batch(text, args.batch, random))
        optimizer.zero_grad()
        loss.backward()
        link.report(loss=loss, samples=args.batch)  # <- line 2
        optimizer.step()
        if step % 20 == 1:
            print(f"step {step:5}  loss {loss.item():.3f} nats a byte", flush=True)
        if link.over:  # the hub has ended the run
            break
    with link.center():  # what all nodes have learnt; alone: the model
        print(write(model, "The hub "))
        if args.save:
            torch.save(model.state_dict(), args.save)
    print(f"{step} steps, {link.state().applied} results of a hub applied")


if __name__ == "__main__":
    main()
