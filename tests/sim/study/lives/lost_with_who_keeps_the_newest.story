# the disk is lost while who keeps the newest version is away
set seed 62238
set nodes 2
set faults 13s
set save 335ms
set elements 384
set counts yes
set chunk 384B
set window 17B
set policy ddp
set gate async
set init hub
set every 1
set delay 0
set staleness 1000
set outer-lr 1
at 0s start n1
at 0s start n2
at 8.3s start hub
at 11s wipe hub
at 11.4s start hub
at 12s cut n1
