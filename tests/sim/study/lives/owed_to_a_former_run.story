# What was to be given again when the hub lost all: the founder of the next run
# may have been sent it.
set seed 21276
set nodes 10
set faults 12s
set elements 312
set counts yes
set step 47ms
set delay-by 24ms
set reconnect 254ms
set chunk 624B
set up 100KiB/s
set policy mean
set init hub
set miss wait
set staleness 1000
at 0s start n1
at 0s start n2
at 0s start n5
at 0s start n6
at 0s start n7
at 0s start n8
at 0s start n9
at 0s start n10
at 3.5s start hub
at 7.082s start n10
at 8.96s start hub
at 10s wipe hub
at 11s start hub
