# The options of a workload: the table, and that each command keeps to it: it takes a row, or refuses it with the table's reason.
# figures: shown
. validate/tests/golden/common

try workload options
"$NPUSIM" workload options --format csv >"$TMP/options.csv"
wc -l <"$TMP/options.csv"

# A value that a row takes, by what the table calls it.
value() { # OPTION KIND
	case $2 in
	N'|'*) echo 1 ;;
	*'|'*) echo "${2%%|*}" ;;
	SCHEME | FORMAT) echo bf16 ;;
	NAMES) echo kv-append ;;
	*.db) echo $SMALL ;;
	MODEL) echo qwen2-0.5b ;;
	FILE) [ "$1" = rules ] && echo workloads/kernels/rules.tsv || echo workloads/programs/mlp.txt ;;
	*) echo 1 ;;
	esac
}

# A command line that is whole but for something that is read behind the options of a workload.
command_line() { # COMMAND
	case $1 in
	run) echo "$1 -c $CONFIG --format nothing" ;;
	limits) echo "$1 -c $CONFIG --fidelity nothing" ;;
	serve) echo "$1 -c $CONFIG --rate 1/s --reserve nothing" ;;
	validate) echo "$1 -c configs/gpu/h200.yaml --split nothing" ;;
	compare) echo "$1 1 -r $TMP/nothing" ;;
	ablate) echo "$1 $TMP/none.yaml --fidelity nothing" ;;
	study) echo "$1 $TMP/none.yaml" ;;
	sweep) echo "$1 $TMP/s.yaml --dry-run --shard nothing" ;;
	esac
}
printf 'sweep: 1\nbase: %s\ntrace: %s\naxes: {cores: [8]}\n' "$PWD/$CONFIG" "$PWD/$SMALL" >"$TMP/s.yaml"

# Each option on a command's line, with a source that it is of where the command takes that one.
for command in run limits sweep ablate serve compare validate study; do
	column=$(head -n 1 "$TMP/options.csv" | tr , '\n' | grep -nx "$command" | cut -d: -f1)
	sed 1d "$TMP/options.csv" | while IFS= read -r row; do
		name=$(echo "$row" | cut -d, -f1) kind=$(echo "$row" | cut -d, -f2)
		taken=$(echo "$row" | cut -d, -f"$column")
		source=
		case $name in trace | model | program-in) ;; *)
			case $command,$row in
			serve,*) source="-m qwen2-0.5b" ;;
			run,*,trace,* | limits,*,trace,* | run,*,both,* | limits,*,both,* | compare,* | validate,*) source="-t $SMALL" ;;
			run,* | limits,*) source="-m qwen2-0.5b" ;;
			esac ;;
		esac
		more=
		case $command,$name in
		run,skew | limits,skew) more="--batch 2" ;;
		validate,range) more="--profile $SMALL" ;;
		esac
		# shellcheck disable=SC2086
		said=$("$NPUSIM" $(command_line $command) $source $more --"$name" "$(value "$name" "$kind")" 2>&1 | head -n 1)
		case $said in
		*nothing*) is=yes ;;
		*"makes no sense for npusim $command: "*) is=- ;;
		*) is="$said" ;;
		esac
		[ "$is" = "$taken" ] || echo "$command --$name: $is, and the table has $taken"
	done
	echo "$command: $(sed 1d "$TMP/options.csv" | cut -d, -f"$column" | sort | uniq -c | tr -s ' \n' ' ')"
done

# What is of another kind of workload.
try run -c $CONFIG -t $SMALL --quant fp8 2>&1
try limits -c $CONFIG -m qwen2-0.5b --rules workloads/kernels/rules.tsv 2>&1
try run -c $CONFIG --program-in workloads/programs/mlp.txt --batch 2 2>&1
try run -c $CONFIG --program-in workloads/programs/mlp.txt -m qwen2-0.5b 2>&1
try limits -c $CONFIG --program-in workloads/programs/mlp.txt 2>&1
try serve -c $CONFIG -m qwen2-0.5b --rate 1/s --context 512 2>&1
