# what was in flight when a hub went was merged by it, and the next one has not got that, nor the disk
set seed 111006
set nodes 7
set faults 19s
set elements 84
set counts yes
set delay-by 33ms
set chunk 336B
set policy mean
set gate async
set init hub
set dylu yes
set every 4
set delay 0
set staleness 1000
at 12.6s start hub
at 13.5s start n1
at 13.507s start n6
at 13.507s start n7
at 15.339s wipe hub
at 17.1s start hub
at 17s cut n7
at 18.77s lose hub
