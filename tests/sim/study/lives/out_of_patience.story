# n2 offers too late while others wait, and has no patience left: it exchanges
# again once that has come back, after 100 s.
set seed 1008538
set nodes 2
set faults 4s
set evaluates yes
set elements 14
set uneven yes
set chunk 12B
set policy top
at 0s start n1
at 0s start hub
