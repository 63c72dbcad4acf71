/* units.h - which compute units there are: one row a unit (L2: plain data).
 *
 *   X(ID, name, CODE, code, area)
 *       resource RES_ID and arch/npu/unit_<name>.c, which defines `name_unit` and `name_schema`; `name` is its section in YAML,
 *       its block of the die and the prefix of its statistics; ISA_CODE is the instruction it is known by, printed as `code`;
 *       `area` says in `config area` what the block is
 *
 * A row and that file are all there is to a unit: mapper, cores, closed form, roofline, limits, report and configuration
 * walk this table, in its order. arch/README.md has the recipe. */
#ifndef NPUSIM_ARCH_UNITS_H
#define NPUSIM_ARCH_UNITS_H

/* clang-format off */
#define UNITS(X) \
	X(GEMV,   gemv,   GEMV,   gemv,   "GEMV units") \
	X(MATRIX, matrix, GEMM,   gemm,   "matrix units, or tensor cores") \
	X(IMC,    imc,    IMC,    imc,    "in-memory units") \
	X(VECTOR, vector, VECTOR, vector, "vector lanes, special functions, converters")
/* clang-format on */

#endif
