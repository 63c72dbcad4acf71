#include "sim/ui/shells.h"

#include <stddef.h>
#include <string.h>

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

const char *shells_script(const char *shell)
{
	static const struct {
		const char *name, *text;
	} shells[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };

	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (strcmp(shell, shells[i].name) == 0)
			return shells[i].text;
	return NULL;
}
