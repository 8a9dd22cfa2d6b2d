# who founds the next run has the parameters that it gave to the former one's
# tournament
set seed 75924
set nodes 4
set required 2
set save 3872ms
set elements 96
set uneven yes
set counts yes
set step 63ms
set delay-by 20ms
set job 810us
set chunk 192B
set window 1B
set policy mean
set tournament 1
set delay 25
set codec-down raw
set staleness 1000
at 0s start n2
at 0s start n4
at 0.6s start hub
at 2s lose n2
at 2.9s lose n4
at 3.8s wipe hub
at 4.059s start n1
at 4.059s start n2
at 4.059s start n4
at 7.529s start n3
at 9s cut n3
at 11.76s start hub
at 12.569s freeze n2
at 13.59s crash n1
at 13.59s crash n4
at 14.1s thaw n2
at 14.64s crash hub
at 14.874s start n1
at 14.874s start n3
at 14.874s start n4
at 15.635s start n1
at 15.635s start n3
at 15.635s start n4
at 16s start hub
at 16s freeze n3
at 16.413s start n2
at 17.104s cut n4
at 17.44s cut n1
at 17.7s thaw n3
at 18.14s repair n1
at 19.32s cut n2
at 19.5s crash hub
