# Who joins after the first round takes the hub's parameters.
nodes 2
at 0.1 start n1
at 3 start n2
until 6
expect
hub node_joined n1: at iteration 0, it trains alone until the run
n1 hub_attached n1
hub centre_founded n1: gave the first parameters: 10 in 3 chunks
hub node_joined n2: at iteration 0, it goes on with the hub's parameters
n2 hub_attached n2
n2 parameters_taken n2
