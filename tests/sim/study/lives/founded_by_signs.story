# signs give numbers that have not moved as much as those that have
set seed 111414
set nodes 4
set elements 96
set counts yes
set step 138ms
set chunk 192B
set budget 31B
set up 25KiB/s
set down 25KiB/s
set policy mean
set init hub
set every 10
set codec-up raw
set codec-down sign
set staleness 1000
at 7s start n4
at 7.7s start hub
at 10s start n1
at 12.09s freeze n1
at 12.09s freeze n4
at 13.3s thaw n1
at 14s start n3
at 14s lose n4
at 14.9s freeze n3
at 15.9s start n2
at 16.37s cut n1
at 17s wipe hub
at 19s start n4
