#include "sim/serve/preset.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"

#define FOLDER "configs/engine/"
#define MOST   (1000 * PS_MS)
#define TOKENS (1u << 24)

/* enum op_library */
static const char *const library_names[] = { "any", "flash2", "flash3", "flashinfer", "trtllm", "triton", NULL };

static const struct cfg_field fields[] = {
	CFG_STR(struct preset, name, "name", "", "the engine and its version", "the file"),
	CFG_PS(struct preset, step, "step", "0 ns", 0, MOST, NULL, "of the host, each step", "our choice: no host"),
	CFG_PS(struct preset, sequence, "sequence", "0 ns", 0, MOST, NULL, "the same for each sequence of it",
	       "our choice: no host"),
	CFG_BOOL(struct preset, ahead, "ahead", "false",
	         "the host prepares a step while the machine works on the one before", "our choice: no host"),
	CFG_PS(struct preset, request, "request", "0 ns", 0, MOST, NULL,
	       "from a request's arrival until the scheduler has it", "our choice: no host"),
	CFG_PS(struct preset, prompt_token, "prompt_token", "0 ns", 0, MOST, NULL,
	       "the same for each token of its prompt", "our choice: no host"),
	CFG_ENUM(struct preset, attention, "attention", "any", library_names,
	         "whose kernels attention over its cache takes on a GPU; any: the card's, as vLLM chooses",
	         "our choice"),
	CFG_BOOL(struct preset, mixed, "mixed", "false",
	         "one call has attention of a step's prompts and of what decodes beside them",
	         "our choice: each its own"),
	CFG_BOOL(struct preset, prefix, "prefix", "false", "blocks that were given up are found again", "our choice"),
	CFG_BOOL(struct preset, beside, "copies_beside", "false", "steps go on while a cache moves to another machine",
	         "our choice: by the machine"),
	CFG_U32(struct preset, max_batch, "max_batch", "256", 1, 65536, NULL, "sequences at a time", "our choice"),
	CFG_U32(struct preset, max_tokens, "max_tokens", "2048", 1, TOKENS, NULL, "tokens of a step", "our choice"),
	CFG_U32(struct preset, chunk, "chunk", "2048", 0, TOKENS, NULL, "of them prompts'; 0: prompts whole",
	        "our choice"),
	CFG_BOOL(struct preset, reserve_all, "reserve_all", "false", "blocks for all of an output before it is let in",
	         "our choice"),
	CFG_END
};

static int find_file(const char *name, char *path, unsigned size, struct err *e)
{
	char file[128];
	struct err none = ERR_INIT;

	snprintf(path, size, "%s", name);
	if (access(name, R_OK) == 0)
		return 0;
	snprintf(file, sizeof file, FOLDER "%.64s.yaml", name);
	if (!strchr(name, '/') && path_data(file, path, size, &none) == 0 && access(path, R_OK) == 0)
		return 0;
	return err_set(
		e, ERR_USAGE,
		"there is no engine '%.64s', for option '--engine': it is vllm, trtllm, sglang, none or a file like " FOLDER
		"vllm.yaml",
		name);
}

int preset_load(const char *name, struct preset *out, struct cfg **rows, struct err *e)
{
	static const struct cfg_section sections[] = { { "engine", fields, 0 }, { NULL, NULL, 0 } };
	char path[1024];
	struct yaml *y;
	int rc = -1;

	*rows = NULL;
	memset(out, 0, sizeof *out);
	if (find_file(name, path, sizeof path, e) < 0 || !(y = yaml_load(path, e)))
		return -1;
	if (yaml_root(y)->kind == YNODE_MAP && !yaml_root(y)->n) {
		err_set(e, ERR_CONFIG, "this describes no engine: nothing stands in it");
		err_at(e, path, 1, 0);
	} else if ((*rows = cfg_new(sections, out, e)))
		rc = cfg_read(*rows, y, yaml_root(y), NULL, e);
	yaml_free(y);
	return rc;
}
