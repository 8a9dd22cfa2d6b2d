# fragments that were formed in another order than taken were offered so: the hub
# declined the first of them, and took it for merged when the node came back
set seed 49461
set nodes 7
set faults 8s
set save 2949ms
set tasks 18
set task-steps 20
set elements 336
set uneven yes
set counts yes
set step 81ms
set delay-by 28ms
set lost 31
set reconnect 807ms
set job 839us
set liars 4
set lies 15
set chunk 336B
set window 17B
set policy mean
set tournament 21
set fragments 2
set every 1
set miss skip
set codec-up raw
set codec-down sign
set staleness 1000
set evaluate 2668ms
at 0s start n1
at 0s start n2
at 0s start n3
at 0s start n4
at 0s start n5
at 0s start n6
at 0s start n7
at 0.253s start hub
at 2.68s freeze n1
at 3.715s thaw n1
at 4.7s lose n1
at 4.7s lose n2
at 4.7s lose n3
at 4.7s lose n4
at 4.7s lose n5
at 4.7s lose n6
at 4s lose n7
at 5.903s start n1
at 5.903s start n2
at 5.903s start n3
at 5.903s start n4
at 5.903s start n5
at 5.903s start n6
at 5.903s start n7
at 7.6s cut n1
