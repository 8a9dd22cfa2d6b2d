# A wiped hub founds another run, and gives way to the former one: who went
# along takes that, and does not give twice what is merged there.
set seed 417
set nodes 11
set required 6
set faults 19s
set elements 132
set counts yes
set chunk 528B
set up 50KiB/s
set policy mean
set init hub
set staleness 1000
at 0.949s start n10
at 1.12s start n7
at 1.36s start n6
at 2.26s start n2
at 2.3s start n11
at 2.6s start n8
at 2.98s start hub
at 6s cut n8
at 6.447s cut n11
at 8.3s cut n7
at 12.03s cut n10
at 12s wipe hub
at 15.9s start hub
at 16s unplug n2
