# two Byzantine nodes stop in the middle of their uploads, and a save is due
set seed 204558
set faults 17s
set tasks 16
set elements 144
set counts yes
set step 184ms
set delay-by 39ms
set reconnect 496ms
set liars 2
set lies 29
set chunk 144B
set window 49B
set policy mean
set gate async
set init hub
set every 12
set codec-up raw
set staleness 1000
at 0s start n1
at 0.2s start hub
at 0.79s start n3
at 1s freeze n3
at 1.18s freeze hub
at 1.4s freeze n1
at 2.6s start n2
at 2.721s thaw n3
at 4s cut n1
at 6.448s thaw n1
at 7.5s repair n1
at 9.267s cut n2
at 9.267s cut n3
at 9.5s crash hub
at 9.8s start hub
at 10.5s repair n2
at 10.5s repair n3
at 10.6s lose hub
at 12s start hub
at 12.6s freeze n2
at 12.9s thaw n2
at 13.4s freeze hub
at 14.8s thaw hub
at 15s freeze n2
at 16.465s thaw n2
