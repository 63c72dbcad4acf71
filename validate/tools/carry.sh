#!/bin/sh
# carry.sh NPUSIM [--check] - the H200's fitted values, carried to the other configurations by the rule each source states:
# `KEY: {value: V, source: "the H200's A ... as cycles of the SM clock"}` keeps the ratio V to A while A follows the H200's.
# --check: nothing is written; exit 1 and the files' names where a value is not the H200's of today.
set -eu
npusim=$1 check=${2:-} rc=0
new=$(mktemp) && shown=$(mktemp)
trap 'rm -f "$new" "$shown"' EXIT
"$npusim" config show configs/gpu/h200.yaml >"$shown"
for file in configs/gpu/*.yaml; do
	[ "$file" != configs/gpu/h200.yaml ] || continue
	awk '
	function base(x, unit) {
		return x * (unit == "us" ? 1000 : unit == "TB/s" ? 1000 : 1)
	}
	function round4(x,    d) {
		d = 1
		while (x * d < 1000) d *= 10
		return (x >= 1000 ? sprintf("%.0f", x) : sprintf("%.0f", x * d) / d)
	}
	FNR == NR {
		if ($0 ~ /^[a-z]/) section = $1
		if ($0 ~ /^  [a-z0-9_]+: /) { split($0, w, " "); have[section w[1]] = base(w[2], w[3]) }
		next
	}
	/^[a-z]/ { section = $1 }
	/source: "the H200.s [0-9.]+ (ns|GB\/s|TB\/s) (as |of its |over this )/ && (section $1) in have {
		match($0, /the H200.s [0-9.]+ (ns|GB\/s|TB\/s)/)
		split(substr($0, RSTART, RLENGTH), w, " ")
		old = w[3]; unit = w[4]
		now = have[section $1] / base(1, unit)
		if (round4(now) != round4(old)) {
			split($0, v, /[ {},]+/)                     # "", key, value:, number, unit
			$0 = sprintf("  %s {value: %s %s, source: \"the H200\047s %s%s", v[2], round4(v[4] * now / old), v[5], round4(now),
			             substr($0, index($0, "the H200") + length("the H200\047s " old)))
		}
	}
	{ print }' "$shown" "$file" >"$new"
	cmp -s "$new" "$file" && continue
	if [ "$check" ]; then
		echo "$file does not carry the H200's values: make carry"
		rc=1
	else
		cat "$new" >"$file"
		echo "$file"
	fi
done
exit $rc
