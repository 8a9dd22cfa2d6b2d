# what signs have taken from a number its founder has less of it
set seed 59025
set faults 11s
set save 4385ms
set tasks 3
set elements 192
set uneven yes
set counts yes
set step 25ms
set delay-by 31ms
set reconnect 962ms
set late 7
set chunk 192B
set window 17B
set policy mean
set tournament 6
set codec-down sign
set staleness 1000
at 0s start n1
at 0.1s start hub
at 2s lose hub
at 2.1s start n2
at 2.67s start n3
at 3s cut n3
at 5s start hub
at 8s repair n3
at 10.08s start hub
