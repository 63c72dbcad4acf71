/* mutant.h - how a planted fault is switched on, and where it is noted that it was reached.
 *
 * validate/tools/mutants.py includes this in the files of a copy of the tree in which it plants faults, and appends
 * mutant.c to one that every program links. NPUSIM_MUTANT is the number of the one fault that is on.
 * NPUSIM_MUTANT_SEEN is a file with a byte for each fault: 1 means reached, 2 that it would have made a difference there. */
#ifndef MUTANT_H
#define MUTANT_H

extern int mutant_on, mutant_records;
extern unsigned char *mutant_seen;

#define MUTANT_SEEN(k) (mutant_seen[k] = 3)
#define MUTANT(k)      (MUTANT_SEEN(k), mutant_on == (k))
/* `differs` has no side effects and may be evaluated at any time. */
#define MUTANT_IF(k, differs) \
	(mutant_seen[k] |= 1, mutant_records && (differs) ? (void)MUTANT_SEEN(k) : (void)0, mutant_on == (k))
/* A tenth more; of a whole number below ten, one more. */
#define MUTANT_MORE(x) ((x) + ((x) / 10 > 0 || (x) / 10 < 0 ? (x) / 10 : 1))

#endif
