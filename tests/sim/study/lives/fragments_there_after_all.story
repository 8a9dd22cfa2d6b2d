# fragments are told to be lost, and are in a version that a later hub goes on from
set seed 64443
set nodes 8
set required 4
set faults 19s
set save 1585ms
set elements 384
set counts yes
set step 57ms
set link 8192000
set reconnect 518ms
set job 224us
set late 1
set chunk 384B
set window 49B
set policy mean
set gate async
set init hub
set fragments 4
set dylu yes
set every 5
set delay 2
set miss skip
set codec-up raw
set staleness 1000
set evaluate 258ms
at 0s start n1
at 0.1s start n8
at 0.532s start n6
at 0.6s start hub
at 1.2s freeze hub
at 1.918s cut n8
at 2.26s start n5
at 2.339s start n2
at 2.4s freeze n1
at 2.4s freeze n5
at 2.605s thaw hub
at 2.9s start n3
at 3.012s cut n2
at 3.166s start n7
at 3.396s thaw n1
at 3.396s thaw n5
at 3.7s freeze n3
at 3.7s freeze n7
at 3.927s start n4
at 4.044s thaw n3
at 4.044s thaw n7
at 4.09s unplug n3
at 4.09s unplug n6
at 4.09s unplug n7
at 4.489s repair n3
at 4.4s repair n6
at 4.48s repair n7
at 4.9s repair n2
at 5.2s freeze n7
at 6.29s freeze n3
at 6.2s freeze n4
at 6.29s freeze n6
at 6.553s thaw n7
at 7.9s lose hub
at 14s start hub
at 15s cut n7
at 18s lose hub
