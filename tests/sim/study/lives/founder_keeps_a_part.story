# who is to give the first parameters keeps a part of them to itself
set seed 20124
set faults 11s
set delay-by 24ms
set liars 1
set lies 47
set chunk 12B
set policy easgd-async
at 0s start hub
at 0.559s start n3
at 1s crash hub
at 2s lose n3
at 2s start hub
at 2.9s freeze hub
at 6.5s start n3
at 6.54s cut n3
at 7.4s repair n3
at 7s start n2
at 8s lose n3
at 10s cut n2
