# the hub goes on from its disk, and in the same session from what a node keeps:
# neither has all of what a node had in flight
set seed 218709
set nodes 5
set faults 18s
set save 1934ms
set tasks 28
set task-steps 20
set elements 180
set counts yes
set step 71ms
set delay-by 18ms
set lost 40
set reconnect 185ms
set job 734us
set late 2
set chunk 240B
set down 400KiB/s
set policy mean
set fragments 4
set dylu yes
set every 4
set delay 10
set miss wait
set codec-up raw
set codec-down bf16
set staleness 1000000
set evaluate 2594ms
at 0s start n1
at 0.455s start n2
at 0.46s start hub
at 0.643s start n4
at 0.999s start n3
at 1.63s start n5
at 2s freeze n1
at 3.867s thaw n1
at 4.861s cut n1
at 7.34s lose hub
at 9.2s freeze n5
at 11s repair n1
at 12s lose n3
at 14.42s start n4
at 14.64s start hub
at 15.6s start hub
at 16.5s cut n2
at 17s freeze hub
