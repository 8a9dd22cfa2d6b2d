# What nodes have offered in a session that the hub, stopped meanwhile, ends is
# let in as of the next one, and granted: they have taken it back by then.
set seed 61826
set nodes 7
set step 182ms
set down 800B/s
set tournament 26
set miss wait
set wait 2790ms
at 0s start hub
at 2s freeze hub
at 2s start n3
at 3.6s start n2
at 3.9s start n4
at 5s start n1
at 6s unplug n1
at 6s unplug n3
at 6s unplug n4
at 7.3s thaw hub
at 11s freeze hub
at 12s repair n1
at 12s repair n3
at 12s repair n4
at 19s crash n2
