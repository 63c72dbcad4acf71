/* version.c - the only object a new commit rebuilds: the Makefile passes commit and profile to this file alone. */
#include "sim/base/version.h"

#include <sqlite3.h>
#include <yajl/yajl_version.h>
#include <yaml.h>
#include <zlib.h>

#ifndef NPUSIM_COMMIT
#define NPUSIM_COMMIT "unknown"
#endif
#ifndef NPUSIM_PROFILE
#define NPUSIM_PROFILE "custom"
#endif

const char *npusim_version(void)
{
	return NPUSIM_VERSION;
}

const char *npusim_build_id(void)
{
	return NPUSIM_COMMIT " " NPUSIM_PROFILE;
}

void npusim_libraries(struct str *out)
{
	int yajl = yajl_version(); /* 20100 is 2.1.0 */

	str_addf(out, "libyaml %s, sqlite %s, ", yaml_get_version_string(), sqlite3_libversion());
	str_addf(out, "yajl %d.%d.%d, zlib %s", yajl / 10000, yajl / 100 % 100, yajl % 100, zlibVersion());
}
