# Results are skipped and --down is slow: no node has more under way than d
# iterations can hide, so that the run can end.
set seed 1008030
set nodes 7
set faults 1s
set elements 420
set counts yes
set chunk 336B
set down 3200B/s
set policy ddp
set gate async
set every 2
set miss skip
set staleness 1000
set outer-lr 1
at 0s start n2
