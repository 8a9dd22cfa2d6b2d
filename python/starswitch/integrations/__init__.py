"""Links for loops that a framework runs: accelerate, huggingface, lightning."""
