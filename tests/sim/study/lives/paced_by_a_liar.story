# A Byzantine node is so fast that a slow node is told a k that it never reaches. Nobody
# waits for that node, but it is told another k when the Byzantine node's speed counts no
# more.
set seed 19496
set nodes 6
set save 4800ms
set evaluates yes
set elements 18
set step 143ms
set link 64000
set delay-by 33ms
set reconnect 286ms
set twice 7
set liars 1
set chunk 16B
set window 1B
set down 800B/s
set policy pbt
set dylu yes
set every 10
set delay 10
set codec-up bf16
set evaluate 2847ms
at 0s start n1
at 0s start n2
at 0s start n3
at 0s start n4
at 0s start n5
at 0s start n6
at 0.95s start hub
at 2s crash hub
at 3.23s start hub
at 3.29s start n1
at 4.8s freeze n3
at 5.9s lose n4
at 6.73s start n4
at 6.96s cut n2
at 7.216s thaw n3
at 8s repair n2
at 9.4s lose n4
at 9.99s start n4
at 12.73s crash n1
at 13.7s lose n2
at 13.7s lose n3
at 13.7s lose n4
at 13.7s lose n5
at 13.7s lose n6
at 14.18s start n1
at 15.601s start n2
at 15.601s start n3
at 15.601s start n4
at 15.601s start n5
at 15.601s start n6
at 15.6s unplug n1
at 15.7s freeze n2
at 16.28s crash hub
at 16.74s start hub
at 16.79s thaw n2
at 18.99s crash hub
at 19s start hub
at 19.2s repair n1
