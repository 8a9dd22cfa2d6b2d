# A hub looks for what a node keeps, and that goes before it has given it.
set seed 500037
set nodes 6
set faults 15s
set elements 84
set counts yes
set reconnect 955ms
set chunk 336B
set policy ddp
set init hub
set staleness 1000
set outer-lr 1
at 1s start n5
at 7s start n5
at 7.4s start n6
at 9.19s start hub
at 11s start hub
at 14s cut n6
