/* completion.c - npusim completion: scripts for shells, and the question they ask: which words may stand here.
 *
 * The scripts know nothing: at every key they ask `npusim completion query -- WORD...`, so what is completed is what
 * this build's tables say. The answer is a line a candidate, WORD<tab>HELP, or one line ":files" with the endings of
 * the files that are wanted. */
#define _POSIX_C_SOURCE 200809L /* scandir */
#include "sim/cli/cmd.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "arch/machine/machine_cfg.h"
#include "sim/base/path.h"
#include "traces/db/tracedb_sum.h"

/* --- the scripts ------------------------------------------------------------------------------------------- */

static const char bash_script[] =
	"# bash completion of npusim; put it where bash-completion looks, or: source <(npusim completion bash)\n"
	"_npusim() {\n"
	"\tlocal line word kind before= i=$COMP_CWORD\n"
	"\tCOMPREPLY=()\n"
	"\t# bash breaks words at '=': what stands before the last of them is not to be written again.\n"
	"\tif [[ ${COMP_WORDS[i]} == \"=\" ]]; then before=${COMP_WORDS[i-1]}=; ((i--)); fi\n"
	"\twhile ((i > 1)) && [[ ${COMP_WORDS[i-1]} == \"=\" ]]; do before=${COMP_WORDS[i-2]}=$before; ((i -= 2)); "
	"done\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tif [[ $line == :files* ]]; then\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\tword=${COMP_WORDS[COMP_CWORD]}\n"
	"\t\t\t[[ $word == \"=\" ]] && word=\n"
	"\t\t\tfor kind in ${line#:files}; do\n"
	"\t\t\t\twhile IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -X \"!*.$kind\" -- "
	"\"$word\")\n"
	"\t\t\tdone\n"
	"\t\t\tif [[ -n $kind ]]; then\n"
	"\t\t\t\twhile IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -d -- \"$word\")\n"
	"\t\t\telse\n"
	"\t\t\t\twhile IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- \"$word\")\n"
	"\t\t\tfi\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tword=${line%%$'\\t'*}\n"
	"\t\t[[ $word == *= ]] && compopt -o nospace 2>/dev/null\n"
	"\t\tCOMPREPLY+=(\"${word#\"$before\"}\")\n"
	"\tdone < <(\"${COMP_WORDS[0]}\" completion query -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	"}\n"
	"complete -F _npusim npusim\n";

static const char zsh_script[] =
	"#compdef npusim\n"
	"# zsh completion of npusim; as _npusim in a folder of fpath, or: source <(npusim completion zsh)\n"
	"_npusim() {\n"
	"\tlocal line word\n"
	"\tlocal -a kinds open plain texts\n"
	"\tfor line in \"${(@f)$(\"${(Q)words[1]}\" completion query -- \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\"; "
	"do\n"
	"\t\tword=${line%%$'\\t'*}\n"
	"\t\tcase $line in\n"
	"\t\t:files) _files; return ;;\n"
	"\t\t:files\\ *) kinds=(${=line#:files}); _files -g \"*.(${(j:|:)kinds})(-.)\"; return ;;\n"
	"\t\t'') ;;\n"
	"\t\t*) if [[ $word == *= ]]; then open+=(\"$word\"); else plain+=(\"$word\"); texts+=(\"$word  "
	"${line#*$'\\t'}\"); fi ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(( $#open )) && compadd -S '' -a open\n"
	"\t(( $#plain )) && compadd -l -d texts -a plain\n"
	"}\n"
	"if (( $+functions[compdef] )); then compdef _npusim npusim; fi\n"
	"[[ ${funcstack[1]} == _npusim ]] && _npusim \"$@\"\n"
	"return 0\n";

static const char fish_script[] =
	"# fish completion of npusim; as npusim.fish in a folder of completions, or: npusim completion fish | source\n"
	"function __npusim_words\n"
	"\tset -l words (commandline -opc) (commandline -ct)\n"
	"\tfor line in ($words[1] completion query -- $words[2..-1] 2>/dev/null)\n"
	"\t\tif string match -q ':files*' -- $line\n"
	"\t\t\tset -l kinds (string split -n ' ' -- $line)[2..-1]\n"
	"\t\t\ttest (count $kinds) -eq 0; and __fish_complete_path (commandline -ct)\n"
	"\t\t\tfor kind in $kinds\n"
	"\t\t\t\t__fish_complete_suffix .$kind\n"
	"\t\t\tend\n"
	"\t\telse\n"
	"\t\t\techo $line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c npusim -f -a '(__npusim_words)'\n";

/* --- the question ------------------------------------------------------------------------------------------ */

struct words {
	char **v;
	int n;
};

/* bash breaks words at '=', and hands on a quote that is not closed yet. */
static int completion_join(const struct opt_list *args, struct words *w, struct err *e)
{
	bool glue = false;

	if (!(w->v = calloc((size_t)args->n + 1, sizeof *w->v)))
		return err_nomem(e, "for the words");
	for (int i = 1; i < args->n; i++) {
		const char *word = args->v[i];
		const bool eq = strcmp(word, "=") == 0;
		char *old = w->n ? w->v[w->n - 1] : NULL;
		struct str text = STR_INIT;

		if ((*word == '\'' || *word == '"') && !strchr(word + 1, *word))
			word++;
		if (old && (eq || glue)) {
			str_add(&text, old);
			free(old);
			w->n--;
		}
		str_add(&text, word);
		w->v[w->n++] = text.p ? text.p : calloc(1, 1);
		if (text.failed || !w->v[w->n - 1])
			return err_nomem(e, "for the words");
		glue = eq;
	}
	if (w->n == 0 && !(w->v[w->n++] = calloc(1, 1)))
		return err_nomem(e, "for the words");
	return 0;
}

static void words_free(struct words *w)
{
	for (int i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
}

static void candidate(const char *before, const char *word, const char *tail, const char *typed, const char *help,
                      struct str *out)
{
	if (str_prefix(word, typed))
		str_addf(out, "%s%s%s\t%s\n", before, word, tail, help);
}

static bool ends(const char *text, size_t n, const char *with)
{
	const size_t m = strlen(with);

	return n >= m && memcmp(text + n - m, with, m) == 0;
}

static int completion_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* The memories that come with npusim. */
static void dram_kinds(const char *before, const char *typed, struct str *out)
{
	struct err none = ERR_INIT;
	struct dirent **files;
	char dir[512];
	int n;

	candidate(before, "fixed", "", typed, "a rate and a latency, nothing else", out);
	if (path_data("configs/dram", dir, sizeof dir, &none) < 0 ||
	    (n = scandir(dir, &files, NULL, completion_by_name)) < 0)
		return;
	for (int i = 0; i < n; i++) {
		const size_t len = strlen(files[i]->d_name);

		if (ends(files[i]->d_name, len, ".yaml")) {
			files[i]->d_name[len - strlen(".yaml")] = '\0';
			candidate(before, files[i]->d_name, "", typed, "configs/dram", out);
		}
		free(files[i]);
	}
	free(files);
}

/* "l2.size=": what may follow, where that is one of a few. */
static void key_values(const struct cfg *c, size_t i, const char *before, const char *typed, struct str *out)
{
	const struct cfg_row r = cfg_at(c, i);
	struct str whole = STR_INIT;

	str_addf(&whole, "%s%s=", before, r.key);
	if (!whole.failed && r.field->type == CFG_T_ENUM)
		for (const char *const *n = r.field->names; *n; n++)
			candidate(str_c(&whole), *n, "", typed, r.field->help, out);
	else if (!whole.failed && r.field->type == CFG_T_BOOL)
		for (int k = 0; k < 2; k++)
			candidate(str_c(&whole), k ? "true" : "false", "", typed, r.field->help, out);
	else if (!whole.failed && strcmp(r.key, "dram.kind") == 0)
		dram_kinds(str_c(&whole), typed, out);
	out->failed |= whole.failed;
	str_free(&whole);
}

/* Has one of the first `n` kinds of machine this key? */
static bool had(struct cfg *const *kinds, int n, const char *key)
{
	for (int k = 0; k < n; k++) {
		struct err none = ERR_INIT;
		size_t there;

		if (cfg_find(kinds[k], key, &there, &none) == 0)
			return true;
	}
	return false;
}

/* Keys of all kinds of machine; those that several have once. */
static int keys(const char *before, const char *typed, bool values, struct str *out, struct err *e)
{
	const char *eq = strchr(typed, '=');
	struct machine_cfg target[MACHINE_KINDS];
	struct cfg *kinds[MACHINE_KINDS] = { NULL };
	int made = 0;

	while (made < MACHINE_KINDS && (kinds[made] = machine_schema(&target[made], (enum machine_kind)made, e)))
		made++;
	for (int k = 0; made == MACHINE_KINDS && k < made; k++) {
		for (size_t i = 0; i < cfg_count(kinds[k]); i++) {
			const struct cfg_row r = cfg_at(kinds[k], i);

			if (had(kinds, k, r.key))
				continue;
			if (!eq)
				candidate(before, r.key, values ? "=" : "", typed, r.field->help, out);
			else if (values && strlen(r.key) == (size_t)(eq - typed) && str_prefix(typed, r.key))
				key_values(kinds[k], i, before, eq + 1, out);
		}
	}
	for (int k = 0; k < made; k++)
		cfg_free(kinds[k]);
	return made == MACHINE_KINDS ? 0 : -1;
}

struct typed {
	const char *before, *text;
	struct str *out;
};

static int range_name(void *arg, const char *name, struct err *e)
{
	const struct typed *t = arg;

	(void)e;
	candidate(t->before, name, "", t->text, "annotation", t->out);
	return 0;
}

/* Ranges of the first trace database among the words; none where it cannot be read. */
static void ranges(const struct words *w, const char *before, const char *typed, struct str *out)
{
	struct typed x = { before, typed, out };
	struct err none = ERR_INIT;
	struct tracedb *t = NULL;

	for (int i = 0; i < w->n && !t; i++) {
		err_clear(&none);
		if (ends(w->v[i], strlen(w->v[i]), ".db"))
			t = tracedb_open(w->v[i], DB_READ, &none);
	}
	if (t)
		tracedb_range_names(t, typed, 500, range_name, &x, &none);
	tracedb_free(t);
}

static void files(const char *kind, size_t n, struct str *out)
{
	if (ends(kind, n, ".db"))
		str_add(out, ":files db\n");
	else if (ends(kind, n, ".yaml") || ends(kind, n, "CONFIG"))
		str_add(out, ":files yaml yml\n");
	else if (ends(kind, n, ".json"))
		str_add(out, ":files json\n");
	else if (ends(kind, n, ".csv"))
		str_add(out, ":files csv\n");
	else if (ends(kind, n, "FILE") || ends(kind, n, "COMMAND"))
		str_add(out, ":files\n");
}

/* "@KIND<tab>BEFORE" of opt_complete. */
static int of_kind(const struct words *w, const char *line, struct str *out, struct err *e)
{
	const char *kind = line + 1, *tab = strchr(kind, '\t'), *typed = w->v[w->n - 1];
	const size_t n = tab ? (size_t)(tab - kind) : strlen(kind);
	struct str before = STR_INIT;
	int rc = 0;

	if (tab)
		str_addn(&before, tab + 1, strcspn(tab + 1, "\n"));
	if (before.failed)
		rc = err_nomem(e, "for the words");
	else if (str_prefix(kind, "KEY"))
		rc = keys(str_c(&before), typed + before.len, str_prefix(kind, "KEY=VALUE"), out, e);
	else if (n == 4 && str_prefix(kind, "NAME"))
		ranges(w, str_c(&before), typed + before.len, out);
	else
		files(kind, n, out);
	str_free(&before);
	return rc;
}

static int completion_ask(const struct cmd *c, const struct words *w, int from, struct str *out, struct err *e)
{
	char asked[] = CMD_ASK_COMPLETE, **argv = calloc((size_t)w->n + 2, sizeof *argv);
	struct str text = STR_INIT;
	int rc;

	if (!argv)
		return err_nomem(e, "for the words");
	argv[0] = w->v[from - 1];
	argv[1] = asked;
	for (int i = from; i < w->n; i++)
		argv[2 + i - from] = w->v[i];
	rc = c->run(2 + w->n - from, argv, &text, e);
	if (rc == 0 && *str_c(&text) == '@')
		rc = of_kind(w, str_c(&text), out, e);
	else
		str_add(out, str_c(&text));
	out->failed |= text.failed;
	str_free(&text);
	free(argv);
	return rc;
}

static int query(const struct cmd *table, const struct words *w, struct str *out, struct err *e)
{
	const struct cmd *c;
	int i = 0;

	if (w->n > 1 && strcmp(w->v[0], "help") == 0)
		i++;
	for (; table && i < w->n - 1; i++) {
		for (c = table; c->name && strcmp(c->name, w->v[i]) != 0; c++)
			;
		if (!c->name)
			return 0;
		if (!(table = c->sub))
			return strcmp(w->v[0], "help") == 0 ? 0 : completion_ask(c, w, i + 1, out, e);
	}
	for (c = table; c && c->name; c++)
		candidate("", c->name, "", w->v[i], c->help, out);
	if (i == 0) {
		candidate("", "help", "", w->v[0], "what a command does, its options, and examples", out);
		if (*w->v[0] == '-')
			candidate("", "--version", "", w->v[0], "which build this is", out);
	}
	return 0;
}

/* --- the command ------------------------------------------------------------------------------------------- */

static int completion(const struct cmd *all, const struct opt_list *args, struct str *out, struct err *e)
{
	static const struct {
		const char *name, *text;
	} shells[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };
	struct words w = { NULL, 0 };
	int rc;

	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (args->n == 1 && strcmp(args->v[0], shells[i].name) == 0) {
			str_add(out, shells[i].text);
			return 0;
		}
	if (strcmp(args->v[0], "query") != 0)
		return err_set(e, ERR_USAGE, "no completion for '%s': there is bash, zsh and fish",
		               args->n > 1 ? args->v[1] : args->v[0]);
	if ((rc = completion_join(args, &w, e)) == 0)
		rc = query(all, &w, out, e);
	words_free(&w);
	return rc;
}

int cmd_completion(const struct cmd *all, int argc, char **argv, struct str *out, struct err *e)
{
	const struct opt opts[] = { { .type = OPT_END, .arg = OPT_ARGS_WORDS } };
	const struct opt_cmd cmd = {
		"npusim completion (bash|zsh|fish)",
		"Prints a script that lets a shell complete commands, options, their values, parameters of machines "
		"after"
		" --set, ranges of the trace that the line names, and files of the right kind. 'make install' puts the"
		" scripts where the shells look. They ask 'npusim completion query -- WORD...' at every key, so a "
		"script"
		" need not be renewed with npusim.",
		"source <(npusim completion bash)\n"
		"npusim completion zsh >~/.zfunc/_npusim\n"
		"npusim completion fish >~/.config/fish/completions/npusim.fish\n"
		"npusim completion query -- run --set l2.policy=\n",
		opts,
		1,
		-1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = completion(all, &args, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
