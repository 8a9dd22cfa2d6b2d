# A hub that was stopped has heard nobody meanwhile: the bulk connection of who
# keeps the newest version is among what it has still to read.
set seed 48698
set nodes 4
set save 3786ms
set apart yes
set step 143ms
set reconnect 987ms
set policy async
set init hub
set every 11
at 0s start n1
at 0s start hub
at 0.1s start n4
at 6.4s lose hub
at 9.6s start hub
at 14.5s freeze hub
