#include "arch/isa.h"

#define CODE(code, name)           [ISA_##code] = #name,
#define UNIT(id, unit, code, name) [ISA_##code] = #name,

const char *isa_code_name(enum isa_code c)
{
	static const char *const names[] = { ISA_CODES(CODE, UNIT) };

	_Static_assert(sizeof names / sizeof *names == ISA_COUNT, "a name for every instruction");
	return (unsigned)c < ISA_COUNT ? names[c] : "?";
}
