"""The race: one PyTorch script, one data set, five ways to train it together.

    bench/python/race --mbit 100 --seconds 60 --peers ddp,starswitch

Each peer trains the same GPT from the same first parameters on the same batches,
four processes on a switch whose ports are as slow as --mbit says. Rank 0, or the
server where there is one, saves parameters every second or so; after the run a
judge computes their held-out losses. Who does what, in the order of a run:

    __main__.py  the options; for each network and each arm: run, judge, report
    arms.py      the arms: peer, sync interval, what it starts beside the nodes
    venvs.py     the peers' packages, each in a virtual environment under build/
    network.py   namespaces with token buckets, and the bytes that crossed them
    runner.py    one arm on one network, from the first process to the last
    train.py     the script: the loop, the same for all but flwr
    task.py      the model, the data and the loss
    faces.py     what each peer adds to the script
    flower/      flwr's own spelling of the script: a client app, a server app
    record.py    the clock, the snapshots, the iterations
    judge.py     held-out losses of the snapshots
    report.py    docs/race.md
    plot.py      docs/race.svg
"""
