# Liars never finish what they have offered, and the run ends: the last offers
# of the others are in the centre.
set seed 64791
set nodes 6
set faults 1s
set elements 252
set uneven yes
set counts yes
set reconnect 349ms
set job 986us
set liars 3
set chunk 336B
set up 12800B/s
set policy mean
set gate async
set init hub
set dylu yes
set every 3
set delay 7
set codec-up raw
set staleness 1000
