# A hub that loses its power is back under another number of sessions: n4, which
# has not noticed, must not get n2's bulk connection with its old one.
set seed 3352
set nodes 4
set faults 3s
set step 71ms
set reconnect 290ms
at 0s start n1
at 0.18s start n4
at 0.66s start hub
at 1s lose hub
at 1s start n2
at 2.7s start hub
