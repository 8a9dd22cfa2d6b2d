# a run ends before a node has given again what a break has taken
set seed 82752
set nodes 4
set required 3
set faults 19s
set elements 192
set counts yes
set step 34ms
set reconnect 694ms
set chunk 192B
set window 33B
set policy ddp
set gate async
set init hub
set every 8
set delay 20
set codec-up int4
set staleness 1000
set outer-lr 1
at 1s start n4
at 5.1s start n3
at 14s start hub
at 18.5s cut n4
