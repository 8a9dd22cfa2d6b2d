# nodes know lives of which the disk is lost, and nobody keeps a proof
set seed 31089
set nodes 12
set faults 17s
set save 1967ms
set reviews yes
set bias yes
set step 147ms
set link 32000
set delay-by 22ms
set reconnect 646ms
set job 738us
set liars 3
set lies 8
set chunk 4B
set up 25KiB/s
set down 3200B/s
set select top
set tournament 25
set fragments 4
set every 3
set delay 7
set miss wait
set wait 183ms
set codec-up raw
set codec-down raw
set evaluate 2899ms
at 0s start n1
at 0.16s start n3
at 0.269s start n8
at 0.27s start hub
at 0.39s start n10
at 0.595s start n11
at 0.97s start n12
at 1.1s start n7
at 2s crash hub
at 2s start hub
at 2.3s crash n7
at 2.398s start n4
at 2.547s start n9
at 3.049s crash hub
at 3.325s start n7
at 3.476s start n2
at 3.545s start n5
at 3.641s start n6
at 4.15s start hub
at 4.2s freeze hub
at 4.9s leave n12
at 6.825s start n12
at 6.9s thaw hub
at 7.93s start n2
at 8.3s start n4
at 8.7s unplug n2
at 8.7s unplug n12
at 9.5s freeze hub
at 9.5s unplug n4
at 10s repair n2
at 10s repair n12
at 10.2s unplug n9
at 10.404s thaw hub
at 10.6s repair n4
at 10.78s repair n9
at 10.9s leave n2
at 10.9s unplug n3
at 10.9s unplug n12
at 11.628s start n2
at 11.6s leave n4
at 12s unplug n2
at 12s unplug n6
at 12.32s repair n3
at 12.327s repair n12
at 12.4s repair n2
at 12s repair n6
at 12.835s start n4
at 13.372s crash hub
at 14.28s start hub
at 14.632s crash hub
at 14.7s wipe hub
at 14.8s unplug n8
at 15s unplug n3
at 15.9s start hub
at 16s unplug n2
