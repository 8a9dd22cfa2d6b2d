/* What doctor has to know of this PC: its card, processor, memory and disk, as
 * the system shows them in /sys and /proc. What it does not show stays 0. */
#ifndef NODE_PROGRAM_THIS_PC_H
#define NODE_PROGRAM_THIS_PC_H

#include "node/program/doctor.h"

/* `save` is the file that parameters go to, or "". After link_test: the card is
 * that of the link. */
void this_pc(const char *save, struct doctor_facts *facts);

#endif
