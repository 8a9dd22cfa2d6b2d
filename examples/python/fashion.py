"""A CNN with BatchNorm learns to tell clothes apart (Fashion-MNIST).

    python fashion.py --short                      alone: within a minute

    starswitch hub --nodes 2                       on several PCs, or in three
    python fashion.py --short --name a --seed 1    terminals of one: a hub, and
    python fashion.py --short --name b --seed 2    a node in each of the others

It is a plain script of PyTorch, and what starswitch adds to it is marked: two
lines make it a node; a third lets the nodes share the pictures out among
themselves. On another PC than the hub's, STARSWITCH_HUB says where the hub is.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import starswitch
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

DEBIAN = Path("/usr/share/datasets/fashion-mnist")  # dataset-fashion-mnist
FILES = {"train": "train-{}-ubyte", "test": "t10k-{}-ubyte"}


def read_idx(file: Path, header: int) -> Tensor:
    """The bytes of an IDX file behind its header, which may be in a .gz."""
    if not file.exists():
        file = file.with_name(file.name + ".gz")
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
        return torch.frombuffer(bytearray(stream.read()), dtype=torch.uint8)[header:]


def read(folder: Path, part: str) -> TensorDataset:
    """Pictures, float32 of (n, 1, 28, 28) from 0 to 1, and their classes, (n)."""
    pictures = read_idx(folder / FILES[part].format("images-idx3"), 16)
    classes = read_idx(folder / FILES[part].format("labels-idx1"), 8)
    return TensorDataset(pictures.view(-1, 1, 28, 28) / 255, classes.long())


def make_up(n: int, seed: int) -> TensorDataset:
    """Look-alikes: ten blurred shapes, moved, dimmed and covered with noise."""
    random = torch.Generator().manual_seed(7)  # the shapes are the same for all
    coarse = torch.randn(10, 1, 5, 5, generator=random)
    shapes = functional.interpolate(coarse, (28, 28), mode="bicubic").clamp(0, 1)
    random.manual_seed(seed)
    classes = torch.randint(0, 10, (n,), generator=random)
    moves = torch.randint(-4, 5, (n, 2), generator=random).tolist()
    pictures = torch.stack(
        [shapes[c].roll(m, (1, 2)) for c, m in zip(classes, moves, strict=True)]
    )
    light = 0.3 + 0.7 * torch.rand(n, 1, 1, 1, generator=random)
    noise = 0.5 * torch.randn(pictures.shape, generator=random)
    return TensorDataset((pictures * light + noise).clamp(0, 1), classes)


def load(data: str | None, most: int) -> tuple[TensorDataset, TensorDataset]:
    """So many pictures to learn from at most, and a fifth of that to test by."""
    folder = Path(data or DEBIAN)
    if data != "synthetic" and folder.is_dir():
        train, test = read(folder, "train"), read(folder, "test")
        return TensorDataset(*train[:most]), TensorDataset(*test[: most // 5])
    if data not in ("synthetic", None):
        raise SystemExit(
            f"fashion.py: {folder} is no folder. It should hold Fashion-MNIST's four "
            "files, *-ubyte or *-ubyte.gz; --data synthetic needs none."
        )
    if data is None:
        print(f"There is no {folder} (Debian's dataset-fashion-mnist), and no --data:")
        print("training on made-up pictures.")
    most = min(most, 20_000)
    return make_up(most, 1), make_up(most // 5, 2)


def cnn() -> nn.Module:
    """Some 20,000 parameters."""
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()),
        *(nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32)),
        *(nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 7 * 7, 10)),
    )


def accuracy(model: nn.Module, test: TensorDataset) -> float:
    """The share of the pictures that it gets right."""
    model.eval()
    with torch.no_grad():
        right = [model(x).argmax(1) == y for x, y in DataLoader(test, 500)]
    model.train()
    return torch.cat(right).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of Fashion-MNIST's files; or synthetic")
    parser.add_argument("--epochs", type=int, default=5, help="passes (5)")
    parser.add_argument("--samples", type=int, default=60_000, help="so many at most")
    parser.add_argument("--short", action="store_true", help="1 pass of 10,000")
    parser.add_argument("--batch", type=int, default=64, help="pictures a step (64)")
    parser.add_argument("--lr", type=float, default=1e-3, help="Adam's (0.001)")
    parser.add_argument("--seed", type=int, default=0, help="of the first parameters")
    parser.add_argument("--name", help="of this node; this PC's, unless said")
    args = parser.parse_args()
    if args.short:
        args.epochs, args.samples = 1, min(args.samples, 10_000)

    train, test = load(args.data, args.samples)
    torch.set_num_threads(1)  # several nodes on a PC fight for its cores else
    torch.manual_seed(args.seed)
    model = cnn()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    link = starswitch.attach(model, optimizer, name=args.name)  # <- line 1
    sampler = starswitch.Sampler(train, link, batch_size=args.batch)  # <- shares
    loader = DataLoader(train, args.batch, sampler=sampler)

    step = 0
    for epoch in range(1, args.epochs + 1):
        for x, y in loader:
            loss = functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            link.report(loss=loss, samples=len(x))  # <- line 2
            optimizer.step()
            step += 1
            if step % 20 == 1:
                print(f"epoch {epoch}  step {step:5}  loss {loss.item():.3f}")
            if link.over:  # the hub has ended the run
                break
        with link.center():  # evaluate what all nodes have learnt; alone: the model
            print(f"epoch {epoch}  accuracy {accuracy(model, test):.1%}")
        if link.over:
            break
    print(f"{step} steps, {link.state().applied} results of a hub applied")


if __name__ == "__main__":
    main()
