# The first node gives the run its parameters; an equal one may go at once.
nodes 2
at 0.1 start n1
at 0.3 start n2
until 3
expect
hub node_joined n1: at iteration 0, it trains alone until the run
n1 hub_attached n1
hub centre_founded n1: gave the first parameters: 10 in 3 chunks
hub node_joined n2: at iteration 0, it is up to date, and may offer at once
n2 hub_attached n2
