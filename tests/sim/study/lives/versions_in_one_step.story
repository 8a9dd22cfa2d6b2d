# two versions in one step, after another life had come as far: the judge compared
# a chunk with what that life had held at the first of them
set seed 24381
set nodes 5
set save 3258ms
set elements 120
set counts yes
set step 175ms
set delay-by 33ms
set reconnect 487ms
set job 938us
set chunk 240B
set window 81B
set policy mean
set init hub
set fragments 4
set every 2
set delay 1
set staleness 1000
set evaluate 444ms
at 0s start n4
at 0s start n5
at 0.8s start hub
at 1s unplug n4
at 2.96s repair n4
at 3.235s cut n5
at 3.3s repair n5
at 5.29s freeze hub
at 6.989s thaw hub
at 7.6s crash n4
at 8.119s start n4
at 9.3s crash n4
at 11.274s crash hub
at 12.9s start n4
at 12.99s start hub
at 13s crash n4
at 13.35s crash n5
at 15.178s start n1
at 15.178s start n2
at 15.178s start n3
at 15.178s start n4
at 15.178s start n5
at 15.3s cut n1
at 15.3s cut n2
at 15.3s cut n4
at 15.4s repair n1
at 17s repair n2
at 17s repair n4
at 18s freeze hub
at 18.9s thaw hub
at 19.6s crash hub

