# the centre holds 77 of n2's chunk 0, and only 74 were learnt
set seed 703644
set nodes 5
set required 5
set faults 13s
set save 3581ms
set tasks 13
set task-steps 12
set elements 288
set counts yes
set delay-by 17ms
set reconnect 896ms
set chunk 288B
set policy mean
set init hub
set every 7
set codec-up raw
set staleness 1000
at 0s start hub
at 1s start n2
at 3.809s start n5
at 4.35s cut n5
at 6s repair n5
at 7s cut n2
at 7.9s lose hub
at 9s start hub
at 11s repair n2
at 12.6s cut n5
