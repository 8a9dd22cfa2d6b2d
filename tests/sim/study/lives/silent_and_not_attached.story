# The node that keeps the newest version is stopped before it attaches, and heard
# again when it would be passed over.
set seed 48673
set nodes 8
set reviews yes
set tasks 25
set task-time 7742ms
set task-steps 2
set uneven yes
set step 84ms
set reconnect 592ms
set job 860us
set chunk 4B
set window 49B
set budget 40B
set down 3200B/s
set policy async
set tournament 28
set every 10
set miss skip
set codec-up top10
set evaluate 528ms
at 0s start n1
at 0s start n2
at 0s start n3
at 0s start n4
at 0s start n5
at 0s start n6
at 0s start n7
at 0s start n8
at 0.724s start hub
at 1.62s cut n4
at 2s repair n4
at 2.9s unplug n1
at 2s unplug n7
at 3.57s crash n4
at 5.2s lose n8
at 5.8s unplug n3
at 6.38s start n8
at 9s leave n6
at 10.03s start n6
at 10.1s start n4
at 10.708s crash n2
at 10.708s crash n3
at 10.708s crash n4
at 10.708s crash n5
at 10.7s crash n6
at 10.708s crash n8
at 10.79s repair n1
at 10.79s repair n7
at 11.88s crash hub
at 13.1s start hub
at 13.8s freeze n1
