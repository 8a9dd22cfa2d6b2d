# the hub of a tournament is lost before a node knows that its parameters were
# not taken, and has offered what it has learnt since
set seed 756
set nodes 7
set required 4
set faults 5s
set save 4201ms
set elements 420
set counts yes
set step 52ms
set delay-by 25ms
set job 810us
set late 2
set chunk 336B
set window 33B
set policy mean
set tournament 8
set fragments 4
set staleness 1000
at 0s start n5
at 0.59s start hub
at 2.34s start n2
at 3.15s start n6
at 3.27s start n7
at 4.7s lose hub
