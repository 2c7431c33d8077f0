//! Everyday programs beyond the basics: small viewers, other version control systems, and
//! the utilities of databases and systems.

use super::super::checks;
use super::super::spec::Operands::{None, PatternThenReads, Reads, Text};
use super::super::spec::{Danger, Spec};
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{
    Delete, Elevate, Exec, Irreversible, Network, Outside, Secret, Write,
};

const ANY: usize = usize::MAX;
const LOSES: &[avocet_core::protocol::Effect] = &[Delete, Irreversible];

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    // Only look.
    Spec::read("col colrm").flags("-b -f -p -x -h --no-backspaces --fine --pass --spaces --tabs").values("-l=text --lines=text").operands(Text).keeps(&["col -b", "colrm 4"]).raised(&["col --nobody"]),
    Spec::read("look").flags("-a -d -f --alternative --alphanum --ignore-case").values("-t=text --terminate=text").operands(PatternThenReads("")).keeps(&["look -f abc", "look x a.txt"]).raised(&["look --nobody x", "look x .env"]),
    Spec::read("hostid").keeps(&["hostid"]).raised(&["hostid x"]),
    Spec::read("pathchk").flags("-p -P --portability").operands(Text).keeps(&["pathchk -p a"]).raised(&["pathchk --nobody"]),
    Spec::read("uuidgen").flags("-r -t --random --time").operands(Text).keeps(&["uuidgen", "uuidgen -r"]).raised(&["uuidgen --nobody"]),
    Spec::read("namei").flags("-l -m -n -o -v -x --long --modes --nosymlinks --owners --vertical --mountpoints").operands(Reads(ANY)).keeps(&["namei -l src"]).raised(&["namei ~/.ssh/id_rsa"]),
    // A packed operand is handed to a shell to unpack, so only what comes in is read.
    Spec::read("diffstat").flags("-b -c -C -E -h -k -l -m -q -r -s -t -u -v -V -K -R -T -NUM").values("-f=text -n=text -N=text -p=text -w=text").operands(None)
        .dangers(&[Danger::ask("output", &["-o=|-e="], phrases::WRITES_A_FILE, &[Write])]).check(checks::output)
        .keeps(&["diffstat", "diffstat -p1"]).raised(&["diffstat -o x", "diffstat .env", "diffstat a.gz"]),
    Spec::read("ptx").flags("-A -f -r -T -O -t --auto-reference --ignore-case --references").values("-g=text -w=text -W=text --width=text --gap-size=text").posix().operands(Reads(1)).keeps(&["ptx -f a.txt"]).raised(&["ptx .env", "ptx -G a.txt out", "ptx -i .env a.txt"]),
    Spec::read("getopt").flags("*").operands(Text).keeps(&["getopt ab x"]),
    Spec::read("dircolors").flags("-b -c -p --bourne-shell --c-shell --print-database --sh --csh").keeps(&["dircolors -p"]).raised(&["dircolors x"]),
    Spec::read("lsmod lslocks").flags("-b -J -n -r -u --bytes --json --noheadings --raw").keeps(&["lsmod", "lslocks -J"]).raised(&["lsmod x"]),
    Spec::read("cowsay cowthink").flags("-b -d -g -n -p -s -t -w -y -l").values("-e=text -T=text -W=text").operands(Text)
        .dangers(&[Danger::ask("file", &["-f=|-C="], phrases::STARTS_PROGRAM, &[Exec])]).keeps(&["cowsay hi", "cowsay -d hi"]).raised(&["cowsay -f ./x.cow hi", "cowsay -bf ./x.cow hi", "cowsay -C ./x"]),
    Spec::read("figlet toilet").flags("-c -l -r -x -t -p -n -s -S -k -W -o -L -R -X").values("-w=text -m=text").operands(Text)
        .dangers(&[Danger::ask("file", &["-f=|-d=|-C=|--font=|--directory="], phrases::READS_ELSEWHERE, &[Outside])]).keeps(&["figlet hi"]).raised(&["figlet -f .env x", "toilet --font=.env x"]),
    Spec::read("lolcat").flags("-a -f -i -t --animate --force --invert --truecolor").operands(Reads(ANY)).keeps(&["lolcat a.txt"]).raised(&["lolcat .env"]),
    Spec::read("wdiff dwdiff").flags("-1 -2 -3 -i -n -s -c -d --no-deleted --no-inserted --no-common --ignore-case --avoid-wraps --statistics").values("-w=text -x=text -y=text -z=text").operands(Reads(2))
        .keeps(&["wdiff a.txt b.txt"]).raised(&["wdiff -t a.txt b.txt", "wdiff a.txt .env"]),

    // Read, and tell more or do more than they seem to.
    Spec::ask("locate plocate mdfind mdls lsappinfo airport getfacl getcap pinky lastb pmap pwdx procs dmidecode lshw sensors mpstat pidstat sar tload fastfetch duf dust ncdu broot dive", phrases::TELLS_MACHINE, &[Outside]).keeps(&["locate x", "mdfind x", "ncdu"]),
    Spec::ask("colordiff difft delta zmore xmllint xsltproc tidy htmlq pup mlr csvcut csvgrep csvsql csvstat csvlook qpdf pdfinfo ctags etags cscope gtags plantuml mermaid mmdc sox astyle", phrases::WRITES_FILES, &[Write]).keeps(&["ctags -R .", "mlr --icsv cat a.csv"]),
    Spec::ask("envsubst", phrases::PRINTS_ENVIRONMENT, &[Secret]).keeps(&["envsubst"]),
    Spec::ask("cheat zoxide sk fzy just", phrases::RUNS_PROJECT, &[Exec]).keeps(&["just build", "zoxide query x"]),
    Spec::ask("joe kak jmacs jed ne mg vis lapce pulsar", phrases::OPENS_PAGER, &[Exec, Write]).keeps(&["kak a.txt"]),
    Spec::ask("plutil otool lipo lldb-mi xattr xcode-select SetFile GetFileInfo", phrases::WRITES_FILES, &[Write]).keeps(&["plutil -p a.plist", "otool -L a.out"]),
    Spec::ask("ditto", phrases::WRITES_FILES, &[Write]).keeps(&["ditto a b"]),
    Spec::ask("updatedb sync logrotate rsyslogd", phrases::CHANGES_SYSTEM, &[Write]).keeps(&["sync"]),
    Spec::ask("ipcrm", phrases::CHANGES_SYSTEM, &[Delete]).keeps(&["ipcrm -m 1"]),

    // Other repositories.
    Spec::ask("hg svn bzr brz fossil jj p4 cvs darcs pijul sl", phrases::REPOSITORY, &[Write, Exec, Network]).keeps(&["hg status", "svn diff", "jj log"])
        .dangers(&[Danger::ask("config", &["--config=|--config-option="], phrases::STARTS_PROGRAM, &[Exec])]),
    Spec::ask("git-lfs gitk git-gui git-cola gitui git-secret git-annex git-absorb git-town git-cliff", phrases::REPOSITORY, &[Write, Exec, Network]).keeps(&["git-lfs ls-files"]),
    Spec::refuse("git-filter-repo git-filter-branch bfg", phrases::GIT_DISCARDS, LOSES).keeps(&["git-filter-repo --path x", "bfg --delete-files x"]),

    // Databases and backups.
    Spec::refuse("dropdb dropuser", phrases::DATABASE, LOSES).keeps(&["dropdb x"]),
    Spec::ask("pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport createdb createuser clickhouse-client clickhouse cqlsh influx etcdctl sqlcmd bcp isql usql pgcli mycli litecli iredis mongo neo4j cypher-shell", phrases::DATABASE, &[Secret, Network, Write]).check(checks::statements)
        .keeps(&["pg_dump x", "mongo x"]).raised(&["clickhouse-client -q 'DROP TABLE x'", "cqlsh -e 'TRUNCATE x'", "etcdctl del --prefix a"]),
    Spec::ask("pg_restore mongorestore mongoimport mysqlimport mysqladmin pg_ctl initdb", phrases::DATABASE, &[Write, Network]).check(checks::statements).keeps(&["pg_restore x"]).raised(&["mysqladmin drop x", "pg_restore --clean x"]),
    Spec::ask("restic borg borgmatic duplicity kopia tarsnap rdiff-backup", phrases::WRITES_FILES, &[Write, Network, Secret]).check(checks::destroys).keeps(&["restic backup x", "borg list"]).raised(&["borg delete x"]),

    // Certificates, secrets, scans.
    Spec::ask("certbot cfssl step acme.sh", phrases::CHANGES_SYSTEM, &[Write, Network, Secret, Elevate]).keeps(&["step x"]),
    Spec::ask("trivy grype syft snyk semgrep gitleaks trufflehog checkov crane oras cosign", phrases::USES_NETWORK, &[Network, Exec]).check(checks::destroys).keeps(&["trivy fs .", "crane ls x"]).raised(&["crane delete x"]),
];
