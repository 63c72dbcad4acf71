#include "arch/npu/unit.h"

#define OPS(id, name, code, insn, area) extern const struct unit_ops name##_unit;
UNITS(OPS)

#define ROW(id, name, code, insn, area) [UNIT_##id] = &name##_unit,
const struct unit_ops *const unit_table[UNIT_COUNT] = { UNITS(ROW) };

static int unit_add(struct stat_reg *st, enum res r, const char *busy, const char *work, uint64_t *busy_of,
                    uint64_t *work_of, struct err *e)
{
	if (stat_add(st, busy, "ps", "time the unit was busy", STAT_COUNT, &busy_of[r], e) < 0)
		return -1;
	return stat_add(st, work, "", "multiply-adds or element steps done", STAT_COUNT, &work_of[r], e);
}

int unit_add_stats(struct stat_reg *st, uint64_t *busy, uint64_t *work, struct err *e)
{
	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_ops *u = unit_table[i];

		if (unit_add(st, u->res, u->busy_stat, u->work_stat, busy, work, e) < 0)
			return -1;
	}
	return unit_add(st, RES_FUSION, "fusion.busy_ps", "fusion.stages", busy, work, e);
}
