#include "sim/accuracy/accuracy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "sim/base/version.h"
#include "sim/base/yaml.h"

#define DEFAULT     "configs/accuracy/h200.yaml"
#define MAX_CLASSES 200

static int accuracy_real(const struct yaml *y, const struct ynode *map, const char *key, double *out, struct err *e)
{
	const struct ynode *n = ynode_get(map, key);

	return n ? yaml_real(y, n, out, e) : yaml_err(y, map, e, "'%s' is missing", key);
}

static int score(const struct yaml *y, const struct ynode *n, struct score *s, struct err *e)
{
	uint64_t count;

	if (n->kind != YNODE_MAP)
		return yaml_err(y, n, e, "a class is a mapping");
	if (!ynode_get(n, "n"))
		return yaml_err(y, n, e, "'n' is missing");
	if (yaml_u64(y, ynode_get(n, "n"), 1, UINT32_MAX, &count, e) < 0 ||
	    accuracy_real(y, n, "mape", &s->mape, e) < 0 || accuracy_real(y, n, "median_ape", &s->median_ape, e) < 0 ||
	    accuracy_real(y, n, "p90_ape", &s->p90_ape, e) < 0 || accuracy_real(y, n, "bias", &s->bias, e) < 0 ||
	    accuracy_real(y, n, "weighted_ape", &s->weighted_ape, e) < 0)
		return -1;
	s->n = count;
	return 0;
}

static int accuracy_read_file(const struct yaml *y, struct arena *a, struct accuracy *out, struct err *e)
{
	const struct ynode *all = ynode_get(yaml_root(y), "all"), *list = ynode_get(yaml_root(y), "classes");

	if (yaml_root_text(y, "device", a, &out->device, e) < 0 ||
	    yaml_root_text(y, "config", a, &out->config, e) < 0 || yaml_root_text(y, "split", a, &out->split, e) < 0 ||
	    yaml_root_text(y, "build", a, &out->build, e) < 0 || yaml_root_text(y, "model", a, &out->model, e) < 0 ||
	    yaml_root_text(y, "digest", a, &out->digest, e) < 0)
		return -1;
	if (!all || !list || list->kind != YNODE_SEQ || list->n > MAX_CLASSES)
		return yaml_err(y, yaml_root(y), e, "an accuracy file has 'all' and 'classes', a list of at most %d",
		                MAX_CLASSES);
	if (score(y, all, &out->all, e) < 0)
		return -1;
	if (!(out->classes = arena_array(a, list->n + 1, sizeof *out->classes)))
		return err_nomem(e, NULL);
	for (; out->n < list->n; out->n++) {
		const struct ynode *n = list->vals[out->n], *name = ynode_get(n, "class");
		const char *s;

		if (!name)
			return yaml_err(y, n, e, "a class without 'class'");
		if (yaml_str(y, name, &s, e) < 0 || score(y, n, &out->classes[out->n], e) < 0)
			return -1;
		out->classes[out->n].cls = arena_strdup(a, s);
	}
	return 0;
}

int accuracy_load(const char *path, struct arena *a, struct accuracy *out, struct err *e)
{
	return accuracy_load_from(&path_source, path, a, out, e);
}

int accuracy_load_from(const struct source *from, const char *path, struct arena *a, struct accuracy *out,
                       struct err *e)
{
	char found[512];
	struct yaml *y;
	int rc;

	memset(out, 0, sizeof *out);
	if (!path && !source_find(from, DEFAULT, found, sizeof found))
		return 0;
	if (!(y = from->read(from, path ? path : found, e)))
		return -1;
	rc = accuracy_read_file(y, a, out, e);
	yaml_free(y);
	return rc < 0 ? -1 : 1;
}

static void write_score(const struct score *s, struct str *out)
{
	str_addf(out, "n: %zu, mape: %.2f, median_ape: %.2f, p90_ape: %.2f, bias: %.2f, weighted_ape: %.2f}\n", s->n,
	         s->mape, s->median_ape, s->p90_ape, s->bias, s->weighted_ape);
}

void accuracy_write(const struct accuracy *acc, struct str *out)
{
	str_addf(out,
	         "# Written by npusim validate: how far simulated kernel times lie from measured ones, percent.\n"
	         "# npusim run tells it with every answer.\n"
	         "device: %s\nconfig: %s\nsplit: %s\nbuild: %s\nmodel: \"%s\"\ndigest: \"%s\"\n",
	         acc->device, acc->config, acc->split, acc->build, acc->model, acc->digest);
	str_add(out, "all: {");
	write_score(&acc->all, out);
	str_add(out, "classes:\n");
	for (size_t i = 0; i < acc->n; i++) {
		str_addf(out, "- {class: %s, ", acc->classes[i].cls);
		write_score(&acc->classes[i], out);
	}
}

void accuracy_model(uint64_t config_hash, uint64_t kernels_hash, char out[17])
{
	hash_hex(hash_u64(hash_u64(hash_str(HASH_INIT, npusim_gpu_model()), config_hash), kernels_hash), out);
}

const struct score *accuracy_of(const struct accuracy *acc, const char *cls)
{
	for (size_t i = 0; i < acc->n; i++)
		if (strcmp(acc->classes[i].cls, cls) == 0)
			return &acc->classes[i];
	return NULL;
}
