# What a node has nothing more to do with is waived the newest first, so that
# its verdicts do not wait behind results that nobody needs.
set seed 65325
set nodes 9
set faults 1s
set elements 396
set counts yes
set step 57ms
set chunk 528B
set up 3200B/s
set policy mean
set every 9
set delay 22
set miss cut
set staleness 1000
