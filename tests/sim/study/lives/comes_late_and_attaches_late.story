# the hub goes on from version 6 of life 0, and n3 keeps 7 of life 0
set seed 700097
set save 4337ms
set delay-by 40ms
set reconnect 251ms
set policy downpour
at 0.4s start hub
at 0.4s start n3
at 1.9s start n2
at 3.7s freeze n3
at 5.6s thaw n3
at 7.6s lose hub
at 10.9s start hub
at 11.4s freeze n3
at 12.3s thaw n3
at 13.2s cut n2
at 14s lose hub
at 14s repair n2
at 14.5s start hub
at 17.5s lose hub
