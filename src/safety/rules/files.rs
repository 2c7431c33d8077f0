//! Programs that show files and folders.

use super::super::checks;
use super::super::spec::Operands::{Lists, Named, PatternThenReads, Reads, Text};
use super::super::spec::{Danger, Spec};
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{Exec, Outside, Resource, Write};

const ANY: usize = usize::MAX;

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    Spec::read("pwd").flags("-L -P --logical --physical").keeps(&["pwd", "pwd -P"]).raised(&["pwd x"]),
    Spec::read("ls dir vdir")
        .flags("-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z -1 \
                --all --almost-all --author --escape --ignore-backups --directory --dired --file-type --full-time --no-group \
                --human-readable --si --dereference-command-line --dereference --inode --kibibytes --numeric-uid-gid --literal \
                --hide-control-chars --show-control-chars --quote-name --reverse --recursive --size --context --zero \
                --group-directories-first --dereference-command-line-symlink-to-dir -@ -e -O -T -W")
        .values("--block-size=text --color=?text --classify=?text --format=text --hide=text --hyperlink=?text --indicator-style=text \
                 -I=path --ignore=text --quoting-style=text --sort=text --time=text --time-style=text --tabsize=text -w=path --width=text")
        .operands(Lists)
        .check(checks::ls)
        .keeps(&["ls", "ls -la src", "ls --color=never -1 src docs", "ls --hyperlink=always", "ls -w 80", "ls -- -x", "ls /", "ls ..", "ls -la /tmp", "ls /usr/bin"])
        .raised(&["ls ~", "ls ../other", "ls /tmp/x", "ls -R ..", "ls -lR /tmp", "ls --colo=never", "ls --nobody", "ls ~/.ssh", "ls -la link_ssh/", "ls -w ~/.ssh", "ls -I ~/.ssh", "ls -LR", "ls -R --dereference src"]),
    Spec::read("cat")
        .flags("-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting")
        .operands(Reads(ANY))
        .keeps(&["cat src/main.rs", "cat -n README.md a.txt", "cat .env.example", "cat -- -n", "cat -"])
        .raised(&["cat .env", "cat server.pem", "cat /etc/passwd", "cat /proc/self/environ", "cat ~/.netrc", "cat link_key",
                  "cat notes_link.txt", "cat $HOME/.ssh/id_rsa", "cat ../x", "cat --nobody a", "cat .git/config", "cat src/../.env"]),
    Spec::read("head")
        .flags("-q -v -z --quiet --silent --verbose --zero-terminated -NUM")
        .values("-n=text --lines=text -c=text --bytes=text")
        .operands(Reads(ANY))
        .keeps(&["head -n 20 README.md", "head -20 README.md", "head -c100 a.txt", "head --lines=5 a.txt"])
        .raised(&["head .env", "head --line=5 a.txt", "head -n 5 /etc/shadow"]),
    Spec::read("tail")
        .flags("-q -v -z -r --quiet --silent --verbose --zero-terminated -NUM")
        .values("-n=text --lines=text -c=text --bytes=text")
        .operands(Reads(ANY))
        .dangers(&[Danger::ask("follow", &["-f|-F|--follow|--retry|--pid=|-s=|--sleep-interval="], phrases::NEVER_ENDS, &[Resource])])
        .keeps(&["tail -n 20 README.md", "tail -5 a.txt", "tail -n +5 a.txt", "tail -n5 a.txt"])
        .raised(&["tail -f a.txt", "tail --follow=name a.txt", "tail --fol a.txt", "tail -nF .env", "tail -20f a.txt"]),
    Spec::read("wc")
        .flags("-c -m -l -L -w --bytes --chars --lines --max-line-length --words")
        .values("--total=text")
        .operands(Reads(ANY))
        .keeps(&["wc -l src/main.rs", "wc -lw a.txt b.txt"])
        .raised(&["wc --files0-from=x", "wc -l .env", "wc --files0=x"]),
    Spec::read("nl")
        .flags("-p --no-renumber")
        .values("-b=text --body-numbering=text -d=text -f=text -h=text -i=text -l=text -n=text -s=text -v=text -w=text \
                 --section-delimiter=text --footer-numbering=text --header-numbering=text --line-increment=text --join-blank-lines=text \
                 --number-format=text --number-separator=text --starting-line-number=text --number-width=text")
        .operands(Reads(ANY)).keeps(&["nl -ba a.txt"]).raised(&["nl .env"]),
    Spec::read("tac").flags("-b -r --before --regex").values("-s=text --separator=text").operands(Reads(ANY)).keeps(&["tac a.txt"]).raised(&["tac .env"]),
    Spec::read("rev").operands(Reads(ANY)).keeps(&["rev a.txt"]).raised(&["rev .env"]),
    Spec::read("od")
        .flags("-a -b -c -d -f -i -l -o -s -v -x --traditional --output-duplicates")
        .values("-A=text --address-radix=text --endian=text -j=text --skip-bytes=text -N=text --read-bytes=text -S=text --strings=?text \
                 -t=text --format=text -w=?text --width=?text")
        .operands(Reads(ANY)).keeps(&["od -c a.bin", "od -A x -t x1z a.bin"]).raised(&["od -c /dev/sda", "od .env"]),
    Spec::read("hexdump hd")
        .flags("-b -c -C -d -o -v -x --one-byte-octal --one-byte-char --canonical --two-bytes-decimal --two-bytes-octal --two-bytes-hex --no-squeezing")
        .values("-e=text --format=text -n=text --length=text -s=text --skip=text -L=?text --color=?text")
        .operands(Reads(ANY)).keeps(&["hexdump -C a.bin", "hexdump -C -n 64 a.bin"]).raised(&["hexdump -f x a.bin", "hexdump .env"]),
    Spec::read("xxd")
        .flags("-a -b -C -e -E -i -p -ps -plain -postscript -u -U -autoskip -bits -capitalize -ebcdic -include")
        .values("-c=text -cols=text -g=text -groupsize=text -l=text -len=text -n=text -name=text -o=text -s=text -seek=text -R=text")
        // The first operand ends its options; the next is a file it writes.
        .posix().operands(Reads(1))
        .dangers(&[Danger::ask("revert", &["-r|-revert"], phrases::WRITES_A_FILE, &[Write])])
        .keeps(&["xxd a.bin", "xxd -l 64 -c 8 a.bin"]).raised(&["xxd a.bin out", "xxd a.bin -p", "xxd - -ps", "xxd -r a.txt", "xxd .env"]),
    Spec::read("strings").argument_files()
        .flags("-a -f -o -w --all --print-file-name --include-all-whitespace -NUM")
        .values("-n=text --bytes=text -t=text --radix=text -e=text --encoding=text -s=text --output-separator=text -U=text --unicode=text")
        .operands(Reads(ANY)).keeps(&["strings a.bin", "strings -n 8 a.bin"]).raised(&["strings -T x a.bin", "strings /proc/1/environ", "strings @list", "strings -n @list a.bin", "strings -- @list"]),
    Spec::read("stat")
        .flags("-L -f -t -x -s -l -n -q -r -F --dereference --file-system --terse")
        .values("-c=text --format=text --printf=text --cached=text")
        .operands(Lists).keeps(&["stat README.md", "stat -c %s a.txt", "stat /usr/bin"]).raised(&["stat /etc/shadow", "stat ~/.ssh", "stat ~/x"]),
    Spec::read("file")
        .flags("-b -d -E -h -i -I -k -l -L -n -N -r -s -v -0 --brief --mime --mime-type --mime-encoding --keep-going --no-buffer --no-dereference \
                --dereference --no-pad --raw --print0 --extension --version --list --apple")
        .values("-e=text --exclude=text --exclude-quiet=text -F=text --separator=text -P=text --parameter=text")
        .operands(Reads(ANY))
        .dangers(&[
            Danger::ask("compile", &["-C|--compile"], phrases::WRITES_A_FILE, &[Write]),
            Danger::ask("magic", &["-m=|--magic-file=|-f=|--files-from=|-z|--uncompress|-Z|--uncompress-noreport|-S|--no-sandbox"], phrases::READS_ELSEWHERE, &[Outside]),
        ])
        .keeps(&["file a.bin", "file -b --mime-type a.bin"]).raised(&["file -C -m x", "file -z a.bin", "file -f list", "file /etc/shadow"]),
    Spec::read("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum")
        .flags("-b -t -z --binary --text --tag --zero --untagged --raw --base64 --debug -r -s --sysv")
        .values("-l=text --length=text -a=text --algorithm=text")
        .operands(Reads(ANY))
        .dangers(&[Danger::ask("check", &["-c|--check"], phrases::READS_ELSEWHERE, &[Outside])])
        .keeps(&["sha256sum a.txt", "md5sum -b a.txt b.txt"]).raised(&["sha256sum -c sums.txt", "md5sum .env", "sha256sum --chec x"]),
    Spec::read("cmp")
        .flags("-b -l -s --print-bytes --verbose --quiet --silent")
        .values("-i=text --ignore-initial=text -n=text --bytes=text")
        .operands(Reads(4)).keeps(&["cmp a.txt b.txt", "cmp -s a.txt b.txt"]).raised(&["cmp a.txt /etc/shadow"]),
    Spec::read("diff")
        .flags("-a -b -B -c -d -e -E -i -n -N -p -P -q -r -s -t -T -u -w -y -Z --text --ignore-space-change --ignore-blank-lines --minimal \
                --ed --ignore-tab-expansion --ignore-case --rcs --new-file --show-c-function --unidirectional-new-file --brief --recursive \
                --report-identical-files --expand-tabs --initial-tab --unified --context --ignore-all-space --side-by-side \
                --ignore-trailing-space --normal --left-column --suppress-common-lines --suppress-blank-empty --strip-trailing-cr \
                --speed-large-files --no-dereference --no-ignore-file-name-case --ignore-file-name-case -NUM")
        .values("-C=text -U=text -W=text -I=sure -F=sure -L=text -D=text -x=sure --context=?text --unified=?text --width=text --label=text \
                 --ignore-matching-lines=sure --show-function-line=sure --exclude=sure --color=?text --palette=text --tabsize=text \
                 --horizon-lines=text --ifdef=text -S=text --starting-file=text -X=path --exclude-from=path --from-file=path --to-file=path")
        .operands(Reads(2))
        .check(checks::diff)
        .dangers(&[Danger::ask("paginate", &["-l|--paginate"], phrases::STARTS_PROGRAM, &[])])
        .keeps(&["diff -u a.txt b.txt", "diff -ru src src2", "diff -N src src2", "diff -x .env -r src src2", "diff --color=never -U3 a.txt b.txt"])
        .raised(&["diff -l a.txt b.txt", "diff a.txt /etc/shadow", "diff --from-file=.env a.txt", "diff --pag a b", "diff a.txt link_key", "diff -r .git src"]),
    Spec::read("sdiff").starts(&["diff"])
        .flags("-a -b -B -d -E -i -l -s -t -W -Z --text --ignore-case --ignore-all-space --ignore-blank-lines --ignore-space-change --left-column --minimal --expand-tabs --suppress-common-lines --strip-trailing-cr")
        .values("-w=text --width=text --tabsize=text").operands(Reads(2)).keeps(&["sdiff -s a.txt b.txt", "sdiff -w 100 a.txt b.txt"])
        .raised(&["sdiff -o x a.txt b.txt", "sdiff --output=x a.txt b.txt", "sdiff --diff-program=x a.txt b.txt", "sdiff a.txt .env", "sdiff --out=x a.txt b.txt"]),
    Spec::read("diff3")
        .flags("-a -A -e -E -i -m -T -x -X -3 --text --show-all --ed --show-overlap --merge --initial-tab --overlap-only --easy-only --strip-trailing-cr")
        .values("-L=text --label=text").operands(Reads(3)).keeps(&["diff3 a.txt b.txt README.md"]).raised(&["diff3 --diff-program=x a b c"]),
    Spec::read("comm")
        .flags("-1 -2 -3 -i -z --check-order --nocheck-order --total --zero-terminated").values("--output-delimiter=text")
        .operands(Reads(2)).keeps(&["comm -12 a.txt b.txt"]).raised(&["comm a.txt .env"]),
    Spec::read("tree")
        .flags("-a -c -C -d -D -f -F -g -h -i -J -n -N -p -q -Q -r -s -S -t -u -U -v -x -X -A --dirsfirst --filesfirst --noreport --prune --du \
                --device --inodes --si --gitignore --matchdirs --ignore-case --metafirst --nolinks --fflinks")
        .values("-L=text -I=sure -P=sure --filelimit=text --sort=text --timefmt=text --charset=text -H=text -T=text --gitfile=path --infofile=path --hintro=path --houtro=path")
        .own_clusters().operands(Reads(ANY))
        .dangers(&[
            Danger::ask("output", &["-o=|-R|--output="], phrases::WRITES_A_FILE, &[Write]),
            Danger::ask("follow", &["-l"], phrases::FOLLOWS_LINKS, &[Outside]),
        ])
        .keeps(&["tree -L 2", "tree -L2", "tree -aL 2 src", "tree -a src", "tree -I target --dirsfirst"]).raised(&["tree -o x", "tree -ao X", "tree -Lao 1 README.md src", "tree -Lo 1 x", "tree -L1o x", "tree -Io target x", "tree -Po x y", "tree -HLo . 1 x", "tree -To a x", "tree -LR 1", "tree -L1l", "tree -aL", "tree -R -H . -L 1", "tree /", "tree -l", "tree --hintro -- -o x", "tree --houtro=.env src"]),
    Spec::read("du")
        .flags("-0 -a -b -c -h -H -k -l -m -P -s -S -x --null --all --apparent-size --bytes --total --human-readable --si --inodes --count-links \
                --no-dereference --separate-dirs --summarize --one-file-system --time")
        .values("-B=text --block-size=text -d=text --max-depth=text -t=text --threshold=text --exclude=sure --time=?text --time-style=text -X=path --exclude-from=path")
        .operands(Reads(ANY)).keeps(&["du -sh .", "du -h -d 1 src", "du -sk ."]).raised(&["du -sh /", "du -L .", "du --files0-from=x"]),
    Spec::read("df")
        .flags("-a -h -H -i -k -l -P -T --all --human-readable --si --inodes --local --portability --print-type --total")
        .values("-B=text --block-size=text -t=text --type=text -x=text --exclude-type=text --output=?text")
        .operands(Text).keeps(&["df", "df -h", "df -h .", "df -h /home"]).raised(&["df --sync"]),
    Spec::read("realpath")
        .flags("-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero")
        .values("--relative-to=path --relative-base=path").operands(Reads(ANY)).keeps(&["realpath src"]).raised(&["realpath /root/x"]),
    Spec::read("readlink")
        .flags("-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero")
        .operands(Reads(ANY)).keeps(&["readlink -f src"]).raised(&["readlink /proc/self/exe"]),
    Spec::read("basename").flags("-a -z --multiple --zero").values("-s=text --suffix=text").operands(Text).keeps(&["basename src/main.rs .rs"]),
    Spec::read("dirname").flags("-z --zero").operands(Text).keeps(&["dirname src/main.rs"]),
    Spec::read("which").flags("-a -s").operands(Text).keeps(&["which git", "which -a git"]).raised(&["which --read-alias git"]),
    Spec::read("whereis").flags("-b -m -s -u").operands(Text).keeps(&["whereis git"]).raised(&["whereis -B /x -f git"]),
    Spec::read("test [").flags("*").operands(Named).keeps(&["test -f a.txt", "[ -d src ]", "test 1 -eq 1", "test -d /usr/bin", "[ -d /usr/bin ]"]).raised(&["test -f ~/.ssh/id_rsa", "test -f ~/x", "[ -e /h/other/x ]", "[ -e /etc/shadow ]"]),
    Spec::read("find").by_language().flags("*").operands(Text).check(checks::find)
        .keeps(&["find . -name *.rs -type f", "find", "find src -maxdepth 2 -not -name x -print0", "find . ( -name a -o -name b ) -prune",
                 "find . -mtime -1 -printf %p", "find . -newer a.txt", "find . -newermt 2024-01-01", "find . -size +1M -ls",
                 "find . -name *.rs -exec wc -l {} +", "find src -type f -exec grep -l foo {} ;", "find . -exec sed -n 1p {} ;", "find . -exec ls -la {} ;", "find . -exec awk '{print}' {} +"])
        .raised(&["find . -delete", "find . -exec rm {} ;", "find . -exec uniq {} +", "find . -exec uniq {} {} ;", "find . -exec sed {} a.txt ;", "find . -exec awk {} a.txt ;", "find . -exec jq {} a.json ;", "find . -exec sort -o {} a.txt ;",
                  "find . ! -exec cat {} ;", "find . -not -exec cat {} ;", "find . -exec cat x{} ;", "find . -exec {} ;", "find . -exec sh -c 'cat {}' ;", "find . -exec strings {} ;", "find . -exec git log {} ;", "find . -exec wc -l {} + -exec rm {} ;", "find / -exec cat {} ;", "find . -exec cat {}", "find . -L -exec cat {} ;", "find -L . -exec cat {} ;", "find . -exec cat .env ;", "find . -execdir ls {} +", "find . -ok ls ;", "find . -fprint x", "find . -fls x",
                  "find . -fprintf x %p", "find . -fprint0 x", "find / -name x", "find -L . -name x", "find . -follow", "find . -nobody",
                  "find . -files0-from x", "find . -newer .env", "find ~/.ssh", "find . -name x -o -delete", "find link_ssh/ -name x"]),
    Spec::read("fd fdfind")
        .flags("-H -I -u -s -i -g -F -a -p -0 -1 -q -V -h --hidden --no-ignore --unrestricted --no-ignore-vcs --no-ignore-parent \
                --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 --quiet \
                --show-errors --one-file-system --prune --no-require-git --hyperlink --strip-cwd-prefix --no-global-ignore-file")
        .values("-d=text --max-depth=text --min-depth=text --exact-depth=text -t=text --type=text -e=sure --extension=sure -E=sure --exclude=sure \
                 -S=text --size=text --changed-within=text --changed-before=text -o=text --owner=text -c=text --color=text -j=text --threads=text \
                 --max-results=text --and=text --format=text --path-separator=text --search-path=path -C=path --base-directory=path --ignore-file=path")
        .operands(PatternThenReads(""))
        .dangers(&[
            Danger::ask("exec", &["-x|--exec|-X|--exec-batch|-l|--list-details"], phrases::STARTS_PROGRAM, &[Exec]),
            Danger::ask("follow", &["-L|--follow"], phrases::FOLLOWS_LINKS, &[Outside]),
        ])
        .check(super::super::wrappers::fd_exec)
        .keeps(&["fd main", "fd -t f -d 3 . src", "fd -e rs", "fd -H -I x", "fd -x ls", "fd --exec ls", "fd -e rs -X wc -l"])
        .raised(&["fd -Hx ./evil.sh", "fd --exec=ls", "fd -X rm", "fd . /", "fd -L x", "fd --exe ls", "fd . ~/.ssh"]),
    Spec::read("lsd").flags("-a -A -l -1 -R -r -d -h -S -t -X -v --all --almost-all --long --tree --oneline --recursive --reverse --git --header --directory-only --classify")
        .values("--depth=text --sort=text --color=text --icon=text --group-dirs=text --date=text --blocks=text -I=path --ignore-glob=text").operands(Reads(ANY)).keeps(&["lsd -la src"]).raised(&["lsd /", "lsd -L ~/.ssh", "lsd --config-file x"]),
    Spec::read("eza exa").flags("-a -l -1 -R -T -r -d -h --all --long --tree --oneline --reverse --git --header --icons --group-directories-first")
        .values("-L=path --level=text -s=path --sort=text --color=text -I=path --ignore-glob=text").operands(Reads(ANY)).keeps(&["eza -la src", "eza -T -L 2"]).raised(&["eza /", "exa -L ~/.ssh"]),
    Spec::ask("tokei cloc scc", phrases::RUNS_PROJECT_SETTINGS, &[Write]).keeps(&["cloc --out=x ."]),
];
