# the last offer of somebody else is never all there, and a save that is due
# waits for it: nobody else's last offer was asked for meanwhile
set seed 28137
set nodes 8
set save 628ms
set elements 192
set counts yes
set step 195ms
set delay-by 6ms
set lost 16
set reconnect 985ms
set liars 4
set chunk 384B
set policy mean
set gate async
set init hub
set fragments 3
set dylu yes
set every 5
set codec-up raw
set staleness 1000
at 2.79s start n5
at 3.3s start n2
at 3.44s start n1
at 3.6s start n6
at 3.9s start n4
at 4.296s start n3
at 4.296s start n5
at 7.834s start n3
at 7.834s start n6
at 7.834s start n8
at 8.5s start hub
at 8.5s start n3
at 8.76s start n2
at 9.28s crash hub
at 10s crash n1
at 10s start hub
at 10.8s start n2
at 10.846s start n3
at 10s start n4
at 10.84s start n8
at 11s crash n3
at 11.22s crash n4
at 11.22s crash n8
at 11.7s lose hub
at 12.6s start n5
at 12.7s start n1
at 12.82s start hub
at 13.98s start n7
at 14.2s crash hub
at 14.3s start n6
at 14.8s crash n1
at 14.8s crash n2
at 14.8s crash n5
at 14.8s crash n6
at 16.302s start n1
at 16.302s start n3
at 16.302s start n4
at 16.302s start n6
at 18.7s lose n1

