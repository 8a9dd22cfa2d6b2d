"""What the defaults lose against settings that somebody tunes by hand.

Runs of starswitch-sim, in virtual time, with the real gradients of train/: the
hub's default policy, told nothing, beside sweeps over k, d and policy, and
beside data parallelism at its best learning rate.

    PYTHONPATH=bench/python python3 -m untuned      # writes docs/untuned.md

work.py says what is learnt, arms.py what is run, runner.py runs it, report.py
writes it down.
"""
