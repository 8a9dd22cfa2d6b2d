# the centre holds 71 of n5's chunk 0, and only 65 were learnt
set seed 103434
set nodes 5
set faults 19s
set save 2556ms
set elements 60
set counts yes
set reconnect 570ms
set chunk 240B
set up 3200B/s
set policy mean
set every 8
set miss skip
set staleness 1000
at 0s start n2
at 0s start n3
at 0s start n4
at 0s start n5
at 0.2s start hub
at 11s freeze n3
at 15s crash hub
at 16.9s start hub
at 18.4s cut n4
