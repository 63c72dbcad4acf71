#!/bin/sh
# silicon.sh NPUSIM - NPUs against rows that others timed on them, in closed form: by data sheet, by ten rows of their own, and their
# roofline. LIST (workloads/ops/silicon/machines.csv) says what is held against what; tables lie beside it. A TPU's lie outside the
# project (SHARED/data/tpu).
set -eu

npusim=$1
list=${LIST:-workloads/ops/silicon/machines.csv}
folder=$(dirname "$list")
tpu=${SHARED:-../shared}/data/tpu

# errors CONFIG TABLE [SET]: rows, mean absolute error, bias, roofline's error, of a table in all
errors() {
	"$npusim" validate -c "$1" -t "$2" ${3:+-s "$3"} --fidelity analytic --worst 0 2>/dev/null |
		awk '$1 == "all" && !n++ { printf "%s|%.1f|%+.1f|%.1f", $2, $3, $6, $8 }'
}

# row MACHINE TABLE SHEET CALIBRATED PATH [SET]
row() {
	sheet=$(errors "$3" "$5" "${6:-}")
	[ -n "$sheet" ] || { echo "silicon.sh: '$3' against '$5' came to nothing" >&2; exit 1; }
	own=
	[ -z "$4" ] || own=$(errors "$4" "$5" "${6:-}")
	echo "$1|$2|$sheet|$own" | awk -F'|' '{ printf "%-15s %-28s %5d %8.1f %+8.1f %10s %10.1f\n", $1, $2, $3, $4, $5, $8 == "" ? "-" : $8, $6 }'
}

printf '%-15s %-28s %5s %8s %8s %10s %10s\n' machine table rows sheet bias 'ten rows' roofline
printf '%-15s %-28s %5s %8s %8s %10s %10s\n' --------------- ---------------------------- ----- -------- -------- ---------- ----------
grep -v '^#' "$list" | sed 1d | while IFS=, read -r machine sheet calibrated table set; do
	row "$machine" "${table%.csv}" "$sheet" "$calibrated" "$folder/$table" "$set"
done
absent=0
for t in v6e_ops v6e_sdpa; do
	[ -f "$tpu/$t.csv" ] || { absent=$((absent + 1)); continue; }
	row 'TPU v6e' "$t" tpu-v6e tpu-v6e-calibrated "$tpu/$t.csv"
done
echo
echo 'Mean absolute error in percent; bias by the sheet. Of ten rows the table has those ten too, but the TPU is fitted to all of its.'
[ "$absent" = 0 ] || echo "not run: $absent files absent"
