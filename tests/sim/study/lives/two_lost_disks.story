# the centre holds 101 of n3's chunk 0 at the end, and 136 were learnt
set seed 27576
set elements 60
set counts yes
set chunk 240B
set policy mean
set staleness 1000000
at 0s start n1
at 0s start hub
at 3s start n3
at 9s unplug n1
at 10s wipe hub
at 10s start hub
at 14s wipe hub
at 15s unplug n3
at 16s repair n1
at 16s start hub
