"""Links for loops that a framework runs: accelerate, huggingface, lightning;
and kubeflow, by which an engine hears how far a run is."""
