# a link breaks with gradients under way
set seed 1494
set nodes 6
set elements 360
set counts yes
set chunk 288B
set policy ddp
set staleness 1000
set outer-lr 1
at 0s start n6
at 0s start hub
at 3s start n1
at 7s unplug n1
