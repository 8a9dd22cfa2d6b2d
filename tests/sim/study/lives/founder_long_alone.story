# a founder has learnt more alone than was ever merged of it
set seed 30294
set nodes 8
set save 4695ms
set elements 192
set uneven yes
set counts yes
set step 49ms
set link 8192000
set delay-by 25ms
set reconnect 235ms
set job 875us
set chunk 384B
set up 50KiB/s
set policy mean
set tournament 10
set every 8
set delay 8
set miss cut
set codec-up f16
set codec-down e3m0
set staleness 1000
at 0s start n1
at 0s start n2
at 0s start n3
at 0s start n4
at 0s start n5
at 0s start n6
at 0s start n7
at 0s start n8
at 0.15s start hub
at 1s lose n1
at 1s lose n2
at 1s lose n3
at 1s lose n4
at 1s lose n5
at 1s lose n6
at 1s lose n7
at 1s lose n8
at 1.335s start n1
at 1.335s start n2
at 1.335s start n3
at 1.335s start n4
at 1.335s start n5
at 1.335s start n6
at 5s freeze n3
at 5s freeze n6
at 5.65s crash hub
