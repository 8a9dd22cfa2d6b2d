# A hub that is killed goes on from what a node keeps, which is newer than what
# it saved; training never stops.
set required 2
set save 1
nodes 2
at 0.1 start n1
at 0.2 start n2
at 5 crash hub
at 7 start hub
until 12
expect
hub node_joined n1: at iteration 0, it trains alone until the run
n1 hub_attached n1
hub centre_founded n1: gave the first parameters: 10 in 3 chunks
hub node_joined n2: at iteration 0, it is up to date, and may offer at once
n2 hub_attached n2
n1 hub_gone n1
n2 hub_gone n2
hub node_rejoined n1
n1 hub_attached n1
hub node_rejoined n2
n2 hub_attached n2
hub centre_recovered n1: version 11 instead of version 9 from the disk
