# a hub crashes with gradients under way
set seed 1293
set nodes 7
set faults 13s
set save 2795ms
set elements 420
set counts yes
set chunk 336B
set policy ddp
set tournament 25
set dylu yes
set every 2
set staleness 1000
set outer-lr 1
at 3.92s start n7
at 8.19s start hub
at 10.8s start n3
at 12.3s crash hub
