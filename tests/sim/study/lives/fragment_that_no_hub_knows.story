# A later exchange, of another fragment, is merged; what was in flight before it
# is not, whatever life of the hub there is.
set seed 44973
set nodes 8
set faults 14s
set elements 288
set counts yes
set step 110ms
set delay-by 23ms
set reconnect 628ms
set chunk 384B
set down 400KiB/s
set policy mean
set tournament 1
set fragments 2
set every 6
set staleness 1000
at 0s start n1
at 0.7s start n6
at 0.96s start hub
at 1.09s start n3
at 1.127s start n8
at 1.88s start n7
at 3s unplug n7
at 3.7s unplug n3
at 9s unplug n1
at 9.3s repair n3
at 10.8s start hub
at 13.9s start hub
