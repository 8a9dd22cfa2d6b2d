# A node with another model is refused by name; the run is not disturbed.
nodes 1
odd
at 0.1 start n1
at 2 start n2
until 5
expect
hub node_joined n1: at iteration 0, it trains alone until the run
n1 hub_attached n1
hub centre_founded n1: gave the first parameters: 10 in 3 chunks
hub node_refused odd: tensor 0: "w" f32 10,1 in the run, "other" f32 8
n2 node_refused odd: tensor 0: "w" f32 10,1 in the run, "other" f32 8
