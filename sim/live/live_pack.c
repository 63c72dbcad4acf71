#include "sim/live/live_pack.h"

#include <string.h>

/* Lines as steps from the last one: most are 0 or 1, and pack to a third less. */
static void live_pack_at(char c, const struct ynode *n, int *line, struct str *out)
{
	str_addf(out, "%c%d %d", c, n->line - *line, n->col);
	*line = n->line;
}

static void scalar(const struct ynode *n, int *line, struct str *out)
{
	live_pack_at(n->quoted ? '"' : '\'', n, line, out);
	str_addf(out, " %zu %s\n", strlen(n->text), n->text);
}

/* As deep as yaml.h lets a tree be. */
static void pack(const struct ynode *n, int *line, struct str *out)
{
	if (n->kind == YNODE_SCALAR) {
		scalar(n, line, out);
		return;
	}
	live_pack_at(n->kind == YNODE_MAP ? '(' : '[', n, line, out);
	str_add(out, "\n");
	for (size_t i = 0; i < n->n; i++) {
		if (n->kind == YNODE_MAP)
			scalar(n->keys[i], line, out);
		pack(n->vals[i], line, out);
	}
	live_pack_at(n->kind == YNODE_MAP ? ')' : ']', n, line, out);
	str_add(out, "\n");
}

void live_pack(const struct ynode *n, struct str *out)
{
	int line = 0;

	pack(n, &line, out);
}
