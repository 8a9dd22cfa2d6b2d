# n3's exchange 3 chunk 1 is merged, and was lost
set seed 107848
set nodes 5
set save 1500ms
set elements 5
set uneven yes
set step 162ms
set delay-by 25ms
set lost 24
set reconnect 1s
set job 604us
set chunk 4B
set window 17B
set budget 48B
set up 6400B/s
set down 3200B/s
set init hub
set fragments 2
set every 2
set delay 5
set miss cut
set codec-up top10
set codec-down raw
at 0s start n1
at 0.1s start n4
at 0.28s start hub
at 0.8s start n2
at 1s start n5
at 2s crash n2
at 2.3s start n2
at 3.068s start n3
at 3.45s lose n1
at 3.4s lose n2
at 3.4s lose n3
at 3.4s lose n4
at 3.45s lose n5
at 4s start n1
at 4.531s start n2
at 4.531s start n3
at 4.531s start n5
at 6.3s lose n1
at 6.37s lose n2
at 6.37s lose n3
at 6.3s lose n5
at 6.9s start hub
at 8.2s start n1
at 8.2s start n2
at 8.2s start n3
at 8.2s start n4
at 8.2s start n5
at 9s lose n1
at 9s lose n2
at 9s lose n3
at 9s lose n5
at 10.286s start n2
at 9.890s start n3
at 10.286s start n4
at 10.286s start n5
at 11s lose n2
at 11.1s lose n3
at 11s lose n4
at 10.9s lose n5
at 11.946s start n1
at 11.78s start n2
at 11.9s start n3
at 11.887s start n4
at 11.93s start n5
at 15.4s start hub
at 15.8s start n4
