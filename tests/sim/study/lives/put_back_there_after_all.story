# its disk is lost, one is to give again what was merged, and who keeps a version that has it comes back later
set seed 703665
set nodes 2
set required 2
set elements 144
set counts yes
set chunk 144B
set policy mean
set init hub
set staleness 1000
at 4s start hub
at 6s start n1
at 9s cut n1
at 9s start n2
at 13s wipe hub
at 15s repair n1
at 16.5s start hub
at 17s cut n2
at 19s wipe hub
