# The node that is to found the centre says HELLO once more, as the hub was
# slow to answer: it must be asked again, or everybody waits for ever.
set seed 8871
set nodes 6
set init hub
at 14s start hub
at 14s freeze hub
at 16s start n3
at 16.9s freeze n3
at 19s thaw hub
