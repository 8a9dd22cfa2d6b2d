# who was told before its WELCOME that it was not merged is right
set seed 534
set nodes 5
set faults 11s
set elements 240
set counts yes
set job 846us
set late 7
set chunk 240B
set down 100KiB/s
set policy mean
set fragments 4
set every 1
set delay 0
set staleness 1000
set evaluate 3257ms
at 3.06s start hub
at 6.019s start n2
at 6.019s start n4
at 6.019s start n5
at 10.5s lose hub
