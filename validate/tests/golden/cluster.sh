# The launchers of configs/cluster for real: the job array and the dependent merge under a Slurm of one node, and mpirun.
# Rows are the same to the byte from one worker, two, four shards merged by hand, the array, and mpirun.
# figures: shown
. validate/tests/golden/common
# Where CI runs, deps.sh has installed both: there a part that did not run is a failure, by its text.
missing=''
for p in slurmctld slurmd sbatch munged mpirun; do
	PATH=$PATH:/usr/sbin command -v $p >/dev/null || missing="${missing:+$missing, }$p"
done
if [ -n "$missing" ]; then
	echo "not run: there is no $missing (Debian: slurmctld slurmd slurm-client munge openmpi-bin)"
	[ "${CI-}" = true ] && echo "and CI must have them"
	exit 0
fi
quiet trace import $TRACE -o "$TMP/t.db"
cat >"$TMP/s.yaml" <<END
sweep: 1
base: $CONFIG
trace: $TMP/t.db
range: decode_step_1
fidelity: analytic
axes:
  l2.size: [64 MiB, 256 MiB, 1 GiB, 100 KiB]
  kv_buffer.size: [0 B, 64 MiB]
objectives: [latency_us, {name: chip, minimize: (l2.size + kv_buffer.size) / 1 MiB}]
END
rows() { "$NPUSIM" sweep "$TMP/s.yaml" --format csv "$@" 2>"$TMP/said" || { echo "exit $?"; cat "$TMP/said"; }; }
# Nothing may be left to run in a file that is merged: its rows alone are printed, and none is made for it.
same() { # FILE.db WHAT
	rows -o "$1" >"$TMP/got.csv"
	cmp "$TMP/one.csv" "$TMP/got.csv" && grep -q ' 0 ran' "$TMP/said" && echo "$2: the same rows"
}
# Of merge's table: sweeps, points, new points.
counts() { awk '$1 ~ /db$/ { n = split($1, name, "/"); print name[n] ": " $2, $3, $4 }'; }
rows -j1 >"$TMP/one.csv"
wc -l <"$TMP/one.csv"
rows -j2 >"$TMP/two.csv"
cmp "$TMP/one.csv" "$TMP/two.csv" && echo "two workers: the same rows"
for i in 4 2 1 3; do quiet sweep "$TMP/s.yaml" --shard $i/4 -o "$TMP/$i.db"; done
quiet merge "$TMP/all.db" "$TMP"/[1234].db
same "$TMP/all.db" "four shards merged"

cat >"$TMP/job.sh" <<'END'
# Submitted as configs/cluster/README.md says, and waited for.
id=$(sbatch --parsable --array=1-4 -o "$TMP/task-%a.log" --mem-per-cpu=0 configs/cluster/sweep.sbatch "$TMP/s.yaml" "$TMP/slurm")
sbatch --parsable --dependency=afterok:$id -o "$TMP/merge.log" --mem=0 configs/cluster/merge.sbatch "$TMP/slurm" >"$TMP/merge.id"
# A squeue that gets no answer says nothing about the queue.
n=0
while [ $n -lt 6000 ] && { ! left=$(squeue -h 2>/dev/null) || [ -n "$left" ]; }; do sleep 0.1; n=$((n + 1)); done
for job in $id "$(cat "$TMP/merge.id")"; do scontrol -o show job $job; done | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p' | sort | uniq -c
# A hole in the array would be a hole in the sweep.
sbatch --wait --array=2-3 -o "$TMP/hole.log" --mem-per-cpu=0 configs/cluster/sweep.sbatch "$TMP/s.yaml" "$TMP/slurm" >/dev/null || head -n 1 "$TMP/hole.log"
END
sh validate/tools/slurm.sh sh "$TMP/job.sh"
counts <"$TMP/merge.log"
same "$TMP/slurm/all.db" "the Slurm array"

root=''
[ "$(id -u)" = 0 ] && root=--allow-run-as-root
sh configs/cluster/sweep-mpi.sh 4 "$TMP/s.yaml" "$TMP/mpi" --oversubscribe $root 2>"$TMP/said" >"$TMP/table" || cat "$TMP/said"
counts <"$TMP/table"
same "$TMP/mpi/all.db" "four ranks of mpirun"
# The same command again changes nothing and says so.
sh configs/cluster/sweep-mpi.sh 4 "$TMP/s.yaml" "$TMP/mpi" --oversubscribe $root 2>"$TMP/said" >"$TMP/table" || cat "$TMP/said"
counts <"$TMP/table"
