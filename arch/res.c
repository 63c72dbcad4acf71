#include "arch/res.h"

#define BLOCK(id, name)                  [RES_##id] = #name,
#define UNIT(id, name, code, insn, area) [RES_##id] = #name,

const char *res_name(enum res r)
{
	static const char *const names[] = { RESOURCES(BLOCK, UNIT) };

	_Static_assert(sizeof names / sizeof *names == RES_COUNT, "a name for every resource");
	return (unsigned)r < RES_COUNT ? names[r] : "?";
}
