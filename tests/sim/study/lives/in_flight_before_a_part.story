# what was in flight is before one that the next hub has a part of
set seed 910872
set nodes 6
set required 4
set faults 11s
set elements 360
set uneven yes
set counts yes
set step 138ms
set delay-by 18ms
set reconnect 951ms
set chunk 288B
set window 17B
set policy mean
set gate counted
set init hub
set fragments 3
set every 9
set miss wait
set wait 2147ms
set staleness 1000
set grace 2.6
at 0s start n1
at 0.6s start hub
at 1s start n5
at 1s freeze n1
at 2.6s start n2
at 2.69s thaw n1
at 2.8s start n6
at 6.9s start n1
at 9s cut n2
at 10s crash hub
