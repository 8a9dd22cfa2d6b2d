# parameters as large as a float can be, from a Byzantine node
set seed 40930
set nodes 6
set liars 3
set lies 44
set chunk 4B
set init hub
at 0s start n1
at 0.238s start n4
at 0.8s start hub
at 1.35s start n5
at 2.2s freeze n1
at 3.23s start n6
at 3.8s freeze n5
at 4s freeze n4
