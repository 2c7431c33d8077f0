#!/usr/bin/env bash
# Runs 20 tasks of `avocet batch --on slurm` on a real Slurm of one machine, kills one of them, and runs
# it again. Needs root, and Debian's slurm-wlm and munge. Run by hand:
#
#   tests/real/slurm.sh        AVOCET=target/debug/avocet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=$(realpath "${AVOCET:-$here/../../target/debug/avocet}")
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
for program in munged slurmctld slurmd sbatch; do
    command -v "$program" > /dev/null || { echo "no $program: apt-get install slurm-wlm munge" >&2; exit 2; }
done
root=$(mktemp -d)
# Slurm's daemons and those of munge walk through it.
chmod 755 "$root"
pids=()
finish() {
    for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null || true; done
    wait 2> /dev/null || true
    rm -rf "$root"
}
trap finish EXIT
mkdir -p "$root"/{state,spool,munge,home,work/dir}
chmod 700 "$root/munge"
head -c 1024 /dev/urandom > "$root/munge/key"
chmod 600 "$root/munge/key"
munged --foreground --force --key-file="$root/munge/key" --socket="$root/munge.socket" \
    --pid-file="$root/munge/pid" --log-file="$root/munge/log" --seed-file="$root/munge/seed" 2> "$root/munged.err" &
pids+=($!)
host=$(hostname -s)
cat > "$root/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$root/munge.socket
CredType=cred/munge
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd.pid
SlurmctldLogFile=$root/slurmctld.log
SlurmdLogFile=$root/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
CONF
export SLURM_CONF=$root/slurm.conf HOME=$root/home AVOCET_HOME=$root/avocet
until [ -S "$root/munge.socket" ]; do kill -0 "${pids[0]}" || { cat "$root/munged.err"; exit 1; }; sleep 0.2; done
slurmctld -D 2> "$root/slurmctld.err" & pids+=($!)
slurmd -D -N "$host" 2> "$root/slurmd.err" & pids+=($!)
for _ in $(seq 100); do
    [ "$(sinfo -h -o %T 2> /dev/null)" = idle ] && break
    sleep 0.3
done
sinfo

cd "$root/work"
echo old > dir/old.txt
write='{"type":"cmd","message":"I write.","data":{"cwd":null,"commands":[{"tool":"file.write","input":{"path":"a.txt","content":"new\n"}}],"expected_effect":""}}'
wait='{"type":"cmd","message":"I wait.","data":{"cwd":null,"commands":[{"program":"sleep","args":["500"]}],"expected_effect":""}}'
done='{"type":"chat","message":"Done.","data":{"format":"plain"}}'
printf '%s\n---\n%s\n' "$write" "$done" > "$root/replies"
printf '%s\n---\n%s\n' "$wait" "$done" > "$root/slow"
for n in $(seq 20); do
    replies=replies; [ "$n" = 7 ] && replies=slow
    echo "{\"id\":\"task-$n\",\"prompt\":\"write\",\"dir\":\"dir\",\"model\":\"scripted:$root/$replies\"}"
done > tasks.jsonl
batch() { "$avocet" batch tasks.jsonl --out out --on slurm --jobs 4 --approve-steps --trust dir; }

batch > table 2> errors & run=$!
until grep -q sleep out/task-7.log 2> /dev/null; do kill -0 "$run" || { cat errors; exit 1; }; sleep 0.5; done
job=$(sed -n 's/.*Submitted as `\([0-9]*\)`.*/\1/p' errors)
scancel --signal=KILL "${job}_7"
code=0; wait "$run" || code=$?
tail -n 3 errors
[ "$code" = 1 ] && grep -q 'without a result: task-7' errors
[ "$(grep -c '"outcome":"done"' out/results.jsonl)" = 19 ]
cp "$root/replies" "$root/slow"
batch > table 2> errors
cat errors
tail -n 1 table
[ "$(grep -c '"outcome":"done"' out/results.jsonl)" = 20 ]
[ "$(cat out/*.patch | grep -c '^+new$')" = 20 ]
echo "20 tasks, one killed, one run again"
