# a life of the hub goes on from an older version, and the next one from what a
# node keeps of the life before it
set seed 97401
set nodes 2
set required 2
set faults 19s
set save 3966ms
set elements 120
set uneven yes
set counts yes
set step 58ms
set delay-by 15ms
set chunk 96B
set window 81B
set policy mean
set init hub
set fragments 3
set every 6
set delay 15
set codec-down raw
set staleness 1000
at 2.2s start hub
at 2s start n2
at 3.1s crash n2
at 5.22s start n1
at 5s freeze hub
at 7.39s thaw hub
at 7.78s freeze hub
at 11s start n2
at 11.6s thaw hub
at 12.6s cut n2
at 13s unplug n1
at 13s start hub
at 14s repair n2
at 16.8s lose n2
at 16.8s start n2
at 18s crash hub
