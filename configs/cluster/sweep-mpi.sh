#!/bin/sh
# sweep-mpi.sh RANKS SWEEP.yaml DIR [option of mpirun...] - the same with Open MPI, where there is no Slurm: RANKS shards,
# started on many machines by mpirun, then merged into DIR/all.db on this one.
#
#   sh configs/cluster/sweep-mpi.sh 64 wide.yaml /shared/wide --hostfile hosts
#
# A rank is a shard with JOBS workers (default 1). Ranks send each other nothing: mpirun is here for what it does well,
# which is to start processes on the machines of a hostfile and to end them all when one fails. DIR and this script are
# seen by all machines; npusim is in everyone's PATH, or NPUSIM names it. The same command goes on after it was stopped.
set -eu

# mpirun starts this script once a rank, and tells it which rank it is.
if [ -n "${OMPI_COMM_WORLD_RANK-}" ]; then
	i=$((OMPI_COMM_WORLD_RANK + 1)) n=$OMPI_COMM_WORLD_SIZE
	# Of a table on every rank nobody reads, only what went wrong is left: that goes to stderr.
	exec "${NPUSIM:-npusim}" sweep "$1" --shard "$i/$n" -j "${JOBS:-1}" -o "$2/shard-$i-of-$n.db" --rows 0 >/dev/null
fi

[ $# -ge 3 ] || { echo "usage: sweep-mpi.sh RANKS SWEEP.yaml DIR [option of mpirun...]" >&2; exit 2; }
ranks=$1 sweep=$2 dir=$3
shift 3
mkdir -p "$dir"
# -x passes the environment on to other machines; --bind-to none leaves the workers of a rank all of its cores.
mpirun -n "$ranks" --bind-to none -x NPUSIM="${NPUSIM:-npusim}" -x JOBS="${JOBS:-1}" "$@" sh "$0" "$sweep" "$dir"
exec "${NPUSIM:-npusim}" merge "$dir/all.db" "$dir"/shard-*-of-"$ranks".db
