# by signs a founder has a little more of a number than was learnt
set seed 11325
set nodes 2
set save 4932ms
set tasks 18
set task-steps 6
set elements 96
set counts yes
set step 64ms
set chunk 96B
set policy mean
set gate counted
set codec-up raw
set codec-down sign
set staleness 1000
at 8.8s start n1
at 11.16s start hub
at 15.7s start n2
at 16s freeze n2
at 17.5s wipe hub
at 17s thaw n2
at 19.2s start n1
