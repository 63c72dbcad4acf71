# layers.awk - what layers.sh and calls.sh share: the rows of the layers file, files as modules, arrows between modules
# and the circles they make.
#
# From the caller, by -v: rules (the layers file). A caller tells files with know_file before it asks for modules.

function glob(p) { # a pattern as a regular expression
	if (p !~ /[.*]/) return "^" p "(_[^/]*)?[.][^/.]*$"
	gsub(/\./, "[.]", p); gsub(/\*\*/, "\001", p); gsub(/\*/, "[^/]*", p); gsub("\001", ".*", p)
	return "^" p "$"
}

function complain(where, text) { printf "%s: %s\n", where, text; bad++ }

function read_rules(   line, n, w, i, any) {
	while ((getline line < rules) > 0) {
		sub(/#.*/, "", line)
		n = split(line, w, /[ \t]+/)
		if (n && w[n] == "") n--
		if (n == 0) continue
		if (w[1] == "only" || w[1] == "never") {
			any = ""
			for (i = 3; i <= n; i++) any = any (any == "" ? "" : "|") glob(w[i])
			limit_kind[++limits] = w[1]; limit_header[limits] = w[2]; limit_pattern[limits] = any
			continue
		}
		if (w[1] == "module") {
			for (i = 2; i <= n; i++) own[w[i]] = 1
			continue
		}
		for (i = 3; i <= n; i++) { pattern[++rows] = glob(w[i]); level[rows] = w[1] + 0; group[rows] = w[2]; folder[rows] = w[i] }
	}
	close(rules)
	if (!rows) complain(rules, "no rows, or not readable")
}

function row_of(file,   i) {
	if (!(file in known)) {
		known[file] = 0
		for (i = 1; i <= rows && !known[file]; i++) if (file ~ pattern[i]) known[file] = i
	}
	return known[file]
}

function stem(file) { sub(/[.][^.\/]*$/, "", file); return file }

function know_file(file) { stems[stem(file)] = 1 }

# The shortest of a, a_b, a_b_c that is a file of the folder itself; the longest that a module row names comes first.
function module_of(file,   dir, n, w, i, at) {
	if (file in module) return module[file]
	at = stem(file)
	dir = at; sub(/[^\/]*$/, "", dir)
	n = split(substr(at, length(dir) + 1), w, "_")
	while (at != dir && !(at in own)) if (!sub(/_[^_\/]*$/, "", at)) at = dir
	if (at != dir) return module[file] = at
	at = dir w[1]
	for (i = 2; i <= n && !(at in stems); i++) at = at "_" w[i]
	return module[file] = at
}

# An arrow between nodes, and the first line that shows it.
function arrow(from, to, why) {
	if (from == to || (from, to) in arrows) return
	arrows[from, to] = why
	if (!(from in node)) { node[from] = 1; nodes[++n_nodes] = from }
	if (!(to in node)) { node[to] = 1; nodes[++n_nodes] = to }
	targets[from] = targets[from] "\n" to
}

# The first target, in the order of the alphabet, that is still in.
function next_of(from,   n, t, i, best) {
	n = split(targets[from], t, "\n")
	best = ""
	for (i = 2; i <= n; i++) if (t[i] in in_circle && !((from, t[i]) in cut) && (best == "" || t[i] < best)) best = t[i]
	return best
}

# Leaves in in_circle what has a way on; returns the first of them, or nothing.
function peel(   i, left, again) {
	for (i = 1; i <= n_nodes; i++) in_circle[nodes[i]] = 1
	for (again = 1; again;) {
		again = 0
		for (i = 1; i <= n_nodes; i++)
			if (nodes[i] in in_circle && next_of(nodes[i]) == "") { delete in_circle[nodes[i]]; again = 1 }
	}
	left = ""
	for (i = 1; i <= n_nodes; i++) if (nodes[i] in in_circle && (left == "" || nodes[i] < left)) left = nodes[i]
	return left
}

# Prints a circle, then what circles are left without its last arrow, and so on; returns how many.
function print_circles(what,   at, n, i, seen, way, from) {
	for (n = 0; (at = peel()) != ""; n++) {
		split("", seen); split("", way)
		for (i = 1; !(at in seen); i++) { seen[at] = i; way[i] = at; at = next_of(at) }
		from = seen[at]
		way[i] = at
		printf "%s:\n", what
		for (i = from; i == from || way[i] != at; i++) printf "    %s -> %s  %s\n", way[i], way[i + 1], arrows[way[i], way[i + 1]]
		cut[way[i - 1], at] = 1
	}
	return n
}

function forget_arrows() {
	split("", arrows); split("", targets); split("", node); split("", nodes); split("", cut); n_nodes = 0
}
