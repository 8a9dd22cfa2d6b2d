# A hub that had lost its disk is in a life far beyond; so is each one after it
# that comes from what that one has saved.
set seed 3006276
set nodes 4
set faults 18s
set save 1711ms
set tasks 1
set elements 48
set counts yes
set step 165ms
set delay-by 24ms
set reconnect 127ms
set chunk 192B
set down 400KiB/s
set policy ddp
set every 5
set codec-down top1
set staleness 1000
set outer-lr 1
at 0s start n1
at 0.2s start hub
at 1.5s start n2
at 1.6s freeze n2
at 3.4s lose hub
at 4.4s start hub
at 9s thaw n2
at 9s freeze n1
at 10s start hub
at 12.6s lose hub
at 14s start hub
at 17.5s lose hub
