/* record.h - records of one size from several processes through one pipe: a worker's to who gathers them.
 *
 * A record of at most PIPE_BUF bytes goes whole or not at all, so those of several writers do not mix. */
#ifndef NPUSIM_SIM_BASE_RECORD_H
#define NPUSIM_SIM_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

bool record_send(int fd, const void *record, size_t bytes); /* false: nobody reads, or the pipe fails */
bool record_receive(int fd, void *record, size_t bytes);    /* false: the end of all */

#endif
