//! Programs that run another program, and shells.

use super::super::spec::Operands::Command;
use super::super::spec::{Danger, Spec};
use super::super::wrappers;
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{Elevate, Exec, Outside, Write};

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    // These pass an L0 on as it is.
    Spec::read("env").posix().flags("-i -0 -v --ignore-environment --null --debug").values("-u=text --unset=text")
        .operands(super::super::spec::Operands::Text)
        .dangers(&[Danger::ask("split", &["-S=|--split-string="], phrases::SHELL_STRING, &[Exec]), Danger::ask("folder", &["-C=|--chdir="], phrases::READS_ELSEWHERE, &[Outside]), Danger::ask("signal", &["--block-signal|--default-signal|--ignore-signal|--list-signal-handling|-P=|-L=|-U="], phrases::OPTION_VALUES, &[Exec])])
        .check(wrappers::env)
        .keeps(&["env ls", "env LANG=C ls -la", "env TZ=Europe/Berlin date", "env -i ls", "env -u X ls", "env", "env -0", "env -i"])
        .raised(&["env rm -rf build", "env -S ls", "env --split-string=sh", "env GIT_CONFIG_COUNT=1 git status", "env LD_PRELOAD=./x ls", "env A=b ls", "env TZ=/etc/shadow date", "env TZ=x/git date", "env LC_ALL=x/git git status", "env POSIXLY_CORRECT=1 head a.txt -n b.txt", "env POSIXLY_CORRECT= uniq a.txt -c", "env LANGUAGE=a/b ls", "env LC_ALL=../x ls", "env sh -c id", "env -u X rm -rf build", "env -i git status", "env -u GIT_CONFIG_COUNT git status", "env -C .. ls", "env --chdi=/ ls", "env -x ls", "env env env rm -rf x"]),
    Spec::read("printenv").flags("-0 --null").operands(super::super::spec::Operands::Text).check(super::super::checks::printenv).keeps(&["printenv HOME", "printenv", "printenv OPENAI_API_KEY", "printenv HOME AWS_SECRET"]).raised(&["printenv --nobody"]),
    Spec::read("timeout gtimeout").posix().flags("--foreground --preserve-status -f -p -v --verbose").values("-k=text --kill-after=text -s=text --signal=text").operands(Command(1))
        .keeps(&["timeout 5 ls", "timeout -s KILL 5 git status"]).raised(&["timeout 5 rm -rf build", "timeout -k 1 5 make", "timeout --nobody 5 rm -rf x"]),
    Spec::read("nice").posix().flags("-NUM").values("-n=text --adjustment=text").operands(Command(0)).keeps(&["nice ls", "nice -n 5 ls", "nice -5 ls"]).raised(&["nice rm -rf build", "nice -n 5 rm -rf x", "nice --adj=5 rm -rf x", "nice make"]),
    Spec::read("time gtime").posix().flags("-p -v -a --portability --verbose").values("-f=text --format=text").dangers(&[Danger::ask("output", &["-o=|--output="], phrases::WRITES_A_FILE, &[Write])]).operands(Command(0))
        .keeps(&["time ls", "time -p ls"]).raised(&["time rm -rf build", "time -o x ls", "time -o x rm -rf y"]),

    // These are asked about, and what they hide decides beyond that.
    Spec::ask("nohup setsid stdbuf unbuffer command caffeinate catchsegv chronic eatmydata fakeroot dbus-run-session dbus-launch xvfb-run gtk-launch cgexec systemd-cat softlimit ltrace setpriv setarch linux32 linux64 i386 x86_64 faketime uname26 numactl prlimit torsocks proot tini dumb-init pidproxy daemonize start-stop-daemon valgrind heaptrack rr perf bwrap firejail unshare nsenter sandbox-exec capsh aa-exec runcon run-parts detach retry dotenv dotenvx foreman overmind honcho cross-env stap uftrace strace truss dtruss ktrace scanmem rlwrap ld.so ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux.so.2 ld-musl-x86_64.so.1 qemu-x86_64 qemu-aarch64 qemu-arm qemu-i386 binfmt wine box64 exec", phrases::RUNS_WRAPPED, &[Exec]).posix()
        .values("-o=text -i=text -e=text -n=text -p=text -u=text -g=text -s=text -E=text --unit=text --uid=text --gid=text --setenv=text")
        .operands(Command(0))
        .keeps(&["nohup ls", "setsid ls"]).raised(&["setsid rm -rf build", "nohup rm -rf build", "stdbuf -oL rm -rf build", "proot rm -rf build", "bwrap --dev-bind / / rm -rf x", "command rm -rf x", "strace -f -e trace=execve rm -rf x"]),
    // The manager of services starts it, outside of any sandbox.
    Spec::ask("systemd-run", phrases::RUNS_WRAPPED, &[Exec, Elevate]).posix().flags("--user --system --scope --wait --pipe -P -t --pty -q --quiet -G --collect -r -d -S")
        .values("-p=text --property=text -u=text --unit=text -E=text --setenv=text --uid=text --gid=text --working-directory=text --description=text --slice=text --on-active=text --on-calendar=text -M=text -H=text")
        .operands(Command(0)).keeps(&["systemd-run ls", "systemd-run --user make"]).raised(&["systemd-run --user rm -rf x"]),
    Spec::ask("ionice chrt taskset", phrases::RUNS_WRAPPED, &[Exec]).posix().flags("-a -b -f -i -o -r -t -d -R").values("-c=text -n=text -p=text -P=text -u=text --class=text --classdata=text --cpu-list=text")
        .check(wrappers::after_numbers).keeps(&["ionice -c 3 ls"]).raised(&["ionice -c3 rm -rf build", "taskset 0x1 rm -rf build", "taskset -c 0 rm -rf build", "chrt 10 rm -rf x", "chrt -b 0 rm -rf x"]),
    Spec::ask("flock", phrases::RUNS_WRAPPED, &[Exec]).posix().flags("-s -x -e -n -u -o -F -v --shared --exclusive --nonblock --close --verbose").values("-w=text --timeout=text -E=text -c=text --command=text").check(wrappers::flock)
        .keeps(&["flock x ls"]).raised(&["flock x rm -rf build", "flock x -c 'rm -rf build'", "flock -n x rm -rf build"]),
    Spec::ask("xargs gxargs", phrases::RUNS_FOR_LINES, &[Exec]).posix().flags("-0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive --exit --open-tty")
        .values("-a=path --arg-file=path -d=text --delimiter=text -E=text -e=?text -I=text -i=?text --replace=?text -L=text -l=?text --max-lines=?text -n=text --max-args=text -P=text --max-procs=text -s=text --max-chars=text -S=text -R=text -J=text --process-slot-var=text").operands(Command(0))
        .keeps(&["xargs", "xargs ls", "xargs -n 1 cat"]).raised(&["xargs rm -rf", "xargs -0 rm -rf", "xargs -I{} rm -rf {}", "xargs -n1 sh -c 'rm -rf x'", "xargs -P4 -n 1 sudo ls"]),
    Spec::ask("watch parallel", phrases::RUNS_FOR_LINES, &[Exec]).posix().flags("-d -t -e -g -c -x -b -p -0 -k -q -v").values("-n=text --interval=text -j=text --jobs=text -I=text -a=text").check(wrappers::judge_joined_operands)
        .keeps(&["watch ls", "parallel ls", "watch 'ls -la'"]).raised(&["watch rm -rf build", "watch -n 1 'rm -rf build'", "parallel rm -rf {}"]),
    Spec::ask("busybox toybox sbase-box coreutils", phrases::RUNS_WRAPPED, &[Exec]).posix().operands(Command(0)).keeps(&["busybox ls"]).raised(&["busybox rm -rf build", "busybox sh -c 'rm -rf build'"]),
    Spec::ask("script scriptreplay", phrases::RUNS_WRAPPED, &[Exec, Write]).flags("-q -a -e -f --quiet --append --return --flush").values("-c=text --command=text -t=?text -E=text -O=text -I=text -B=text -T=text").check(wrappers::dash_c).keeps(&["script out"]).raised(&["script -qc 'rm -rf build' /dev/null", "script -c 'rm -rf x'"]),
    Spec::ask("sh bash zsh dash ash ksh mksh fish csh tcsh rbash nu xonsh elvish oil osh yash rc es", phrases::RUNS_SHELL, &[Exec]).posix()
        .flags("-c -l -i -e -x -u -v -n -s -f -p -r --login --norc --noprofile --posix --command").values("-o=text -O=text --rcfile=text --init-file=text").check(wrappers::shell_string)
        .quiet(&["--version"])
        .keeps(&["bash script.sh", "sh -c 'ls > x'", "bash -lc 'ls > x'", "bash"])
        .raised(&["bash -c 'rm -rf build'", "sh -c 'ls && rm -rf build'", "bash -lc 'sudo ls'", "bash -x -c 'rm -rf x'", "zsh -ec 'rm -rf x'", "bash -c 'echo $(rm -rf x)'", "bash -c 'if true; then rm -rf x; fi'", "bash -O extglob -c 'rm -rf x'", "bash -c 'x=1 rm -rf y'"]),
];
