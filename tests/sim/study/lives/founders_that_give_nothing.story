# each Byzantine node that is to give the first parameters costs a minute
set seed 223417
set nodes 5
set faults 1s
set elements 10
set delay-by 23ms
set liars 3
set lies 23
set chunk 16B
set policy async
set init hub
