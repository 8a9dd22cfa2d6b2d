"""What is learnt: a transformer and a convolutional network nobody tuned for, and
the two MLPs of `make convergence`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """A model and its data. Nodes get contiguous stretches of a text, and
    samples of images at random. `loss` is nats, a byte's or a picture's."""

    name: str
    about: str
    model: str  # without batch and learning rate
    batch: int  # samples a node takes in an iteration
    rate: float  # the best for one node, of RATES
    data: str
    iterations: int  # of each node, at a step of 0.1 s

    def spec(self, batch: int, rate: float) -> str:
        """The model as --model has it."""
        return f"{self.model},batch={batch},lr={rate:g}"


RATES = (0.5, 1.0, 2.0, 4.0)  # of a work's own: tried for all nodes together

WORKS = {
    work.name: work
    for work in (
        Work(
            "gpt",
            "a transformer of 118,000 parameters on Debian's licence texts, each "
            "node on files of its own; AdamW, 60 iterations of warm-up, clipped",
            "gpt:L2-D64-H2-T64,warmup=60,clip=1",
            8,
            0.002,
            "/usr/share/common-licenses",
            600,
        ),
        Work(
            "cnn",
            "Fashion-MNIST, two convolutions of 16 and 32 channels and a hidden layer "
            "of 64, 106,000 parameters; AdamW",
            "cnn:C16-C32-H64",
            8,
            0.002,
            "/usr/share/datasets/fashion-mnist",
            600,
        ),
        Work(
            "w1",
            "Fashion-MNIST, an MLP 784-64-64-10, SGD with momentum 0.9",
            "mlp:784-64-64-10,optimizer=sgd",
            8,
            0.004,
            "/usr/share/datasets/fashion-mnist",
            800,
        ),
        Work(
            "w2",
            "the next byte of licence texts from the 12 before it, an MLP of one "
            "hidden layer; AdamW",
            "lm:context=12,embedding=8,hidden=128,optimizer=adamw",
            32,
            0.008,
            "/usr/share/common-licenses",
            400,
        ),
    )
}
