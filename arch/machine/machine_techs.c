#include "arch/machine/machine_techs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine_techs {
	struct tech *tech;
	char node[CFG_STR_MAX];
	struct machine_techs *next;
};

const struct tech *machine_tech(struct machine_techs **kept, const struct source *from, const char *node, struct err *e)
{
	struct machine_techs *t;

	for (t = *kept; t; t = t->next)
		if (strcmp(t->node, node) == 0)
			return t->tech;
	if (!(t = calloc(1, sizeof *t))) {
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
		return NULL;
	}
	if (!(t->tech = tech_load_from(from, node, e))) {
		free(t);
		return NULL;
	}
	snprintf(t->node, sizeof t->node, "%s", node);
	t->next = *kept;
	return (*kept = t)->tech;
}

void machine_techs_free(struct machine_techs *t)
{
	while (t) {
		struct machine_techs *next = t->next;

		tech_free(t->tech);
		free(t);
		t = next;
	}
}
