//! Programs that show facts about the machine.

use super::super::checks;
use super::super::spec::Operands::Text;
use super::super::spec::{Danger, Spec};
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{
    Elevate, Exec, Irreversible, Network, Outside, Read, Secret, Terminal, Write,
};

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    Spec::read("whoami logname tty arch").flags("-s --silent --quiet").keeps(&["whoami", "tty -s", "arch"]).raised(&["whoami root"]),
    Spec::read("groups").operands(Text).check(checks::names_only).keeps(&["groups", "groups root"]).raised(&["groups --nobody", "groups ./x"]),
    Spec::read("id").flags("-a -u -g -G -n -r -z -Z --user --group --groups --name --real --zero --context").operands(Text).check(checks::names_only).keeps(&["id", "id -un", "id root", "id -Gn root"]).raised(&["id --nobody", "id ./x"]),
    Spec::read("uname").flags("-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system")
        .keeps(&["uname -a", "uname -sr"]).raised(&["uname x"]),
    Spec::read("nproc").flags("--all").values("--ignore=text").keeps(&["nproc"]).raised(&["nproc x"]),
    Spec::read("uptime").flags("-p -s -r --pretty --since").keeps(&["uptime -p"]).raised(&["uptime x"]),
    Spec::read("free").flags("-b -k -m -g -h -t -w -l -v --bytes --kibi --mebi --gibi --human --total --wide --lohi --si").keeps(&["free -h"]).raised(&["free -s 1"]),
    Spec::read("lscpu lsmem").flags("-a -e -J -p -x -b -c --all --json --online --extended --parse").keeps(&["lscpu"]).raised(&["lscpu -s /x"]),
    Spec::read("lsblk").flags("-a -f -l -m -p -J -b -d -n -t -O -P -r -S --all --fs --list --json --bytes --nodeps --noheadings --output-all --pairs --raw --scsi")
        .values("-o=text --output=text -e=text --exclude=text -I=text --include=text -x=text --sort=text").keeps(&["lsblk", "lsblk -o NAME,SIZE", "lsblk -fo NAME", "lsblk --output NAME,SIZE -J"]).raised(&["lsblk --sysroot x", "lsblk -o NAME x", "lsblk -o .env"]),
    Spec::read("locale").flags("-a -m -k -c --all-locales --charmaps").operands(Text).keeps(&["locale", "locale -a"]).raised(&["locale --nobody"]),
    Spec::read("getconf").operands(Text).flags("-a").keeps(&["getconf PAGE_SIZE"]).raised(&["getconf -v x"]),
    Spec::read("cal ncal").flags("-1 -3 -m -y -j -s -h -w").values("-A=text -B=text").operands(Text).keeps(&["cal", "cal 2024"]).raised(&["cal --nobody"]),
    Spec::read("vmstat iostat").flags("-a -s -d -w -n -t -m -h -x").keeps(&["vmstat -s"]).raised(&["vmstat 1"]),
    Spec::read("date")
        .flags("-u --utc --universal -R --rfc-email -j -n").values("-I=?text --iso-8601=?text --rfc-3339=text -d=text --date=text -r=path --reference=path -v=text")
        .operands(Text)
        .dangers(&[
            Danger::refuse("set", &["-s=|--set="], phrases::SETS_CLOCK, &[Elevate, Irreversible]),
            Danger::ask("file", &["-f=|--file="], phrases::READS_ELSEWHERE, &[Outside]),
        ])
        .check(checks::date)
        .keeps(&["date", "date +%F", "date -u +%s", "date -d yesterday", "date -Iseconds", "date --iso-8601=date"])
        .raised(&["date -s 12:00", "date --set=12:00", "date --se 12:00", "date 010100002030", "date -us 12:00", "date -f x", "date -s12:00", "date -r .env"]),
    Spec::read("hostname")
        .flags("-s -I --short --all-ip-addresses").operands(Text)
        .dangers(&[Danger::ask("lookup", &["-f|--fqdn|--long"], phrases::USES_NETWORK, &[Network]), Danger::refuse("set", &["-F=|--file=|-b|--boot"], phrases::SETS_HOSTNAME, &[Elevate, Irreversible])])
        .check(checks::hostname).keeps(&["hostname", "hostname -s"]).raised(&["hostname box", "hostname -F name.txt", "hostname -b x", "hostname --fil x", "hostname -f", "hostname --fq"]),
    Spec::read("ps")
        .flags("-e -A -a -d -f -F -l -M -j -H -w -x -L -T -y -N -c --forest --headers --no-headers --deselect")
        .values("-o=text --format=text -C=text -u=text -U=text --user=text --User=text -p=text --pid=text --ppid=text -g=text -G=text -t=text --tty=text -q=text --sort=text --cols=text --width=text -s=text")
        .operands(Text).check(checks::ps)
        .keeps(&["ps", "ps aux", "ps -ef", "ps -p 1", "ps -eo pid,comm", "ps -eo pid,args", "ps axu", "ps fax"]).raised(&["ps e", "ps auxe", "ps eww", "ps -e e"]),
    Spec::read("pgrep pidof").flags("-f -i -l -n -o -s -v -w -x --full --list-name --exact --newest --oldest --count -c")
        .values("-u=text -U=text -P=text -g=text -t=text -d=text").operands(Text)
        .dangers(&[Danger::ask("print", &["-a|--list-full"], phrases::PRINTS_ARGUMENTS, &[Secret])]).check(checks::pgrep)
        .keeps(&["pgrep -l node", "pgrep -f node", "pidof -s node"]).raised(&["pgrep --signal x y", "pgrep -a node", "pgrep -fa .", "pgrep --list-full node", "pgrep --list-f node"]),
    Spec::read("ss").flags("-a -l -n -p -t -u -x -4 -6 -e -i -m -o -s -w -r -H -O --all --listening --numeric --processes --tcp --udp --unix --summary --no-header")
        .operands(Text).dangers(&[Danger::ask("kill", &["-K|--kill|-D=|--diag=|-F=|--filter=|-N=|-r|--resolve"], phrases::OPTION_VALUES, &[Network])])
        .keeps(&["ss -tlnp"]).raised(&["ss -K dst x", "ss -D out", "ss -F x"]),
    // With its source (`-S`) it shows whatever file the binary names.
    Spec::read("objdump").argument_files().flags("-d -D -h -f -p -r -R -s -t -T -x -a -C -g -e -V -w --disassemble --disassemble-all --syms --headers --demangle --all-headers --private-headers --dynamic-syms --full-contents --no-show-raw-insn --wide")
        .values("-j=path --section=text -M=text --start-address=text --stop-address=text").operands(super::super::spec::Operands::Reads(usize::MAX)).keeps(&["objdump -d a.bin", "objdump -h -M intel a.bin"]).raised(&["objdump -S a.bin", "objdump -dS a.bin", "objdump --source a.bin", "objdump --dwarf=follow-links a.bin", "objdump -d .env", "objdump -d -M @opts a.bin", "objdump @opts"]),
    Spec::read("readelf nm size").argument_files().flags("-d -D -h -f -p -r -R -s -S -t -T -x -a -C -g -u -l -e -n -V -A -c --disassemble --syms --headers --demangle --all-headers --dynamic-syms --dyn-syms --notes --segments --sections --program-headers --wide -W --defined-only --undefined-only --extern-only --print-size --size-sort --numeric-sort --reverse-sort --print-file-name")
        .values("-j=path -M=text").operands(super::super::spec::Operands::Reads(usize::MAX)).keeps(&["readelf -S a.bin", "nm a.bin", "nm -C --defined-only a.bin"]).raised(&["nm --plugin x a.bin", "nm .env", "nm -j .env", "nm @opts", "nm -- @opts", "size @opts", "readelf -S @opts"]),
    Spec::read("c++filt").argument_files().flags("-n -p -t -i -_ --no-strip-underscore --no-params --types --no-verbose").values("-s=text --format=text").operands(Text).check(checks::no_list_file).keeps(&["c++filt _ZN3foo3barEv"]).raised(&["c++filt @names", "c++filt --nobody"]),
    Spec::read("addr2line").argument_files().flags("-a -f -C -i -p -s --addresses --functions --demangle --inlines --pretty-print --basenames").values("-e=path --exe=path").operands(Text).check(checks::no_list_file).keeps(&["addr2line -e a.bin 0x4011d6", "addr2line -fCe a.bin 0x10"]).raised(&["addr2line -e .env 0x1", "addr2line @opts", "addr2line -e /etc/x 0x1"]),
    // A class is read, not loaded; `-J` hands an option to the virtual machine.
    Spec::read("javap").argument_files().flags("-c -l -p -s -v -public -protected -package -private -sysinfo -constants -verbose -version -help --help").values("-cp=path -classpath=path --class-path=path").operands(super::super::spec::Operands::Named).keeps(&["javap -c build/App.class", "javap -p -cp build com.shop.App"]).raised(&["javap -J-javaagent:x.jar App", "javap @args", "javap -cp .env App", "javap --module-path x App"]),
    Spec::read("pkg-config pkgconf").flags("--version --modversion --exists --cflags --cflags-only-I --cflags-only-other --libs --libs-only-l --libs-only-L --libs-only-other --list-all --list-package-names --static --print-errors --short-errors --silence-errors --errors-to-stdout --print-requires --print-requires-private --print-provides --print-variables --path")
        .values("--variable=text --atleast-version=text --exact-version=text --max-version=text").operands(Text).check(checks::names_only).keeps(&["pkg-config --modversion openssl", "pkg-config --cflags --libs gtk+-3.0", "pkg-config --variable=prefix zlib"]).raised(&["pkg-config --libs ./evil.pc", "pkgconf --log-file=x --libs zlib", "pkgconf --with-path=. --libs x", "pkg-config --define-variable=a=b x"]),
    Spec::read("pstree").flags("-A -c -g -G -h -l -n -N -p -s -S -t -T -u -U -Z").operands(Text).check(checks::names_only).keeps(&["pstree", "pstree -p 1"]).raised(&["pstree -a", "pstree -pa", "pstree -H .env"]),
    Spec::ask("ldd", phrases::RUNS_PROGRAM_GIVEN, &[Exec]).keeps(&["ldd ./a.bin"]),
    Spec::ask("man info apropos whatis tldr less more most vim vi nvim nano emacs ed ex view pico micro hx helix code subl open xdg-open start top htop btop atop glances tig lazygit mc ranger nnn w3m lynx links elinks watchman dialog whiptail gdb lldb screenfetch neofetch fzf sensible-editor sensible-pager editor pager select-editor run-mailcap see mail mutt irssi weechat", phrases::OPENS_PAGER, &[Exec, Terminal])
        .check(super::super::wrappers::dash_c).keeps(&["man ./a.1", "less +F a.txt", "vim a.txt", "nano a.txt"]),
    Spec::ask("lsof netstat lspci lsusb last lastlog w who users timedatectl localectl hostnamectl ipcs dpkg-query getent lsns findmnt blkid hwinfo inxi xdpyinfo xrandr sw_vers lsb_release nvidia-smi sestatus getenforce system_profiler scutil ioreg vm_stat defaults", phrases::TELLS_MACHINE, &[Read])
        .check(checks::system_settings)
        .keeps(&["who am i", "lspci -i x", "timedatectl"]).raised(&["timedatectl set-time 12:00", "hostnamectl set-hostname x"]),
    Spec::ask("dmesg", phrases::TELLS_MACHINE, &[Read])
        .dangers(&[Danger::refuse("clear", &["-C|--clear|-c|--read-clear|-D|--console-off"], phrases::CHANGES_SYSTEM, &[Elevate, Irreversible])])
        .keeps(&["dmesg -w"]).raised(&["dmesg -C", "dmesg -c", "dmesg -TD"]),
    Spec::ask("journalctl", phrases::TELLS_MACHINE, &[Read])
        .dangers(&[Danger::refuse("clear", &["--vacuum-size=|--vacuum-time=|--vacuum-files=|--rotate"], phrases::CHANGES_SYSTEM, &[Elevate, Irreversible])])
        .keeps(&["journalctl -f", "journalctl -D logs", "journalctl -c s=1", "journalctl -rD logs"]).raised(&["journalctl --vacuum-time=1d", "journalctl --rotate", "journalctl --vacuum-t=1d"]),
    Spec::ask("iptables ip6tables nft ufw firewall-cmd", phrases::TELLS_MACHINE, &[Read]).check(checks::firewall)
        .keeps(&["iptables -L -n -v", "iptables -t nat -S", "iptables -nL INPUT", "ip6tables --list", "ufw status", "ufw status verbose", "nft list ruleset", "firewall-cmd --list-all", "firewall-cmd --zone=public --list-ports"])
        .raised(&["iptables", "iptables -F", "iptables -L -Z", "iptables -LZ", "iptables -L -F", "iptables -A INPUT -j DROP", "iptables -t nat -F", "iptables -L --flush", "ufw disable", "ufw status x", "ufw", "ufw allow 22", "nft flush ruleset", "nft -f x", "nft list ruleset ; flush", "firewall-cmd --panic-on", "firewall-cmd --list-all --reload", "firewall-cmd"]),
    Spec::ask("sysctl", phrases::TELLS_MACHINE, &[Read]).check(checks::system_settings)
        .dangers(&[Danger::refuse("set", &["-w|--write|-p|--load|--system"], phrases::CHANGES_SYSTEM, &[Elevate, Irreversible])])
        .keeps(&["sysctl --pattern x"]).raised(&["sysctl -w a=b", "sysctl a=b", "sysctl -p"]),
    Spec::ask("mktemp", phrases::WRITES_FILES, &[Write]).keeps(&["mktemp"]),
    Spec::ask("sleep yes", phrases::TAKES_LONG, &[avocet_core::protocol::Effect::Resource]).keeps(&["sleep 3600", "sleep infinity", "yes"]),
];
