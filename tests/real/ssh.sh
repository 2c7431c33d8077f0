#!/usr/bin/env bash
# Runs tasks of `avocet batch --on ssh:…` on a real sshd of this machine, and on a host that is not
# there. Needs Debian's openssh-server. Run by hand:
#
#   tests/real/ssh.sh        AVOCET=target/debug/avocet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=$(realpath "${AVOCET:-$here/../../target/debug/avocet}")
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
sshd=$(command -v sshd || echo /usr/sbin/sshd)
[ -x "$sshd" ] || { echo "no sshd: apt-get install openssh-server" >&2; exit 2; }
root=$(mktemp -d)
finish() { kill "$pid" 2> /dev/null || true; rm -rf "$root"; }
trap finish EXIT
mkdir -p "$root"/{bin,work/dir} /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$root/host"
ssh-keygen -q -t ed25519 -N '' -f "$root/user"
cat > "$root/sshd_config" <<CONF
Port 26822
ListenAddress 127.0.0.1
HostKey $root/host
AuthorizedKeysFile $root/user.pub
StrictModes no
PidFile $root/sshd.pid
UsePAM no
PermitRootLogin yes
SetEnv AVOCET_HOME=$root/avocet
CONF
"$sshd" -D -e -f "$root/sshd_config" 2> "$root/sshd.err" & pid=$!
cat > "$root/ssh_config" <<CONF
Host here
    HostName 127.0.0.1
Host gone
    HostName 127.0.0.1
    ProxyCommand false
Host *
    Port 26822
    IdentityFile $root/user
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    LogLevel ERROR
CONF
# The user's own settings are not read in a test.
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$root/ssh_config" > "$root/bin/ssh"
chmod +x "$root/bin/ssh"
export PATH=$root/bin:$PATH AVOCET_HOME=$root/avocet
for _ in $(seq 100); do ssh here true 2> /dev/null && break; sleep 0.1; done
cd "$root/work"
echo old > dir/old.txt
write='{"type":"cmd","message":"I write.","data":{"cwd":null,"commands":[{"tool":"file.write","input":{"path":"a.txt","content":"new\n"}}],"expected_effect":""}}'
printf '%s\n---\n%s\n' "$write" '{"type":"chat","message":"Done.","data":{"format":"plain"}}' > "$root/replies"
for n in $(seq 6); do
    echo "{\"id\":\"task-$n\",\"prompt\":\"write\",\"dir\":\"dir\",\"model\":\"scripted:$root/replies\"}"
done > tasks.jsonl
"$avocet" batch tasks.jsonl --out out --on ssh:gone,here --jobs 2 --approve-steps --trust dir 2> errors || { cat errors "$root/sshd.err"; exit 1; }
cat errors
[ "$(grep -c '`gone` is not used any more' errors)" = 1 ]
[ "$(cat out/*.patch | grep -c '^+new$')" = 6 ]
echo "6 tasks by ssh, one host left out"
