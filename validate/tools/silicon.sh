#!/bin/sh
# silicon.sh NPUSIM [decode] - NPUs against rows that others timed on them, in closed form: by data sheet, by twins that were fitted to
# few rows of their own (these rows and the others apart), and their roofline; then decode of whole models beside published rates. LIST (workloads/ops/silicon/machines.csv) says what is held
# against what; tables lie beside it, and rates in decode.csv. A TPU's lie outside the project (SHARED/data/tpu). `decode`: the rates
# alone, as a page's table.
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

# apart CONFIG MACHINE TABLE FITTED: of a table's rows, those that a configuration was fitted to and those that it was not
apart() {
	case $4 in
	all) errors "$1" "$3" | awk -F'|' '{ printf "%s (%d)|-", $2, $1 }' ;;
	'') errors "$1" "$3" | awk -F'|' '{ printf "-|%s (%d)", $2, $1 }' ;;
	*)
		# shellcheck disable=SC2046
		set -- "$1" "$2" "$3" "$4" $(awk -F, -v m="$2" -v f="$4" -v d="$folder/" '$1 == m && $6 == f { print "-t " d $4 }' "$list")
		config=$1 table=$3 taken=${4#*:}
		shift 4
		"$npusim" validate -c "$config" "$@" --taken "$taken" --fidelity analytic --worst 0 2>/dev/null |
			awk -v t="$table" '$1 == t { v[$2] = sprintf("%.1f (%d)", $4, $3) }
				END { printf "%s|%s", v["yes"] ? v["yes"] : "-", v["no"] ? v["no"] : "-" }'
		;;
	esac
}

# row MACHINE TABLE SHEET CALIBRATED PATH SET FITTED
row() {
	sheet=$(errors "$3" "$5" "$6")
	[ -n "$sheet" ] || { echo "silicon.sh: '$3' against '$5' came to nothing" >&2; exit 1; }
	own='-|-'
	[ -z "$4" ] || own=$(apart "$4" "$1" "$5" "$7")
	echo "$1|$2|$sheet|$own" | awk -F'|' '{ printf "%-16s %-28s %5d %8.1f %+8.1f %10s %11s %10.1f\n", $1, $2, $3, $4, $5, $7, $8, $6 }'
}

# told CONFIG OPTIONS: tokens a second, the interval's ends, the slow corner's
told() {
	# shellcheck disable=SC2086
	"$npusim" run -c "$1" $2 --fidelity analytic --format json 2>/dev/null | awk '
		/"tokens_per_s"/ && !t { t = $2 + 0 } /"step_us":/ { if (corner && !c) c = $2 + 0; if (!us) us = $2 + 0 }
		/"slow_corner": [{]/ { corner = 1 } /"interval"/ { on = 1 }
		on && /"low"/ && !l { l = $2 + 0 } on && /"high"/ && !h { h = $2 + 0 }
		END { if (t) printf "%.3g|%.3g|%.3g|%s", t, t * us / h, t * us / l, c ? sprintf("%.3g", t * us / c) : "-" }'
}

# What was published, by the sheet with its interval, by ten rows of products.
decode() {
	row='%-14s %-16s %-11s %9s %8s %7s %-14s %7s %7s %8s  %s\n'
	[ -z "$1" ] || row='| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n'
	# shellcheck disable=SC2059
	printf "$row" machine model weights published sheet error interval within corner 'ten rows' from
	[ -z "$1" ] || echo '|---|---|---|---|---|---|---|---|---|---|---|'
	grep -v '^#' "$folder/decode.csv" | sed 1d | while IFS=, read -r machine sheet calibrated options rate from; do
		by=$(told "$sheet" "$options") own=
		[ -n "$by" ] || { echo "silicon.sh: '$sheet' on '$options' came to nothing" >&2; exit 1; }
		[ -z "$calibrated" ] || own=$(told "$calibrated" "$options")
		echo "$by|${own:-||||}" | awk -F'|' -v row="$row" -v m="$machine" -v o="$options" -v p="$rate" -v f="$from" '{
			n = split(o, w, " "); q = "bf16"
			for (i = 1; i < n; i++) { if (w[i] == "-m") model = w[i + 1]; if (w[i] == "--quant") q = w[i + 1]; if (w[i] == "--batch") b = " x " w[i + 1] }
			printf(row, m, model b, q, (p == "") ? "-" : p, $1, (p == "") ? "-" : sprintf("%+.0f %%", 100 * ($1 / p - 1)),
				$2 " to " $3, (p == "") ? "-" : (p >= $2 && p <= $3) ? "yes" : "no", $4, ($5 == "") ? "-" : $5, (f == "") ? "-" : f) }'
	done
}
[ "${2-}" != decode ] || { decode page; exit; }

head='%-16s %-28s %5s %8s %8s %10s %11s %10s\n'
# shellcheck disable=SC2059
printf "$head" machine table rows sheet bias fitted 'held out' roofline
# shellcheck disable=SC2059
printf "$head" ---------------- ---------------------------- ----- -------- -------- ---------- ----------- ----------
grep -v '^#' "$list" | sed 1d | while IFS=, read -r machine sheet calibrated table set fitted; do
	row "$machine" "${table%.csv}" "$sheet" "$calibrated" "$folder/$table" "$set" "$fitted"
done
absent=0
for t in v6e_ops v6e_sdpa; do
	[ -f "$tpu/$t.csv" ] || { absent=$((absent + 1)); continue; }
	row 'TPU v6e' "$t" tpu-v6e tpu-v6e-calibrated "$tpu/$t.csv" '' all
done
echo
echo 'Mean absolute error in percent; bias by the sheet. Fitted: of the rows (how many) that the calibrated twin was fitted to, mostly ten of'
echo 'all tables of a machine; held out: of the others, which alone hold it.'
echo
echo 'Decode, tokens a second (x: of so many sequences); within: the published figure lies in the interval (four times in five).'
decode ''
[ "$absent" = 0 ] || echo "not run: $absent files absent"
