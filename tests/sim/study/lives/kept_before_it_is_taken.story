# who keeps the newest version has not taken it yet when the hub is lost
set seed 75307
set nodes 7
set faults 12s
set save 2979ms
set elements 1
set delay-by 32ms
set chunk 4B
set up 200B/s
set init hub
set every 3
set codec-down raw
at 0s start n1
at 0s start n2
at 0s start n7
at 1s cut n7
at 3.24s start hub
at 3.85s start n5
at 4.4s freeze hub
at 5.4s thaw hub
at 5.9s freeze hub
at 6s unplug n2
at 7s thaw hub
at 8s repair n7
at 10.3s freeze n7
at 11s crash hub
