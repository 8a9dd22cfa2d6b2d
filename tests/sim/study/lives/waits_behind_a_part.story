# the centre holds 357 of n2's chunk 2 at the end, and 359 were learnt
set seed 702070
set nodes 3
set elements 240
set counts yes
set chunk 240B
set policy mean
set every 2
set staleness 1000000
set step 50ms
set codec-up raw
set fragments 3
set miss cut
set delay 9
set down 12800B/s
set codec-down raw
at 0s start hub
at 0s start n1
at 0s start n2
at 0.3s start n3
at 12s lose hub
