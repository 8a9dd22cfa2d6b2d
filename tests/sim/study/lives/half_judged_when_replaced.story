# n2 has offered for 66 samples, and has seen 62 since it has its parameters
set seed 702347
set nodes 2
set required 2
set faults 4s
set elements 20
set step 49ms
set delay-by 33ms
set reconnect 995ms
set job 386us
set chunk 16B
set up 25KiB/s
set down 6400B/s
set policy best
set tournament 13
set every 7
set delay 17
at 0s start n1
at 0.2s start hub
at 2s freeze hub
at 2.159s start n2
at 2.38s thaw hub
at 3.36s crash hub
