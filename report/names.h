/* The end of --help: options alone do not know what there is. */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

/* Prints all codecs and policies on stdout. */
void names_print(void);

#endif
