# Nodes that are earlier than the hub wait for it while they train. (The hub
# of a story runs from the beginning, so it is killed first.)
nodes 2
at 0 crash hub
at 0.1 start n1
at 0.2 start n2
at 4 start hub
until 8
expect
hub node_joined n2: at iteration 41, it trains alone until the run
n2 hub_attached n2
hub centre_founded n2
hub node_joined n1: at iteration 51, it goes on with the hub's parameters
n1 hub_attached n1
n1 parameters_taken n1
