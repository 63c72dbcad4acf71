#include "sim/report/launches.h"

#include <inttypes.h>

#define CSV_HEAD \
	"launch,kind,name,start_ns,dur_ns,device,context,stream,correlation,grid_x,grid_y,grid_z,block_x," \
	"block_y,block_z,cluster_x,cluster_y,cluster_z,registers,static_smem,dynamic_smem,bytes,op," \
	"host_start_ns,host_dur_ns\n"

void launches_head(struct outfile *to)
{
	str_add(&to->text, CSV_HEAD);
}

int launches_rows(struct outfile *s, const struct trace *x, struct err *e)
{
	static const char *const kinds[] = {
		[TRACE_KERNEL] = "kernel", [TRACE_MEMCPY] = "copy", [TRACE_MEMSET] = "set"
	};

	for (size_t i = 0; i < x->n_launches; i++) {
		const struct trace_launch *l = &x->launches[i];

		str_addf(&s->text, "%" PRId64 ",%s,", l->id, kinds[l->kind]);
		str_add_cell(&s->text, l->name);
		str_addf(&s->text, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, l->start_ns,
		         l->dur_ns, l->device, l->context, l->stream, l->correlation);
		for (int k = 0; k < 9; k++)
			str_addf(&s->text, ",%u", k < 3 ? l->grid[k] : k < 6 ? l->block[k - 3] : l->cluster[k - 6]);
		str_addf(&s->text, ",%u,%" PRIu64 ",%" PRIu64 ",", l->registers, l->smem_static, l->smem_dynamic);
		if (l->bytes >= 0)
			str_addf(&s->text, "%" PRId64, l->bytes);
		str_addc(&s->text, ',');
		if (l->op)
			str_add_cell(&s->text, l->op->name);
		if (l->host_start_ns >= 0)
			str_addf(&s->text, ",%" PRId64 ",%" PRId64 "\n", l->host_start_ns, l->host_dur_ns);
		else
			str_add(&s->text, ",,\n");
		if (outfile_flush(s, e) < 0)
			return -1;
	}
	return 0;
}
