# the centre holds 20 of n2's chunk 0 at the end, and 30 were learnt
set seed 115704
set nodes 2
set required 2
set faults 10s
set elements 48
set counts yes
set step 27ms
set delay-by 26ms
set lost 49
set reconnect 650ms
set chunk 96B
set window 33B
set policy mean
set tournament 13
set dylu yes
set every 5
set delay 12
set miss wait
set codec-up raw
set codec-down raw
set staleness 1000000
at 0s start n1
at 2.07s start n1
at 4.523s start hub
at 8.5s start n1
at 9.1s lose n1
