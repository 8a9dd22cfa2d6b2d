# Encoded chunks differ in size; what overtakes the last one is within credit.
set seed 203
set nodes 7
set elements 9
set bias yes
set late 7
set chunk 12B
set window 17B
