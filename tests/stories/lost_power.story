# Nobody says that n1 is gone: it falls silent, and after its lease is lost.
set required 2
nodes 2
at 0.1 start n1
at 0.2 start n2
at 3 lose n1
until 80
expect
hub node_joined n1: at iteration 0, it trains alone until the run
n1 hub_attached n1
hub centre_founded n1: gave the first parameters: 10 in 3 chunks
hub node_joined n2: at iteration 0, it is up to date, and may offer at once
n2 hub_attached n2
hub node_silent n1
hub node_lost n1: silent for 60 s
