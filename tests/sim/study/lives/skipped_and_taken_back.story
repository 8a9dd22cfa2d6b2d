# What n3 has skipped is void when it is to take the centre: it offers again.
set seed 5003354
set nodes 6
set save 319ms
set elements 1
set apart yes
set uneven yes
set step 106ms
set link 1024000
set delay-by 36ms
set reconnect 766ms
set job 963us
set late 5
set chunk 4B
set policy better
set preempt margin
set init hub
set every 3
set delay 1
set miss skip
set codec-down raw
at 0s start n1
at 0s start n2
at 0s start n3
at 0s start n4
at 0s start n5
at 0s start n6
at 0.63s start hub
at 2.9s freeze n1
at 5.7s freeze n3
