/* starswitch-sim import and export: traces from and for other programs.
 *
 *     starswitch-sim import KIND FILE [-o OUT] [--node NAME] [--quantity WHAT]
 *     starswitch-sim export KIND FILE [-o OUT]
 *
 * FILE may be `-`, standard input; without -o the result goes to standard
 * output. What cannot be is one sentence on standard error. */
#ifndef SIM_MAIN_TRACE_H
#define SIM_MAIN_TRACE_H

/* Called with the words from "import" or "export" on, as main has them.
 * Return the exit code of the program. */
int sim_import(int argc, char **argv);
int sim_export(int argc, char **argv);

#endif
