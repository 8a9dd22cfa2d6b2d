# The founder holds rounded numbers of which the run before had more.
set seed 2286
set nodes 6
set save 4102ms
set tasks 27
set elements 288
set counts yes
set step 166ms
set delay-by 28ms
set reconnect 123ms
set liars 3
set lies 52
set chunk 288B
set budget 133B
set up 50KiB/s
set down 25KiB/s
set policy mean
set init hub
set fragments 4
set every 6
set delay 15
set codec-up raw
set codec-down int4
set staleness 1000
at 0s start n1
at 0.1s start n6
at 0.4s start hub
at 0.55s start n5
at 0.61s start n2
at 1.41s start n1
at 1.869s wipe hub
at 3.08s lose n6
at 3.149s start hub
at 3.9s start n4
at 4.5s lose n1
at 4.7s start n4
at 4s start n6
at 6.51s lose n6
at 11s start hub
