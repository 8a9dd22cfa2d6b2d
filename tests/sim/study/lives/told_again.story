# Told twice of an exchange: its own chunks have one verdict, whatever is said
# of those outside of its fragment.
set seed 3248
set nodes 8
set faults 19s
set elements 17
set step 23ms
set delay-by 22ms
set chunk 16B
set window 1B
set fragments 3
set miss cut
at 0s start n8
at 0s start hub
at 18s cut n8
