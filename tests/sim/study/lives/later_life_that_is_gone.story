# its disk is lost while who knows a later life is away: that one comes back in
set seed 701145
set faults 16s
set elements 108
set counts yes
set delay-by 21ms
set chunk 144B
set policy mean
set init hub
set staleness 1000
at 0s start n2
at 0.9s start hub
at 3s wipe hub
at 3s start hub
at 10s start hub
at 12s lose hub
at 14s start hub
at 15.8s lose hub
