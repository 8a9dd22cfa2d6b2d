# the centre holds 159 of n1's chunk 0, and only 152 were learnt
set seed 1835
set nodes 4
set save 5000ms
set elements 240
set counts yes
set chunk 240B
set policy mean
set every 8
set staleness 1000000
at 0s start hub
at 0s start n1
at 0s start n2
at 0s start n3
at 0s start n4
at 8s unplug n4
at 9.6s cut n1
at 11s repair n1
at 11s start hub
at 11s cut n3
at 13s cut n2
at 13.7s cut n1
at 14s repair n3
