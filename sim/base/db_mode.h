/* db_mode.h - how a database is opened: all that those need to know of SQLite who open one of ours (traces/db, results/db)
 * and ask it by functions. What stands behind is sim/base/db.h, which is not for them. */
#ifndef NPUSIM_SIM_BASE_DB_MODE_H
#define NPUSIM_SIM_BASE_DB_MODE_H

enum db_mode { DB_READ, DB_WRITE /* create if absent */ };

#endif
