# an exchange of one fragment waits while a later one of another is merged, and its node is gone
set seed 513
set nodes 6
set faults 6s
set save 4268ms
set elements 384
set bias yes
set uneven yes
set counts yes
set delay-by 37ms
set lost 3
set reconnect 393ms
set chunk 384B
set policy mean
set init hub
set fragments 3
set every 11
set delay 27
set staleness 1000
at 0s start n1
at 0.601s start n5
at 0s start hub
at 1.7s start n4
at 2.7s start n6
at 3s start n2
at 5s cut n4
