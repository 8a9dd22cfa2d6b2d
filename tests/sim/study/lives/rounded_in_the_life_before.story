# What int8 had made of a chunk in the life before bears the number of a version
# whose values are on the disk: nobody keeps it as that.
set seed 32336
set nodes 10
set faults 8s
set step 192ms
set chunk 8B
set tournament 6
set fragments 3
at 0s start hub
at 1.8s start n10
at 5.3s start hub
at 7s start hub
