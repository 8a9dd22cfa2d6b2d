"""LoRA: a GPT that has read English learns to write C, by small matrices alone.

    python lora.py --short                         alone
    python gpt.py --short --save base.pt           with a base that is kept:
    python lora.py --short --base base.pt

    starswitch hub --nodes 2                       on several PCs, or in three
    python lora.py --short --base base.pt --name a --seed 1     terminals of one
    python lora.py --short --base base.pt --name b --seed 2

The base is frozen, so only the matrices of LoRA travel, some 2 % of the model.
The base must be the same on all nodes, bit for bit: give all of them one file.
Without --base each makes its own, which is the same on one PC and may not be on
another. --peft takes Hugging Face's peft instead of the class below.
"""

from __future__ import annotations

from pathlib import Path

import starswitch
import torch
from gpt import DOCS, GPT, batch, cost, options, read, write
from torch import Tensor, nn

CODE = DOCS.parent / "include"
RANK = 8


class LoRA(nn.Module):
    """A frozen linear layer, and beside it one of a low rank that trains:
    (..., in) -> (..., out). At first it is what the frozen one is."""

    def __init__(self, frozen: nn.Linear) -> None:
        super().__init__()
        self.frozen = frozen.requires_grad_(False)
        self.down = nn.Linear(frozen.in_features, RANK, bias=False)
        self.up = nn.Linear(RANK, frozen.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.frozen(x) + 2 * self.up(self.down(x))
        return result


def add_lora(model: GPT) -> nn.Module:
    """Freezes a model, and puts LoRA into the attention of its blocks."""
    model.requires_grad_(False)
    for block in model.blocks:
        block.qkv = LoRA(block.qkv)
    return model


def add_peft(model: GPT) -> nn.Module:
    """The same by peft."""
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=["qkv"])
    adapted: nn.Module = get_peft_model(model, config)
    return adapted


def base(file: str | None, steps: int) -> GPT:
    """What gpt.py has saved, or so many steps on the same text."""
    torch.manual_seed(0)
    model = GPT()
    if file is not None:
        model.load_state_dict(torch.load(file, weights_only=True))
        return model
    print(f"no --base: making one, {steps} steps on {DOCS.name}/")
    text, random = read([DOCS], "*.md"), torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(1, 1 + steps):
        loss = cost(model, *batch(text, 16, random))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 1:
            print(f"base  step {step:5}  loss {loss.item():.3f}", flush=True)
    return model


def main() -> None:
    parser = options(__doc__, 1500)
    parser.add_argument("--base", help="a file that gpt.py --save has made")
    parser.add_argument("--peft", action="store_true", help="by peft, not by hand")
    args = parser.parse_args()
    text = read(args.text) if args.text else read([CODE], "*.h")
    steps = args.steps or (150 if args.short else 1500)
    if args.base and not Path(args.base).exists():
        parser.error(f"there is no {args.base}: python gpt.py --save {args.base}")
    torch.set_num_threads(1)  # several nodes on a PC fight for its cores else
    model = base(args.base, steps)

    torch.manual_seed(args.seed)
    random = torch.Generator().manual_seed(args.seed)
    model = add_peft(model) if args.peft else add_lora(model)
    learns = [one for one in model.parameters() if one.requires_grad]
    of = sum(one.numel() for one in model.parameters())
    print(f"{sum(one.numel() for one in learns):,} of {of:,} parameters train")
    optimizer = torch.optim.AdamW(learns, lr=5e-3)
    link = starswitch.attach(model, optimizer, name=args.name)  # <- line 1

    for step in range(1, 1 + steps):
        x, y = batch(text, args.batch, random)
        loss = cost(model, x, y)
        optimizer.zero_grad()
        loss.backward()
        link.report(loss=loss, samples=len(x))  # <- line 2
        optimizer.step()
        if step % 20 == 1:
            print(f"step {step:5}  loss {loss.item():.3f} nats a byte", flush=True)
        if link.over:  # the hub has ended the run
            break
    with link.center():  # what all nodes have learnt; alone: the model
        print(write(model, "struct star_"))
    print(f"{step} steps, {link.state().applied} results of a hub applied")


if __name__ == "__main__":
    main()
