# Under --down a grant waits its turn: the verdict of an offer comes seconds after
# that of a later one.
set seed 8329
set saves no
set tasks 3
set task-steps 10
set elements 6
set step 124ms
set lost 12
set late 8
set chunk 8B
set window 65B
set down 400B/s
set policy downpour
set every 1
set miss skip
set codec-up raw
set evaluate 3766ms
at 0s start hub
at 2s freeze hub
at 3.053s start n2
at 4.27s thaw hub
at 5.1s start n1
at 5.12s start n3
at 7.4s unplug n2
