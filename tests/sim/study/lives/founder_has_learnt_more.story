# what a founder holds beyond the former run's versions was learnt, and not its
# codec's rounding only
set seed 2005752
set nodes 1
set faults 15s
set elements 240
set counts yes
set chunk 192B
set up 12800B/s
set policy mean
set tournament 5
set codec-down sign
set staleness 1000
at 0s start n1
at 0s start hub
at 14s wipe hub
