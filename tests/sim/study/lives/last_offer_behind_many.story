# all that may be in flight is, when the last offer is to be made
set seed 1542
set nodes 2
set required 2
set tasks 10
set elements 36
set counts yes
set step 10ms
set delay-by 27ms
set reconnect 768ms
set chunk 144B
set policy mean
set init hub
set every 2
set miss skip
set codec-down raw
set staleness 1000
at 0s start n1
at 1s unplug n1
at 2.42s start n2
at 3.85s start hub
at 4.6s freeze n1
