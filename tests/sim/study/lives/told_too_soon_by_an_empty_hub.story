# the centre holds 238 of n1's chunk 0, and only 229 were learnt
set seed 703665
set nodes 2
set required 2
set faults 18s
set elements 144
set counts yes
set chunk 144B
set policy mean
set init hub
set staleness 1000
at 4s start hub
at 6s start n1
at 9s cut n1
at 9.7s start n2
at 13.4s wipe hub
at 16.57s start hub
at 17.701s cut n2
