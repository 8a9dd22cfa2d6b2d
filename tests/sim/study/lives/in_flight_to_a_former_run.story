# What was on its way to a hub that lost all: the founder of the next run may
# have been sent it.
set seed 7416
set faults 17s
set elements 240
set counts yes
set step 96ms
set chunk 192B
set policy mean
set every 10
set codec-down raw
set staleness 1000
at 0s start n1
at 0s start n2
at 0.4s start hub
at 0.43s start n3
at 3.6s start hub
at 8.4s cut n1
at 16.6s wipe hub
