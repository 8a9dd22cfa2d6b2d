# A founder that a hub, stopped for a while, asks again has sent by then what it
# was lent the first time.
set seed 55871
set nodes 4
set elements 5
set delay-by 32ms
set chunk 4B
set window 33B
set down 800B/s
set init hub
set codec-up raw
at 0.5s start hub
at 0s start n4
at 2s freeze n4
at 3s freeze hub
at 3s thaw n4
