# Enough iterations: all offer once more, the hub saves and says goodbye.
set required 2
set iterations 20
nodes 2
at 0.1 start n1
at 0.2 start n2
until 4
expect
hub node_joined n1: at iteration 0, it trains alone until the run
n1 hub_attached n1
hub centre_founded n1: gave the first parameters: 10 in 3 chunks
hub node_joined n2: at iteration 0, it is up to date, and may offer at once
n2 hub_attached n2
hub run_ending : 20 iterations done
hub run_ended : 20 iterations done
n1 run_ended n1
n2 run_ended n2
