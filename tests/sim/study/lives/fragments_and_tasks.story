# an exchange of one fragment waits while later ones are merged
set seed 894
set nodes 7
set required 3
set tasks 18
set elements 252
set counts yes
set delay-by 34ms
set reconnect 648ms
set chunk 336B
set down 400KiB/s
set policy mean
set init hub
set fragments 4
set miss skip
set staleness 1000
at 4.3s start n7
at 14s start hub
at 16.5s start n6
at 19.4s cut n6
