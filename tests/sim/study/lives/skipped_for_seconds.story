# While its hub is stopped a node gives up more exchanges than a hub remembers,
# behind some that were merged in part; then the hub is killed after a save.
set seed 81864
set nodes 6
set faults 10s
set save 3380ms
set elements 288
set counts yes
set step 36ms
set delay-by 6ms
set chunk 288B
set window 1B
set down 3200B/s
set policy mean
set init hub
set fragments 2
set dylu yes
set every 2
set miss cut
set codec-up raw
set staleness 1000000
at 0.279s start hub
at 1.663s start n3
at 2.2s cut n3
at 2.6s repair n3
at 2.8s start n6
at 3.21s start n5
at 4.2s leave n6
at 4.6s freeze hub
at 5.9s freeze n3
at 6.61s thaw hub
at 7s freeze hub
at 9.45s thaw hub
at 9.77s crash hub
