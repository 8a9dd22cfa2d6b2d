# a node that is back is told that its chunks are merged, which wait for others;
# then who keeps a former run comes
set seed 217005
set nodes 8
set faults 7s
set elements 384
set counts yes
set reconnect 924ms
set chunk 384B
set policy mean
set init hub
set staleness 1000
at 0s start n3
at 0.5s start hub
at 0.9s start n8
at 3.37s start n6
at 3.6s wipe hub
at 4.3s start hub
at 5.05s cut n8
at 6s cut n6
