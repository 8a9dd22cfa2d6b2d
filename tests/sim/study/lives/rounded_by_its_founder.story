# The founder of another run holds a number as the codec had rounded it.
set seed 61209
set nodes 6
set faults 16s
set elements 216
set uneven yes
set counts yes
set step 168ms
set delay-by 10ms
set reconnect 918ms
set chunk 288B
set budget 187B
set policy mean
set init hub
set every 8
set delay 8
set miss cut
set codec-down int4
set staleness 1000
at 2s start n4
at 4s start n3
at 5.9s start hub
at 7s freeze hub
at 8.022s start n5
at 8s start n6
at 8.7s crash n3
at 8.9s thaw hub
at 9.7s lose n4
at 9.7s lose n5
at 9.7s lose n6
at 13.01s start n3
at 13.2s start n1
at 14.99s wipe hub
at 15.2s start n3
at 15.7s start hub
