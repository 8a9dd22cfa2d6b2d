# A result of the hub that was killed comes after its node has said HELLO to the
# next one, which gets the credit for it.
set seed 9919
set nodes 2
set faults 4s
set step 23ms
set reconnect 114ms
set late 6
set chunk 8B
set policy soup
set every 4
set codec-down raw
at 0s start n1
at 0s start n2
at 0.64s start hub
at 3s start hub
