#!/bin/sh
# slurm.sh COMMAND [ARGUMENT...] - a Slurm of one node for one command: starts munged, slurmctld and slurmd of Debian's
# packages as the user who runs it (root or not), runs COMMAND with SLURM_CONF set, and stops them again. All their
# files are in a folder of its own that goes with them, ports are drawn, nothing of a Slurm that is here is touched.
# Exits with COMMAND's status; 77 and a line with the reason where the programs are not here; 1 and their logs where they
# do not start. Without accounting, cgroups and scripts of the site: what is tested is our job script, not Slurm.
set -u

[ $# -gt 0 ] || { echo "usage: slurm.sh COMMAND [ARGUMENT...]" >&2; exit 2; }
PATH=$PATH:/usr/sbin:/sbin
for p in munged slurmctld slurmd sbatch scontrol; do
	command -v $p >/dev/null || { echo "not run: $p is not installed (Debian: slurmctld slurmd slurm-client munge)"; exit 77; }
done

top=$(mktemp -d) # munged wants the way to its socket to be closed to others, and mktemp makes it so
pids=''
stop() {
	# In the order of starting: slurmd first would leave slurmctld waiting for it. Each is given ten seconds.
	for pid in $pids; do kill "$pid" 2>/dev/null; done
	for pid in $pids; do
		n=0
		while kill -0 "$pid" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	pids=''
}
trap 'stop; rm -rf "$top"' EXIT
trap 'exit 130' INT TERM

user=$(id -un)
host=$(hostname -s)
mkdir "$top/state" "$top/spool" "$top/log"
dd if=/dev/urandom of="$top/key" bs=128 count=1 2>/dev/null
chmod 400 "$top/key"

munged --foreground --force --key-file="$top/key" --socket="$top/munge" --pid-file="$top/munge.pid" --log-file="$top/log/munged" \
	--seed-file="$top/seed" --num-threads=2 >"$top/log/munged.out" 2>&1 &
pids=$!

# start PORT: both daemons on PORT and the one after it
start() {
	cat >"$top/slurm.conf" <<END
ClusterName=npusim
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$(($1 + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$top/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool
SlurmctldPidFile=$top/slurmctld.pid
SlurmdPidFile=$top/slurmd.pid
SlurmctldLogFile=$top/log/slurmctld
SlurmdLogFile=$top/log/slurmd
ReturnToService=2
MessageTimeout=100
BatchStartTimeout=600
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmctldParameters=enable_configless
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
	slurmctld -D -i -f "$top/slurm.conf" >"$top/log/slurmctld.out" 2>&1 &
	slurmctld=$!
	slurmd -D -f "$top/slurm.conf" >"$top/log/slurmd.out" 2>&1 &
	slurmd=$!
	pids="$slurmctld $slurmd $pids"
	n=0
	while [ $n -lt 1200 ]; do # a host may do much else at once; one of them ending is noticed at once
		kill -0 $slurmctld 2>/dev/null && kill -0 $slurmd 2>/dev/null || return 1
		sinfo -h -o %T 2>/dev/null | grep -qx idle && return 0
		sleep 0.1
		n=$((n + 1))
	done
	return 1
}

export SLURM_CONF="$top/slurm.conf"
tries=0
until start $((20000 + ($$ * 7 + tries * 1013) % 10000)); do
	tries=$((tries + 1))
	if [ $tries = 3 ]; then
		echo "slurm.sh: the daemons do not start:"
		tail -n 20 "$top"/log/*
		exit 1
	fi
	munged=${pids##* }
	pids=${pids% *}
	stop
	pids=$munged
done
"$@"
