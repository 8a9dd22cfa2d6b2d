# Two offers are judged by different nodes, of which one is slow: the verdict of
# the later one is there first.
set seed 55681
set nodes 11
set reviews yes
set elements 6
set apart yes
set uneven yes
set delay-by 20ms
set chunk 8B
set policy async
set reduce verified
set miss wait
set wait 2483ms
at 0.2s start hub
at 2s start n6
