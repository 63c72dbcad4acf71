#include "sim/live/live_pack.h"

#include <string.h>

static void live_pack_at(char c, const struct ynode *n, struct str *out)
{
	str_addf(out, "%c%d %d", c, n->line, n->col);
}

static void scalar(const struct ynode *n, struct str *out)
{
	live_pack_at(n->quoted ? '"' : '\'', n, out);
	str_addf(out, " %zu %s\n", strlen(n->text), n->text);
}

/* As deep as yaml.h lets a tree be. */
void live_pack(const struct ynode *n, struct str *out)
{
	if (n->kind == YNODE_SCALAR) {
		scalar(n, out);
		return;
	}
	live_pack_at(n->kind == YNODE_MAP ? '(' : '[', n, out);
	str_add(out, "\n");
	for (size_t i = 0; i < n->n; i++) {
		if (n->kind == YNODE_MAP)
			scalar(n->keys[i], out);
		live_pack(n->vals[i], out);
	}
	live_pack_at(n->kind == YNODE_MAP ? ')' : ']', n, out);
	str_add(out, "\n");
}
