"""A program that uses run(), as a user's: the same alone and with others."""

from __future__ import annotations

from test_elasticflow import forward, model, run, samples

if __name__ == "__main__":
    result = run(model, forward, samples(480), epochs=None, batch_size=8)
    print("loss", round(result.loss, 4), "samples", result.samples)
