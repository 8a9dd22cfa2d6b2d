# the same, and the hub is lost: its saved state says what waited
set seed 534
set nodes 5
set faults 11s
set save 4691ms
set elements 240
set counts yes
set reconnect 679ms
set chunk 240B
set down 100KiB/s
set policy mean
set tournament 7
set fragments 4
set every 1
set staleness 1000
set evaluate 3257ms
at 6.019s start n2
at 6.019s start n5
at 6.32s start hub
at 8s start n3
at 10s lose hub
