# Both nodes are stopped before they attach, and heard again while the one that
# keeps less gives that: the other one is asked after all.
set seed 3003531
set nodes 4
set faults 15s
set save 4253ms
set elements 420
set counts yes
set chunk 336B
set policy mean
set init hub
set every 7
set staleness 1000
at 0s start n4
at 0s start hub
at 1.9s cut n4
at 2s start n3
at 4s lose hub
at 4s repair n4
at 6s start hub
at 8s freeze n3
at 8s freeze n4
