# The run ends as its tournament does: those with other first parameters have
# made their last offer, and are not waited for.
set seed 4
set nodes 5
set faults 1s
set apart yes
