# man3.awk - npusim(3) from npusim.h: its first comment, then each part with its declarations and what is said of them.
function text(s) { gsub(/\\/, "\\e", s); sub(/^[.']/, "\\\\\\&&", s); gsub(/-/, "\\-", s); return s }
function open_code() { if (!code) print ".EX"; code = 1 }
function close_code() { if (code) print ".EE"; code = 0 }
BEGIN { print ".TH NPUSIM 3 \"\" npusim \"libnpusim\"\n.SH NAME\nnpusim \\- what a workload takes on an NPU or a GPU\n.SH SYNOPSIS\n.EX\n#include <npusim.h>\n.EE\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs npusim)\n.SH DESCRIPTION" }
NR == 1 { next }
!began { if (/\*\//) { began = 1; sub(/ *\*\/.*/, "") }
	sub(/^ \* ?/, "")
	if (/^  /) { open_code(); print text($0) } else { close_code(); print $0 == "" || $0 == " *" ? ".PP" : text($0) }
	if (began) close_code()
	next }
/^\/\* --- / { close_code(); s = $0; sub(/^\/\* --- /, "", s); sub(/ -+ \*\/$/, "", s); print ".SH " toupper(s); next }
/^#if|^#endif|^#define NPUSIM_API|^#define NPUSIM_H|^extern|^#include|^#else|^}$/ { next }
{ gsub(/NPUSIM_API /, "") }
comment || /^\/\*/ { if (!comment) { close_code(); print ".PP" }
	comment = !/\*\//
	sub(/^\/\* ?/, ""); sub(/^ \* ?/, ""); sub(/ *\*\/$/, ""); print text($0); next }
/./ { open_code(); print text($0) }
END { close_code(); print ".SH SEE ALSO\n.BR npusim (1)" }
