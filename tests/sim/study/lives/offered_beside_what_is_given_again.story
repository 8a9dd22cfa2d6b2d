# What is given again is in an offer that is given up in the end, and not in the
# one that is made meanwhile, and merged; then the disk is lost, and the founder
# of another run was sent it in the first one.
set seed 310128
set nodes 8
set faults 10s
set elements 288
set uneven yes
set counts yes
set step 131ms
set link 8192000
set delay-by 25ms
set reconnect 534ms
set job 559us
set chunk 384B
set window 33B
set down 3200B/s
set policy mean
set init hub
set fragments 3
set every 2
set delay 2
set miss cut
set staleness 1000000
at 0s start n1
at 0s start n2
at 0s start n3
at 0s start n4
at 0s start n5
at 0s start n6
at 0s start n7
at 0s start n8
at 0.74s start hub
at 1s freeze n1
at 1s freeze n6
at 1s freeze n7
at 1s freeze n8
at 2.238s thaw n1
at 2.238s thaw n6
at 2.238s thaw n7
at 2.238s thaw n8
at 3.032s crash hub
at 4.63s start hub
at 5.4s unplug n1
at 6.9s repair n1
at 7.39s unplug n1
at 7.8s wipe hub
at 8.39s repair n1
at 9s crash n2
at 9s start hub
